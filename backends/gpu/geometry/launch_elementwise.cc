// SPDX-License-Identifier: Apache-2.0
// Queues elementwise launches. Uses the entry `row` if the operands have the loop's dtypes and the
// rows are long, and the entry `nd` otherwise.
#include "backends/gpu/geometry/block_writer.h"
#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_parts.h"
#include "backends/gpu/geometry/launch_row.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

using NdWriter = BlockWriter<dev::items_head, sizeof(dev::nd_block<kMaxOperands>) + 8>;

// The operands of a launch in the representation that the entries require.
struct LoopOperands {
  uint32_t bytes[kMaxOperands];  // element sizes of the loop's dtypes
  uint32_t form[kMaxOperands];   // set only if `forms` is true or `immediates` is not 0
  uint32_t immediates;           // bit mask of immediate operands
  bool forms;                    // some operand needs a conversion or is not aligned
};

guf_status queue_nd_part(const LaunchShape &shape, const LoopOperands &operands,
                         const LaunchStatus &status, CommandSink &commands, guf_error *error) {
  NdWriter writer;
  dev::items_head &head = writer.head();
  write_items(shape, &head);
  head.status = status.address;
  head.fp_flags = status.fp_flags;
  head.options = operands.forms ? uint32_t{dev::kForms} : 0U;
  write_strides(shape, &writer);
  if (operands.forms) {
    writer.add(operands.form, shape.count);
  } else {
    writer.skip(static_cast<size_t>(shape.count) * sizeof(uint32_t));
  }
  const auto elements = static_cast<uint64_t>(dev::nd_elements(shape.count));
  const uint32_t blocks = ceil_div(shape.items, elements * dev::kThreads);
  const uint32_t bytes = writer.size();
  return commands.run({Entry::kNd, blocks, dev::kThreads, 0, writer.data(), bytes}, error);
}

// Determines the forms of the operands and replaces the addresses of immediate operands.
guf_status take_operands(const guf_launch_block &block, LaunchShape *shape, LoopOperands *out,
                         CommandSink &commands, guf_error *error) {
  constexpr uint32_t kStored = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;
  out->immediates = 0;
  out->forms = false;
  bool odd = false;
  for (int i = 0; i < block.noperands; ++i) {
    out->bytes[i] = dtype_size(block.loop_dtype[i]);
    const uint32_t flags = block.operand_flags[i];
    if (__builtin_expect((flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0, 0)) {
      GUF_BACKEND_TRY(place_immediate(block, i, false, &shape->address[i], commands, error));
      if (out->bytes[i] <= 8) out->immediates |= 1U << i;
    } else {
      odd = odd || block.dtype[i] != block.loop_dtype[i] || (flags & kStored) != 0;
    }
  }
  if (!odd && out->immediates == 0) return GUF_OK;
  for (int i = 0; i < block.noperands; ++i) {
    const bool given = (block.operand_flags[i] & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0;
    const uint32_t own = form_of(block.loop_dtype[i], 0);
    out->form[i] = given ? own : form_of(block.dtype[i], block.operand_flags[i]);
    out->forms = out->forms || out->form[i] != own;
    if ((out->immediates >> i & 1U) != 0) out->form[i] |= dev::kFormImmediate;
  }
  return GUF_OK;
}

}  // namespace

guf_status queue_elementwise(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error) {
  LaunchShape shape;
  LoopOperands operands;
  init_shape(block, &shape);
  GUF_BACKEND_TRY(take_operands(block, &shape, &operands, commands, error));
  const bool plain = !operands.forms && shape.mask == 0 && status.fp_flags == 0;
  if (plain && row_supports(shape) && commands.has(Entry::kRow) &&
      (prefers_row(shape) || !commands.has(Entry::kNd))) {
    const RowLoop loop = {Entry::kRow,         block.nin,      commands.traits().vectors,
                          operands.immediates, operands.bytes, status.address};
    return queue_row(shape, loop, commands, error);
  }
  if (!commands.has(Entry::kNd)) return fail_no_entry(error, "nd");
  operands.forms = operands.forms || operands.immediates != 0;
  return for_each_part(shape, kMaxItems, [&](const LaunchShape &part) {
    return queue_nd_part(part, operands, status, commands, error);
  });
}

}  // namespace gufunc::gpu
