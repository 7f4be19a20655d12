// SPDX-License-Identifier: Apache-2.0
// Memory of one kind on one device, cached in size classes. Blocks that are larger than the largest
// class are allocated by the driver and not cached.
//
// Device memory follows the order of streams: a stream can immediately reuse memory that it has
// freed. Other streams can use the memory when a fence that follows the free is signalled, so that
// no allocation makes a stream wait for another stream. The program accesses host memory without a
// stream, so freed host memory can be reused only when the stream on which it was freed is idle, or
// when a fence on that stream is signalled.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_MEMORY_POOL_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_MEMORY_POOL_H

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/driver.h"
#include "backends/gpu/runtime/fence.h"

namespace gufunc::gpu {

// The size classes of cached memory: 512 bytes to 64 MiB, with four classes per doubling, so that
// at most a fifth of a block of more than 512 bytes is unused.
inline constexpr uint64_t kSmallestBlock = 512;
inline constexpr uint64_t kLargestBlock = uint64_t{64} << 20;
inline constexpr int kPoolClasses = 69;

// Returns the smallest class for `bytes` bytes, or -1 if the largest class is too small.
constexpr int pool_class(uint64_t bytes) {
  if (bytes <= kSmallestBlock) return 0;
  if (bytes > kLargestBlock) return -1;
  const uint64_t last = bytes - 1;
  const int exponent = 63 - __builtin_clzll(last);
  const int quarter = static_cast<int>(last >> (exponent - 2) & 3);
  return (exponent - 9) * 4 + quarter + 1;
}

constexpr uint64_t class_bytes(int number) {
  if (number == 0) return kSmallestBlock;
  const int exponent = 9 + (number - 1) / 4;
  return static_cast<uint64_t>(5 + (number - 1) % 4) << (exponent - 2);
}

// Returns the number of bytes that an allocation uses, or 0 on overflow.
constexpr uint64_t block_bytes(uint64_t bytes) {
  const int number = pool_class(bytes);
  if (number >= 0) return class_bytes(number);
  const uint64_t rounded = (bytes + kSmallestBlock - 1) & ~(kSmallestBlock - 1);
  return rounded < bytes ? 0 : rounded;
}

static_assert(class_bytes(kPoolClasses - 1) == kLargestBlock);
static_assert(pool_class(kLargestBlock) == kPoolClasses - 1);

// A hash table, by address, of the blocks that a memory pool has allocated. The blocks of a chain
// are linked by their own `next`. The number of chains doubles when there are
// two blocks per chain. If there is no memory for more chains, the chains become longer instead.
template <class Block>
class BlockTable {
 public:
  BlockTable() = default;
  BlockTable(const BlockTable &) = delete;
  BlockTable &operator=(const BlockTable &) = delete;
  ~BlockTable() {
    if (chains_ != inline_chains_) host_free(chains_);
  }

  void add(Block *block) {
    if (++count_ > 2 * nchains_) grow();
    insert(block);
  }

  // Removes and returns the block at `address`, or returns NULL if there is none.
  Block *remove(uint64_t address) {
    for (Block **link = &chains_[bucket_of(address)]; *link != nullptr; link = &(*link)->next) {
      Block *const block = *link;
      if (block->address != address) continue;
      *link = block->next;
      --count_;
      return block;
    }
    return nullptr;
  }

  // Removes and returns any block, or returns NULL if the table is empty.
  Block *remove_any() {
    for (size_t i = 0; i < nchains_; ++i) {
      Block *const block = chains_[i];
      if (block == nullptr) continue;
      chains_[i] = block->next;
      --count_;
      return block;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kFew = 64;

  size_t bucket_of(uint64_t address) const {
    return static_cast<size_t>(address * 0x9E3779B97F4A7C15u >> 32) & (nchains_ - 1);
  }
  void insert(Block *block) {
    Block **const chain = &chains_[bucket_of(block->address)];
    block->next = *chain;
    *chain = block;
  }
  void grow() {
    const size_t count = 2 * nchains_;
    auto **const chains = static_cast<Block **>(host_alloc(count * sizeof(Block *), 64));
    if (chains == nullptr) return;
    for (size_t i = 0; i < count; ++i) chains[i] = nullptr;
    Block **const old = chains_;
    const size_t nold = nchains_;
    chains_ = chains;
    nchains_ = count;
    for (size_t i = 0; i < nold; ++i) {
      while (old[i] != nullptr) {
        Block *const block = old[i];
        old[i] = block->next;
        insert(block);
      }
    }
    if (old != inline_chains_) host_free(old);
  }

  Block *inline_chains_[kFew] = {};
  Block **chains_ = inline_chains_;
  size_t nchains_ = kFew, count_ = 0;
};

class Stream;

struct Block {
  uint64_t address = 0;
  uint64_t bytes = 0;  // size, rounded by size_of()
  Fence *fence = nullptr;
  Block *next = nullptr;
};

// Device memory that a stream has freed and can reuse. The pool's lock protects it.
struct StreamCache {
  Block *free[kPoolClasses] = {};
  // Blocks that were freed during a capture of the stream. Runs of the graph use these blocks.
  Block *captured = nullptr;
  uint64_t bytes = 0;  // total size of the blocks in `free`
  StreamCache *next = nullptr, *previous = nullptr;
  Stream *stream = nullptr;
};

struct PoolStatistics {
  uint64_t live_bytes, peak_bytes;  // memory that is in use
  uint64_t cached_bytes;            // free memory that is not returned to the driver
  uint64_t limit_bytes;             // limit of the sum of live and cached bytes
  uint64_t allocations, driver_allocations;
};

enum class Backing : uint8_t { kDevice, kPinned, kMapped, kManaged };

class MemoryPool {
 public:
  MemoryPool(Device &device, Backing backing) : device_(device), backing_(backing) {}
  // Sets the driver's pool. If `pool` is NULL, memory is allocated without a pool.
  void use(Native pool) { driver_pool_ = pool; }
  // Disables the cache and the rounding of sizes, for tools that detect out-of-bounds accesses.
  // Must be called before any other use.
  void disable_cache() { caches_blocks_ = false; }

  // Allocates memory for work that will be queued on the stream. If `stream` is the idle stream,
  // this function may wait for the work on the default stream.
  // Errors  GUF_E_DEVICE_MEMORY, GUF_E_NO_MEMORY <= no memory, even after cached memory was freed
  //         GUF_E_CAPTURE <= the stream is captured
  guf_status acquire_block(uint64_t bytes, Stream &stream, Block **out, guf_error *error);
  // Releases a block after the work that is queued on the stream now.
  void release_block(Block *block, Stream &stream);

  // Allocate and release memory like acquire_block() and release_block(), but identify the memory
  // by its address. If `stream` is NULL, allocate() returns memory that all streams can use
  // immediately, and may wait for queued work; release() releases memory after the work that is
  // queued on the device's default stream.
  // Errors  GUF_E_ARG <= release: no allocation has this address, or its size differs
  guf_status allocate(uint64_t bytes, Stream *stream, uint64_t *out_address, guf_error *error);
  guf_status release(uint64_t address, uint64_t bytes, Stream *stream, guf_error *error);

  void add_stream(Stream &stream);
  // Must be called when the stream ends. The stream's cached blocks become available to all streams
  // after a fence.
  void remove_stream(Stream &stream);
  // Returns the blocks of a capture that has ended. The graph releases them when it is destroyed.
  Block *take_captured(Stream &stream);
  void release_captured(Block *blocks, Stream &stream);

  // Returns cached memory to the driver until at most `keep_bytes` bytes are cached.
  // Errors  the driver's first error; the other blocks were returned
  guf_status trim(uint64_t keep_bytes, guf_error *error);
  void set_limit(uint64_t bytes);  // UINT64_MAX: no limit
  PoolStatistics statistics();

  // Returns all cached memory to the driver. No stream may use the pool.
  void close();

 private:
  // Return the results of pool_class() and block_bytes(). If the cache is disabled, there are no
  // classes and no rounding.
  int class_of(uint64_t bytes) const { return caches_blocks_ ? pool_class(bytes) : -1; }
  uint64_t size_of(uint64_t bytes) const {
    return caches_blocks_ ? block_bytes(bytes) : bytes + (bytes == 0 ? 1 : 0);
  }
  bool follows_streams() const { return backing_ == Backing::kDevice; }
  Block *find(int number, Stream &stream);
  guf_status fetch(uint64_t bytes, Stream &stream, std::unique_lock<std::mutex> &lock, Block **out,
                   guf_error *error);
  Code allocate_from_driver(uint64_t bytes, Stream &stream, uint64_t *out_address);
  void return_to_driver(Block *block, Native stream);
  void recycle_block(Block *block, Stream &stream, bool any_stream);
  void release_list(Block *blocks, Stream &stream, bool any_stream);
  void wait_for_fences(std::unique_lock<std::mutex> &lock);
  void fence(Block *blocks, Stream &stream);
  void collect_signalled();
  void fence_other(int number, const Stream &stream);
  void flush_cache(StreamCache &cache);
  void reclaim(uint64_t keep_bytes, std::unique_lock<std::mutex> &lock);
  void release_common(uint64_t keep_bytes);
  void drop(Block **list);
  void count(uint64_t bytes);
  bool over_limit(uint64_t bytes) const;
  void note_refusal(Code code);

  Device &device_;
  const Backing backing_;
  Native driver_pool_ = nullptr;
  bool caches_blocks_ = true;

  std::mutex trimming_;  // locked before mutex_, so that only one trim collects driver errors
  std::mutex mutex_;     // protects the members below and the caches of streams
  Block *common_[kPoolClasses] = {};
  Block *fenced_ = nullptr;
  uint64_t fenced_bytes_ = 0;
  BlockTable<Block> allocated_;  // blocks that allocate() has returned
  Block *captured_ = nullptr;    // freed during a capture whose end is unknown to the host
  StreamCache *caches_ = nullptr;
  uint64_t limit_ = UINT64_MAX;
  PoolStatistics counted_ = {};
  Code refusal_ = kDone;  // the driver's first refusal to free memory, which trim reports
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_MEMORY_POOL_H
