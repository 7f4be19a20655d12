// SPDX-License-Identifier: Apache-2.0
// Copies and converts whole arrays. The traversal is tiled if the two arrays have different
// layouts, and uses several threads if the arrays are large.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <gufunc/backend/steps.hpp>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/thread_pool.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/dtype_layout.h"
#include "backends/cpu/loops/element_convert.h"
#include "backends/cpu/loops/work_split.h"

namespace gufunc::cpu {
namespace {

constexpr int kMaxDims = GUF_MAX_LOOP_NDIM;
// Two tiles of 32 x 32 elements of 8 bytes occupy 16 KiB, which fits in the L1 cache.
constexpr int64_t kTile = 32;
constexpr uint64_t kCopyChunk = 1024 * 1024;
constexpr uint64_t kFillBlock = 16 * 1024;

// The two arrays of a launch block, divided into rows along dimension 0. If `tile_dim` is not 0,
// this dimension and dimension 0 are traversed together in tiles.
struct Conversion {
  ElementConverter converter;
  char *to;
  const char *from;
  int ndim;
  int64_t size[kMaxDims];
  int64_t from_step[kMaxDims], to_step[kMaxDims];
  int tile_dim;  // 0: not tiled
  uint64_t chunk_items;
  uint64_t items;
};

ElementForm operand_form(const guf_launch_block &block, int operand) {
  return {block.dtype[operand], (block.operand_flags[operand] & GUF_LAUNCH_OPERAND_SWAPPED) != 0,
          (block.operand_flags[operand] & GUF_LAUNCH_OPERAND_UNALIGNED) != 0};
}

// Returns a dimension along which only one of the two arrays has a smaller step than along
// dimension 0, or 0 if there is none.
int choose_tile_dim(const Conversion &c) {
  const auto crosses = [&](const int64_t *step, int d) {
    return sdk::abs_step(step[d]) < sdk::abs_step(step[0]);
  };
  for (int d = 1; d < c.ndim; ++d) {
    if (c.size[d] > 1 && crosses(c.from_step, d) != crosses(c.to_step, d)) return d;
  }
  return 0;
}

// Traverses rows, starting at a given row. If the conversion is tiled, traverses stripes of kTile
// rows instead.
class StripeWalk {
 public:
  StripeWalk(const Conversion &c, uint64_t stripe) : c_(c) {
    for (int d = 1; d < c.ndim; ++d) {
      const auto count = static_cast<uint64_t>(stripes(d));
      index_[d] = static_cast<int64_t>(stripe % count);
      stripe /= count;
    }
  }

  void run_one() {
    char *to = c_.to;
    const char *from = c_.from;
    for (int d = 1; d < c_.ndim; ++d) {
      const int64_t at = index_[d] * (d == c_.tile_dim ? kTile : 1);
      to += at * c_.to_step[d];
      from += at * c_.from_step[d];
    }
    if (c_.tile_dim == 0) {
      c_.converter.row(to, c_.to_step[0], from, c_.from_step[0], c_.size[0]);
    } else {
      run_tiles(to, from);
    }
    for (int d = 1; d < c_.ndim; ++d) {
      if (++index_[d] < stripes(d)) return;
      index_[d] = 0;
    }
  }

 private:
  int64_t stripes(int d) const {
    return d == c_.tile_dim ? (c_.size[d] + kTile - 1) / kTile : c_.size[d];
  }

  void run_tiles(char *to, const char *from) const {
    const int t = c_.tile_dim;
    const int64_t height = std::min(kTile, c_.size[t] - index_[t] * kTile);
    for (int64_t x = 0; x < c_.size[0]; x += kTile) {
      const int64_t width = std::min(kTile, c_.size[0] - x);
      for (int64_t y = 0; y < height; ++y) {
        c_.converter.row(to + x * c_.to_step[0] + y * c_.to_step[t], c_.to_step[0],
                         from + x * c_.from_step[0] + y * c_.from_step[t], c_.from_step[0], width);
      }
    }
  }

  const Conversion &c_;
  int64_t index_[kMaxDims] = {};
};

// Converts one chunk of items. Items are rows, or stripes if the conversion is tiled, or elements
// if there is only one row.
void convert_chunk(void *context, uint32_t chunk) {
  const auto &c = *static_cast<const Conversion *>(context);
  const uint64_t first = chunk * c.chunk_items;
  const uint64_t last = std::min(first + c.chunk_items, c.items);
  if (c.ndim == 1) {
    const auto at = static_cast<int64_t>(first);
    c.converter.row(c.to + at * c.to_step[0], c.to_step[0], c.from + at * c.from_step[0],
                    c.from_step[0], static_cast<int64_t>(last - first));
    return;
  }
  StripeWalk walk(c, first);
  for (uint64_t i = first; i < last; ++i) walk.run_one();
}

struct CopyJob {
  char *to;
  const char *from;
  uint64_t size;
};

void copy_chunk(void *context, uint32_t chunk) {
  const auto &job = *static_cast<const CopyJob *>(context);
  const uint64_t chunk_size = std::max(kCopyChunk, job.size / ThreadPool::kMaxChunks + 1);
  const uint64_t first = chunk * chunk_size;
  if (first >= job.size) return;
  std::memcpy(job.to + first, job.from + first, std::min(chunk_size, job.size - first));
}

uint32_t byte_chunks(uint64_t size) {
  const uint64_t chunk_size = std::max(kCopyChunk, size / ThreadPool::kMaxChunks + 1);
  return static_cast<uint32_t>((size + chunk_size - 1) / chunk_size);
}

}  // namespace

guf_status execute_convert(const guf_launch_block &block, guf_error *error) {
  Conversion c;
  if (!c.converter.choose(operand_form(block, 0), operand_form(block, 1))) {
    return fail(error, GUF_E_DTYPE, 0, kNone, "dtype 0x%x has no cast to dtype 0x%x",
                static_cast<unsigned>(block.dtype[0]), static_cast<unsigned>(block.dtype[1]));
  }
  if (block.items == 0) return GUF_OK;
  c.from = reinterpret_cast<const char *>(block.address[0]);
  c.to = reinterpret_cast<char *>(block.address[1]);
  c.ndim = std::max(block.nloop, 1);
  for (int d = 0; d < c.ndim; ++d) {
    c.size[d] = d == 0 ? block.size[0] : block.outer_size[d - 1];
    c.from_step[d] = d == 0 ? block.step[0] : block.outer_step[d - 1][0];
    c.to_step[d] = d == 0 ? block.step[1] : block.outer_step[d - 1][1];
    // A dimension of size 1 may have any step. The steps are set to 0, so that no address
    // overflows.
    if (c.size[d] == 1) c.from_step[d] = c.to_step[d] = 0;
  }
  c.tile_dim = choose_tile_dim(c);
  c.items = c.ndim == 1 ? block.items : 1;
  for (int d = 1; d < c.ndim; ++d) {
    const int64_t stripes = d == c.tile_dim ? (c.size[d] + kTile - 1) / kTile : c.size[d];
    c.items *= static_cast<uint64_t>(stripes);
  }
  const uint64_t bytes = block.items * (dtype_size(block.dtype[0]) + dtype_size(block.dtype[1]));
  const Split split = split_items(c.items, block.items, bytes, thread_pool().threads());
  c.chunk_items = split.chunk_items;
  thread_pool().run(split.chunks, 0, split.wake, convert_chunk, &c);
  return GUF_OK;
}

void execute_copy(uint64_t dst, uint64_t src, uint64_t size) {
  CopyJob job{reinterpret_cast<char *>(dst), reinterpret_cast<const char *>(src), size};
  if (size == 0 || dst == src) return;
  if (size <= kCopyChunk) {
    std::memmove(job.to, job.from, size);
    return;
  }
  thread_pool().run(byte_chunks(size), 0, ThreadPool::Wake::kYes, copy_chunk, &job);
}

void execute_fill(uint64_t dst, const void *pattern, uint32_t pattern_size, uint64_t count) {
  auto *to = reinterpret_cast<char *>(dst);
  const uint64_t size = count * pattern_size;
  // Fills a block that fits in the L1 cache by doubling, then copies the block over the rest.
  const uint64_t block = std::min(size, kFillBlock / pattern_size * pattern_size);
  if (size == 0) return;
  std::memcpy(to, pattern, pattern_size);
  for (uint64_t done = pattern_size; done < block;) {
    const uint64_t more = std::min(done, block - done);
    std::memcpy(to + done, to, more);
    done += more;
  }
  for (uint64_t done = block; done < size; done += block) {
    std::memcpy(to + done, to, std::min(block, size - done));
  }
}

}  // namespace gufunc::cpu
