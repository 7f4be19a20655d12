// SPDX-License-Identifier: Apache-2.0
// Computes blocks in the cache and copies them to the output with non-temporal stores.
#include "backends/cpu/loops/non_temporal_loop.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/base/cpu_host.h"
#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/loops/cpu_launch.h"
#include "backends/cpu/loops/dtype_layout.h"

namespace gufunc::cpu {
namespace {

// The smallest output for non-temporal stores. It is larger than the share of the last-level cache
// that one core can fill. The cache size that the system reports is often the size of all caches of
// the machine.
constexpr uint64_t kMinNonTemporalBytes = 64 << 20;

// The shortest row for non-temporal stores, in bytes. In shorter rows, the partial cache lines at
// the ends of a row dominate.
constexpr int64_t kShortestNonTemporalRow = 16 << 10;

bool is_written(const guf_launch_block &block, int operand) {
  return (block.operand_flags[operand] & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
}

// The addresses of the next block's inputs, and the size in bytes of the part of each input that
// belongs to one cache line of the output.
struct Ahead {
  int count = 0;
  const char *from[GUF_MAX_OPERANDS];
  int64_t step[GUF_MAX_OPERANDS];
};

// Copies whole cache lines with non-temporal stores and prefetches the inputs of the next block
// line by line. Without the prefetch, the loop reads a block of one input and then a block of the
// next input, and takes 36 instead of 32 ms. A prefetch of an unmapped address has no effect. Each
// line is written by two stores of 32 bytes. Four stores of 16 bytes are not faster than ordinary
// stores, so ISA levels below v3 do not use non-temporal stores.
[[gnu::target("avx")]] void store_non_temporal(char *to, const char *from, int64_t nbytes,
                                               Ahead ahead) {
  for (; nbytes >= 64; nbytes -= 64, to += 64, from += 64) {
    for (int i = 0; i < ahead.count; ++i) {
      _mm_prefetch(ahead.from[i], _MM_HINT_T0);
      ahead.from[i] += ahead.step[i];
    }
    const auto *const line = reinterpret_cast<const __m256i *>(from);
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to), _mm256_load_si256(line));
    _mm256_stream_si256(reinterpret_cast<__m256i *>(to) + 1, _mm256_load_si256(line + 1));
  }
  if (nbytes != 0) std::memcpy(to, from, static_cast<size_t>(nbytes));
}

}  // namespace

bool uses_non_temporal_stores(const guf_launch_block &block) {
  if (block.items < kMinNonTemporalItems || block.ncore != 0 || isa_level() < 3) return false;
  if ((block.flags & kMaskedOrStagedFlags) != 0 || (block.flags & GUF_LAUNCH_ANY_THREAD) == 0)
    return false;
  const int output = block.noperands - 1;
  if (block.noperands != block.nin + 1 || !is_written(block, output)) return false;
  const int64_t item_bytes = dtype_size(block.dtype[output]);
  if (is_structured(block.dtype[output])) return false;  // a cache line may end within an element
  if (block.step[output] != item_bytes) return false;
  if (block.nloop > 1 && block.size[0] < kShortestNonTemporalRow / item_bytes) return false;
  if (block.items < kMinNonTemporalBytes / static_cast<uint64_t>(item_bytes)) return false;
  for (int i = 0; i < output; ++i) {
    // An input that shares memory with the output is the same view,
    // so its block is already in the cache.
    if (is_written(block, i) || block.address[i] == block.address[output]) return false;
  }
  return true;
}

NonTemporalLoop::NonTemporalLoop(const guf_launch_block &block, const HostLoop &loop)
    : block_(block),
      loop_(loop),
      output_(block.noperands - 1),
      item_bytes_(dtype_size(block.dtype[output_])) {}

NonTemporalLoop::~NonTemporalLoop() {
  _mm_sfence();  // orders the stores before the work is reported as complete
}

guf_status NonTemporalLoop::run_row(char *const *args, int64_t count) {
  const int64_t block_items = kBlockBytes / item_bytes_;
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(args[output_]) % kLine);
  // An element crosses a cache line, which is possible for c128.
  if (misaligned % item_bytes_ != 0) {
    char *call[GUF_MAX_OPERANDS];
    std::copy_n(args, block_.noperands, call);
    return loop_(call, &count, block_.step);
  }
  // The items before the first whole cache line of the output are a separate block,
  // which is copied with ordinary stores.
  int64_t items = misaligned == 0 ? block_items : (kLine - misaligned) / item_bytes_;
  for (int64_t done = 0; done < count; done += items, items = block_items) {
    items = std::min(items, count - done);
    char *call[GUF_MAX_OPERANDS];
    Ahead ahead;
    for (int i = 0; i < output_; ++i) {
      call[i] = args[i] + done * block_.step[i];
      if (block_.step[i] <= 0 || block_.step[i] > 2 * item_bytes_) continue;
      ahead.from[ahead.count] = call[i] + items * block_.step[i];
      ahead.step[ahead.count++] = kLine / item_bytes_ * block_.step[i];
    }
    call[output_] = buffer_;
    int64_t dims = items;
    GUF_BACKEND_TRY(loop_(call, &dims, block_.step));
    store_non_temporal(args[output_] + done * item_bytes_, buffer_, items * item_bytes_, ahead);
  }
  return GUF_OK;
}

}  // namespace gufunc::cpu
