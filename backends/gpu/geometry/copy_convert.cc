// SPDX-License-Identifier: Apache-2.0
// Elements whose bytes do not change are copied. Other elements are converted by the convert entry.
#include "backends/gpu/geometry/copy_commands.h"

#include "backends/gpu/geometry/block_writer.h"
#include "backends/gpu/geometry/copy_fill.h"
#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

constexpr uint32_t kLayout = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;
constexpr uint32_t kCopyItems =
    uint32_t{dev::kThreads} * uint32_t{dev::kCopyElements};  // items per block

// The parameters of the convert entry, except for the dimensions.
struct Conversion {
  uint32_t form[2];
  ElementCast cast = {};
};

guf_status queue_conversion_part(const LaunchShape &shape, const Conversion &conversion,
                                 CommandSink &commands, guf_error *error) {
  dev::convert_block block;
  write_items(shape, &block);
  block.status = 0;
  block.fp_flags = 0;
  block.options = 0;
  for (int i = 0; i < 2; ++i) {
    block.address[i] = shape.address[i];
    block.form[i] = conversion.form[i];
    for (int d = 0; d < shape.ndim; ++d) block.stride[d][i] = shape.step[d][i];
  }
  block.kind = conversion.cast.kind;
  block.reserved = 0;
  block.units = conversion.cast.units;
  return commands.run(
      {Entry::kConvert, ceil_div(shape.items, kCopyItems), dev::kThreads, 0, &block, sizeof block},
      error);
}

// Queues a conversion. Dimensions that the entry does not support are iterated over on the host.
guf_status queue_conversion(const LaunchShape &shape, const Conversion &conversion,
                            CommandSink &commands, guf_error *error) {
  const auto queue = [&](const LaunchShape &part) {
    return queue_conversion_part(part, conversion, commands, error);
  };
  return for_each_part(shape, items_within(shape, dev::kDims, kMaxItems), queue);
}

// Converts a scalar in host memory and writes the result to every element.
guf_status queue_scalar(LaunchShape *shape, const CopySide &from, const CopySide &to,
                        const ElementCast &cast, CommandSink &commands, guf_error *error) {
  const auto *const host = reinterpret_cast<const void *>(shape->address[0]);
  unsigned char bytes[16];
  const uint32_t size = dtype_size(to.dtype);
  dev::raw_element raw = cast_on_host(host, from.dtype, from.flags, to.dtype, cast);
  const uint32_t native = form_of(to.dtype, 0);
  raw = dev::recast(native, form_of(to.dtype, to.flags & GUF_LAUNCH_OPERAND_SWAPPED), raw);
  static_assert(sizeof raw == sizeof bytes);
  __builtin_memcpy(bytes, &raw, sizeof bytes);
  const bool packed =
      shape->ndim == 0 || (shape->ndim == 1 && shape->step[0][1] == static_cast<int64_t>(size));
  if (packed) return queue_fill(shape->address[1], bytes, size, shape->items, commands, error);
  GUF_BACKEND_TRY(commands.upload(bytes, sizeof bytes, &shape->address[0], error));
  return queue_copy(shape, size, commands, error);
}

}  // namespace

guf_status queue_copy(LaunchShape *shape, const CopySide &from, const CopySide &to,
                      CommandSink &commands, guf_error *error) {
  Conversion conversion;
  if (!choose_cast(from.dtype, to.dtype, &conversion.cast)) {
    return fail_no_cast(error, 0, from.dtype, to.dtype);
  }
  if (shape->items == 0) return GUF_OK;
  sort_by_operand(shape, 1);
  if (is_structured(from.dtype)) {
    if (((from.flags | to.flags) & GUF_LAUNCH_OPERAND_SWAPPED) != 0) {
      return fail_no_cast(error, 0, from.dtype, to.dtype);
    }
    const uint32_t bytes = dtype_size(from.dtype);
    if ((from.flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0) {
      const auto *const host = reinterpret_cast<const void *>(shape->address[0]);
      GUF_BACKEND_TRY(commands.upload(host, bytes, &shape->address[0], error));
    }
    return queue_copy(shape, bytes, commands, error);
  }
  if ((from.flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0 && shape->mask == 0) {
    return queue_scalar(shape, from, to, conversion.cast, commands, error);
  }
  conversion.form[0] = form_of(from.dtype, from.flags);
  conversion.form[1] = form_of(to.dtype, to.flags);
  const bool swap_bytes = ((conversion.form[0] ^ conversion.form[1]) & dev::kFormSwapped) != 0;
  if (conversion.cast.same && !swap_bytes && shape->mask == 0) {
    return queue_copy(shape, dtype_size(to.dtype), commands, error);
  }
  return queue_conversion(*shape, conversion, commands, error);
}

guf_status queue_convert(const guf_launch_block &block, CommandSink &commands, guf_error *error) {
  LaunchShape shape;
  init_shape(block, &shape);
  return queue_copy(&shape, {block.dtype[0], block.operand_flags[0]},
                    {block.dtype[1], block.operand_flags[1] & kLayout}, commands, error);
}

}  // namespace gufunc::gpu
