// SPDX-License-Identifier: Apache-2.0
// Memory of one kind on one device, cached in size classes; large blocks come from the driver.
//
// Device memory follows the order of streams: what a stream frees it may have again at once. Other
// streams get it when a fence behind the free has passed, so that no allocation ever makes a stream
// wait for another. Host memory is written by threads, not by streams: every free of it is guarded.
#ifndef GUFUNC_BACKENDS_GPU_MEMORY_POOL_H
#define GUFUNC_BACKENDS_GPU_MEMORY_POOL_H

#include <mutex>

#include "backends/gpu/block_table.h"
#include "backends/gpu/driver.h"
#include "backends/gpu/fence.h"
#include "backends/gpu/pool_classes.h"

namespace gufunc::gpu {

class Stream;

struct Block {
  uint64_t address = 0;
  uint64_t bytes = 0;  // as size_of() rounds
  Fence *fence = nullptr;
  Block *next = nullptr;
};

// What a stream freed of device memory and may take again. Guarded by that pool's lock.
struct StreamCache {
  Block *free[kPoolClasses] = {};
  Block *captured = nullptr;  // freed while the stream was captured: a graph may use them for ever
  uint64_t bytes = 0;         // of `free`
  StreamCache *next = nullptr, *previous = nullptr;
  Stream *stream = nullptr;
};

struct PoolStatistics {
  uint64_t live_bytes, peak_bytes;  // handed out
  uint64_t cached_bytes;            // free, not given back to the driver
  uint64_t limit_bytes;             // of live and cached together
  uint64_t allocations, driver_allocations;
};

enum class Backing : uint8_t { kDevice, kPinned, kMapped, kManaged };

class MemoryPool {
 public:
  MemoryPool(Device &device, Backing backing) : device_(device), backing_(backing) {}
  // `pool` is the driver's, or NULL: then memory comes from its plain allocation.
  void use(Native pool) { driver_pool_ = pool; }
  // Nothing is cached, and blocks are as large as was asked: for tools that look for accesses
  // outside of them. Before any other use.
  void cache_nothing() { caches_blocks_ = false; }

  // Memory for work that follows on the stream. Never waits for other streams.
  // Errors  GUF_E_DEVICE_MEMORY, GUF_E_NO_MEMORY <= also after everything cached was given back
  //         GUF_E_CAPTURE <= the stream is captured
  guf_status take(uint64_t bytes, Stream &stream, Block **out, guf_error *error);
  // Gives it back behind what is queued on the stream.
  void give(Block *block, Stream &stream);

  // The same by address. Without a stream the memory may be used on any stream at once, and is
  // free behind what the device's default stream has queued; then allocating may wait for that.
  // Errors  GUF_E_ARG <= freeing: no allocation has this address, or it has another size
  guf_status allocate(uint64_t bytes, Stream *stream, uint64_t *out_address, guf_error *error);
  guf_status release(uint64_t address, uint64_t bytes, Stream *stream, guf_error *error);

  void add_stream(Stream &stream);
  // The stream ends: what it kept is guarded and then anybody's.
  void remove_stream(Stream &stream);
  // Takes the blocks of a capture that ended; the graph gives them back when it goes.
  Block *take_captured(Stream &stream);
  void give_all(Block *blocks, Stream &stream);

  // Gives free memory back to the driver until at most `keep_bytes` are cached.
  // Errors  what the first code of the driver says that kept some of it; the rest went back
  guf_status trim(uint64_t keep_bytes, guf_error *error);
  void set_limit(uint64_t bytes);  // UINT64_MAX: none
  PoolStatistics statistics();

  // Gives everything back. Only when no stream uses it.
  void close();

 private:
  // As pool_class() and block_bytes().
  int class_of(uint64_t bytes) const { return caches_blocks_ ? pool_class(bytes) : -1; }
  uint64_t size_of(uint64_t bytes) const {
    return caches_blocks_ ? block_bytes(bytes) : bytes + (bytes == 0 ? 1 : 0);
  }
  bool follows_streams() const { return backing_ == Backing::kDevice; }
  Block *find(int number, Stream &stream);
  guf_status fetch(uint64_t bytes, Stream &stream, std::unique_lock<std::mutex> &lock, Block **out,
                   guf_error *error);
  Code ask_driver(uint64_t bytes, Stream &stream, uint64_t *out_address);
  void return_to_driver(Block *block, Native stream);
  void accept(Block *block, Stream &stream, bool anybodys);
  void give_as(Block *blocks, Stream &stream, bool anybodys);
  void wait_for_fences(std::unique_lock<std::mutex> &lock);
  void fence(Block *blocks, Stream &stream);
  void harvest();
  void arm_other(int number, const Stream &stream);
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

  std::mutex trimming_;  // taken before mutex_: a refusal is told to the trim that met it
  std::mutex mutex_;     // guards the rest, and the caches of streams
  Block *common_[kPoolClasses] = {};
  Block *guarded_ = nullptr;
  uint64_t guarded_bytes_ = 0;
  BlockTable<Block> handed_out_;  // known by address only
  Block *captured_ = nullptr;     // freed under a capture that no graph of ours tells the end of
  StreamCache *caches_ = nullptr;
  uint64_t limit_ = UINT64_MAX;
  PoolStatistics counted_ = {};
  Code refusal_ = kDone;  // the first that kept memory from going back, for trim
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_MEMORY_POOL_H
