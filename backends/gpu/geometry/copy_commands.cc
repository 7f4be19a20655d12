// SPDX-License-Identifier: Apache-2.0
// Copies elements without a conversion: as rows of words, as tiles if source and destination have
// different layouts, or as the words of structured elements.

#include "backends/gpu/geometry/copy_commands.h"

#include <algorithm>

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

}  // namespace gufunc::gpu
