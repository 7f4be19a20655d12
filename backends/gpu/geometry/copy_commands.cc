// SPDX-License-Identifier: Apache-2.0
// Elements whose bytes do not change are copied: as rows of words, as tiles if source and
// destination have different layouts, or as the words of structured elements. Other elements are
// converted by the convert entry.
//
// A fill whose pattern has a size that divides 16 stores words of 16 bytes. Other patterns are
// copied to each element.
#include "backends/gpu/geometry/copy_commands.h"

#include <algorithm>
#include <cstring>

#include "backends/gpu/geometry/block_writer.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_row.h"

namespace gufunc::gpu {
namespace {

namespace dev = guf::device;

Entry sized(Entry first, uint32_t word) {
  return static_cast<Entry>(static_cast<int>(first) + __builtin_ctz(word));
}

// Returns the size of the widest word that divides the element size, all addresses and all steps.
// A word of 16 bytes requires only 8-byte alignment, because it is copied in two halves.
uint32_t word_of_copy(const LaunchShape &shape, uint32_t bytes) {
  uint64_t bits = 8;
  for (int i = 0; i < 2; ++i) {
    bits |= shape.address[i];
    for (int d = 0; d < shape.ndim; ++d) bits |= static_cast<uint64_t>(shape.step[d][i]);
  }
  const uint32_t whole = bytes & (~bytes + 1);
  const auto aligned = static_cast<uint32_t>(bits & (~bits + 1));
  return aligned == 8 && whole >= 16 ? 16 : std::min(whole, aligned);
}

// Returns the dimension along which the source is contiguous,
// if the destination is contiguous along dimension 0. Returns 0 if tiles are not worthwhile.
int tile_dimension(const LaunchShape &shape, uint32_t word) {
  constexpr int64_t kLeast = 8;
  const uint64_t near = word;
  if (shape.ndim < 2 || shape.ndim > 2 + static_cast<int>(dev::kTileOuter)) return 0;
  const uint64_t across = abs_step(shape.step[0][0]);
  if (shape.size[0] < kLeast || across <= near || abs_step(shape.step[0][1]) != near) return 0;
  for (int d = 1; d < shape.ndim; ++d) {
    if (abs_step(shape.step[d][0]) == near && shape.size[d] >= kLeast) return d;
  }
  return 0;
}

guf_status queue_tile(const LaunchShape &shape, int y, uint32_t word, CommandSink &commands,
                      guf_error *error) {
  constexpr uint32_t kTile = dev::kTile;
  dev::tile_block block;
  block.from = shape.address[0];
  block.to = shape.address[1];
  block.size_x = static_cast<uint32_t>(shape.size[0]);
  block.size_y = static_cast<uint32_t>(shape.size[y]);
  const uint32_t tiles_x = ceil_div(block.size_x, kTile);
  const uint32_t tiles_y = ceil_div(block.size_y, kTile);
  block.tiles_x = divisor_of(tiles_x);
  block.tiles_y = divisor_of(tiles_y);
  block.from_x = shape.step[0][0];
  block.to_x = shape.step[0][1];
  block.from_y = shape.step[y][0];
  block.to_y = shape.step[y][1];
  block.nouter = 0;
  block.reserved = 0;
  uint32_t blocks = tiles_x * tiles_y;
  for (int d = 1; d < shape.ndim; ++d) {
    if (d == y) continue;
    block.dim[block.nouter] = divisor_of(static_cast<uint32_t>(shape.size[d]));
    block.from_outer[block.nouter] = shape.step[d][0];
    block.to_outer[block.nouter++] = shape.step[d][1];
    blocks *= static_cast<uint32_t>(shape.size[d]);
  }
  const uint32_t shared = kTile * (kTile + 1) * word;
  return commands.run(
      {sized(Entry::kTile1, word), blocks, dev::kThreads, shared, &block, sizeof block}, error);
}

// Queues a copy of elements that consist of `words` words of `word` bytes.
guf_status queue_words(const LaunchShape &shape, uint32_t word, uint32_t words,
                       CommandSink &commands, guf_error *error) {
  dev::bytes_block block;
  write_items(shape, &block);
  block.status = 0;
  block.fp_flags = 0;
  block.options = static_cast<uint32_t>(__builtin_ctz(word));
  block.words = divisor_of(words);
  block.reserved = 0;
  for (int i = 0; i < 2; ++i) {
    block.address[i] = shape.address[i];
    block.form[i] = 0;
    for (int d = 0; d < shape.ndim; ++d) block.stride[d][i] = shape.step[d][i];
  }
  constexpr uint64_t kBlockWords = uint64_t{dev::kThreads} * uint64_t{dev::kCopyElements};
  const uint32_t blocks = ceil_div(shape.items * words, kBlockWords);
  return commands.run({Entry::kBytes, blocks, dev::kThreads, 0, &block, sizeof block}, error);
}

guf_status queue_elements(const LaunchShape &shape, uint32_t word, CommandSink &commands,
                          guf_error *error) {
  const uint32_t bytes[2] = {word, word};
  const RowLoop loop = {sized(Entry::kCopy1, word), 1, commands.traits().vectors, 0, bytes, 0};
  return queue_row(shape, loop, commands, error);
}

// Returns the shape with the words of an element as its innermost dimension.
LaunchShape shape_of_words(const LaunchShape &shape, uint32_t word, uint32_t words) {
  LaunchShape all;
  all.count = 2;
  all.ndim = 0;
  all.mask = 0;
  all.items = shape.items * words;
  std::copy_n(shape.address, 2, all.address);
  const int64_t step[2] = {word, word};
  add_dimension(&all, words, step, 0);
  for (int d = 0; d < shape.ndim; ++d) add_dimension(&all, shape.size[d], shape.step[d], 0);
  return all;
}

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

guf_status queue_words_of_pattern(uint64_t dst, const unsigned char *pattern,
                                  uint32_t pattern_bytes, uint64_t bytes, CommandSink &commands,
                                  guf_error *error) {
  constexpr uint64_t kBlockBytes = uint64_t{dev::kThreads} * dev::kCopyElements * 16;
  unsigned char word[16];
  for (uint64_t k = 0; k < sizeof word; ++k) word[k] = pattern[(k - dst) % pattern_bytes];
  for (const uint64_t end = dst + bytes; dst < end;) {
    const uint64_t start = dst & ~uint64_t{15};
    const uint64_t here = std::min(end - start, kMaxBlocks * kBlockBytes);
    dev::fill_block block;
    block.address = dst;
    block.bytes = start + here - dst;
    std::memcpy(block.pattern, word, sizeof word);
    const uint32_t blocks = static_cast<uint32_t>((here + kBlockBytes - 1) / kBlockBytes);
    GUF_BACKEND_TRY(
        commands.run({Entry::kFill, blocks, dev::kThreads, 0, &block, sizeof block}, error));
    dst = start + here;
  }
  return GUF_OK;
}

}  // namespace

uint64_t items_within(const LaunchShape &shape, int dims, uint64_t limit) {
  uint64_t items = 1;
  for (int d = 0; d < shape.ndim && d < dims; ++d) items *= static_cast<uint64_t>(shape.size[d]);
  return shape.ndim <= dims ? limit : std::min(items, limit);
}

guf_status queue_copy(LaunchShape *shape, uint32_t bytes, CommandSink &commands, guf_error *error) {
  const uint32_t word = word_of_copy(*shape, bytes);
  const uint32_t words = bytes / word;
  if (words == 1) {
    const int y = tile_dimension(*shape, word);
    if (y != 0) {
      return for_each_part(*shape, kMaxItems / 2, [&](const LaunchShape &part) {
        return part.ndim == shape->ndim ? queue_tile(part, y, word, commands, error)
                                        : queue_elements(part, word, commands, error);
      });
    }
    if (prefers_row(*shape)) return queue_elements(*shape, word, commands, error);
  } else if (shape->ndim < kShapeDims) {
    const LaunchShape all = shape_of_words(*shape, word, words);
    if (prefers_row(all)) return queue_elements(all, word, commands, error);
  }
  const uint32_t narrow = std::min(word, 8U);  // the widest word that the entry `bytes` supports
  const uint32_t narrow_words = bytes / narrow;
  const uint64_t limit = items_within(*shape, dev::kDims, kMaxItems / narrow_words);
  return for_each_part(*shape, limit, [&](const LaunchShape &part) {
    return queue_words(part, narrow, narrow_words, commands, error);
  });
}

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

guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      CommandSink &commands, guf_error *error) {
  if (count == 0 || pattern_bytes == 0) return GUF_OK;
  if (16 % pattern_bytes == 0) {
    return queue_words_of_pattern(dst, static_cast<const unsigned char *>(pattern), pattern_bytes,
                                  count * pattern_bytes, commands, error);
  }
  LaunchShape shape;
  shape.count = 2;
  shape.ndim = 0;
  shape.mask = 0;
  shape.items = count;
  shape.address[1] = dst;
  GUF_BACKEND_TRY(commands.upload(pattern, pattern_bytes, &shape.address[0], error));
  const int64_t step[2] = {0, pattern_bytes};
  add_dimension(&shape, static_cast<int64_t>(count), step, 0);
  return queue_copy(&shape, pattern_bytes, commands, error);
}

}  // namespace gufunc::gpu
