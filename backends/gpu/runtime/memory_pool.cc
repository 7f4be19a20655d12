// SPDX-License-Identifier: Apache-2.0
// Allocates and releases blocks, and moves cached memory from one stream to other streams and back
// to the driver. The pool's mutex stays locked during calls of the driver, because no callback of
// the driver locks this mutex. Functions that wait for work unlock the mutex, so that other threads
// can allocate and release memory in the meantime.
//
// PERF  A call of the driver's own stream-ordered allocator takes 1 to 2 us, even if it is tuned.
//       An allocation from the cache takes a lock, a list operation and one driver query,
//       which reports whether the stream is captured.
#include "backends/gpu/runtime/memory_pool.h"

#include <algorithm>
#include <cstdio>

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_stream.h"

namespace gufunc::gpu {
namespace {

// If more than one sixteenth of the device's memory waits for fences, an allocation on the idle
// stream waits for these fences.
constexpr uint64_t kFencedShare = 16;

void push(Block **list, Block *block) {
  block->next = *list;
  *list = block;
}

Block *pop(Block **list) {
  Block *const block = *list;
  if (block != nullptr) *list = block->next;
  return block;
}

void move_all(Block **from, Block **to) {
  while (*from != nullptr) {
    Block *const block = *from;
    *from = block->next;
    push(to, block);
  }
}

}  // namespace

void MemoryPool::count(uint64_t bytes) {
  ++counted_.allocations;
  counted_.live_bytes += bytes;
  counted_.peak_bytes = std::max(counted_.peak_bytes, counted_.live_bytes);
}

bool MemoryPool::over_limit(uint64_t bytes) const {
  const uint64_t held = counted_.live_bytes + counted_.cached_bytes;
  return held > limit_ || bytes > limit_ - held;
}

guf_status MemoryPool::acquire_block(uint64_t bytes, Stream &stream, Block **out,
                                     guf_error *error) {
  const uint64_t rounded = size_of(bytes);
  if (rounded == 0) {
    return fail(error, GUF_E_DEVICE_MEMORY,
                "allocating memory: %llu bytes exceed the address space",
                static_cast<unsigned long long>(bytes));
  }
  bool captured = false;
  GUF_BACKEND_TRY(stream.capturing(&captured, error));
  if (captured) {
    return fail(error, GUF_E_CAPTURE, "the stream is being captured: it cannot allocate memory");
  }
  const RelaxedCapture relaxed(device_.driver());
  std::unique_lock lock(mutex_);
  const int number = class_of(bytes);
  if (!caches_blocks_ && fenced_ != nullptr) collect_signalled();
  *out = number < 0 ? nullptr : find(number, stream);
  // Without this wait, a program that never waits could fill
  // the device with memory that it has freed.
  if (*out == nullptr && &stream == &device_.idle_stream() &&
      fenced_bytes_ > device_.properties().memory_bytes / kFencedShare) {
    wait_for_fences(lock);
    if (number >= 0) *out = find(number, stream);
  }
  if (*out == nullptr) GUF_BACKEND_TRY(fetch(rounded, stream, lock, out, error));
  count(rounded);
  return GUF_OK;
}

// Returns a cached block of the class, or NULL. Before it returns NULL, this function may queue a
// fence behind the cached blocks of another stream, so that a later call can return these blocks.
Block *MemoryPool::find(int number, Stream &stream) {
  Block *block = nullptr;
  if (follows_streams()) {
    StreamCache &own = stream.cache();
    block = pop(&own.free[number]);
    if (block != nullptr) own.bytes -= block->bytes;
  }
  if (block == nullptr) block = pop(&common_[number]);
  if (block == nullptr && fenced_ != nullptr) {
    collect_signalled();
    block = pop(&common_[number]);
  }
  if (block == nullptr) {
    fence_other(number, stream);
  } else {
    counted_.cached_bytes -= block->bytes;
  }
  return block;
}

guf_status MemoryPool::fetch(uint64_t bytes, Stream &stream, std::unique_lock<std::mutex> &lock,
                             Block **out, guf_error *error) {
  if (over_limit(bytes)) reclaim(0, lock);
  if (over_limit(bytes) && &stream == &device_.idle_stream()) {
    wait_for_fences(lock);
    reclaim(0, lock);
  }
  if (over_limit(bytes)) {
    return fail(error, follows_streams() ? GUF_E_DEVICE_MEMORY : GUF_E_NO_MEMORY,
                "memory of the pool: %llu bytes more than the %llu in use exceed the limit of %llu",
                static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(counted_.live_bytes),
                static_cast<unsigned long long>(limit_));
  }
  Block *const block = create<Block>();
  if (block == nullptr) return fail_memory(error, "a block of memory");
  uint64_t address = 0;
  Code code = allocate_from_driver(bytes, stream, &address);
  if (device_.driver().error_info(code).kind == ErrorKind::kNoMemory) {
    if (&stream == &device_.idle_stream()) wait_for_fences(lock);
    reclaim(0, lock);
    // Other threads may have allocated memory up to the limit while the lock was released.
    if (!over_limit(bytes)) code = allocate_from_driver(bytes, stream, &address);
  }
  if (code != kDone) {
    destroy(block);
    char what[64];
    std::snprintf(what, sizeof(what), "allocating %llu bytes",
                  static_cast<unsigned long long>(bytes));
    const guf_status status = device_.check(code, what, error);
    return follows_streams() ? status : as_host_memory(status, error);
  }
  ++counted_.driver_allocations;
  block->address = address;
  block->bytes = bytes;
  *out = block;
  return GUF_OK;
}

Code MemoryPool::allocate_from_driver(uint64_t bytes, Stream &stream, uint64_t *out_address) {
  Driver &driver = device_.driver();
  switch (backing_) {
    case Backing::kPinned:
      return driver.host_allocate(bytes, HostMemory::kPinned, out_address);
    case Backing::kMapped:
      return driver.host_allocate(bytes, HostMemory::kMapped, out_address);
    case Backing::kManaged:
      return driver.managed_allocate(bytes, out_address);
    case Backing::kDevice:
      break;
  }
  if (driver_pool_ == nullptr) return driver.allocate(bytes, out_address);
  const Code code = driver.pool_allocate(driver_pool_, bytes, stream.native(), out_address);
  if (code != kDone || &stream != &device_.idle_stream()) return code;
  // After this wait, every stream can use the memory. The wait is short, because the idle stream
  // has no work.
  const Code waited = driver.stream_synchronize(stream.native());
  if (waited != kDone) device_.check_for_loss(driver.pool_release(*out_address, stream.native()));
  return waited;
}

void MemoryPool::note_refusal(Code code) {
  if (__builtin_expect(code == kDone, 1)) return;
  device_.check_for_loss(code);
  if (refusal_ == kDone) refusal_ = code;
}

void MemoryPool::return_to_driver(Block *block, Native stream) {
  Driver &driver = device_.driver();
  if (!follows_streams() && backing_ != Backing::kManaged) {
    note_refusal(driver.host_release(block->address));
  } else if (follows_streams() && driver_pool_ != nullptr) {
    note_refusal(driver.pool_release(block->address, stream));
  } else {
    note_refusal(driver.release(block->address));
  }
  destroy(block);
}

void MemoryPool::release_block(Block *block, Stream &stream) {
  block->next = nullptr;
  release_list(block, stream, false);
}

void MemoryPool::release_captured(Block *blocks, Stream &stream) {
  release_list(blocks, stream, true);
}

void MemoryPool::release_list(Block *blocks, Stream &stream, bool any_stream) {
  if (blocks == nullptr) return;
  bool captured = false;
  // If the driver does not report whether the stream is captured,
  // the memory is kept, because a graph may own it.
  if (stream.capturing(&captured, nullptr) != GUF_OK) captured = true;
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard lock(mutex_);
  while (blocks != nullptr) {
    Block *const block = blocks;
    blocks = block->next;
    counted_.live_bytes -= block->bytes;
    if (captured) {
      push(follows_streams() ? &stream.cache().captured : &captured_, block);
    } else {
      recycle_block(block, stream, any_stream);
    }
  }
}

// Receives a block that the stream has released, and caches it,
// fences it or returns it to the driver.
void MemoryPool::recycle_block(Block *block, Stream &stream, bool any_stream) {
  const int number = class_of(block->bytes);
  if (device_.lost()) {
    device_.wait_until_idle();
    return_to_driver(block, stream.native());
  } else if (follows_streams() && !any_stream && number >= 0) {
    push(&stream.cache().free[number], block);
    stream.cache().bytes += block->bytes;
    counted_.cached_bytes += block->bytes;
  } else if (follows_streams() && !any_stream && driver_pool_ != nullptr) {
    return_to_driver(block, stream.native());
  } else if (number >= 0 && backing_ != Backing::kManaged &&
             device_.driver().stream_query(stream.native()) == kDone) {
    // No work can be using the block. This is the most common case
    // in programs that wait for results.
    push(&common_[number], block);
    counted_.cached_bytes += block->bytes;
  } else {
    block->next = nullptr;
    fence(block, stream);
  }
}

guf_status MemoryPool::allocate(uint64_t bytes, Stream *stream, uint64_t *out_address,
                                guf_error *error) {
  Block *block = nullptr;
  GUF_BACKEND_TRY(
      acquire_block(bytes, stream != nullptr ? *stream : device_.idle_stream(), &block, error));
  *out_address = block->address;
  const std::lock_guard lock(mutex_);
  allocated_.add(block);
  return GUF_OK;
}

guf_status MemoryPool::release(uint64_t address, uint64_t bytes, Stream *stream, guf_error *error) {
  Block *block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    block = allocated_.remove(address);
    if (block != nullptr && block->bytes != size_of(bytes)) {
      allocated_.add(block);
      return fail(error, GUF_E_ARG, "freeing memory: %llu bytes is not the size of the allocation",
                  static_cast<unsigned long long>(bytes));
    }
  }
  if (block == nullptr) {
    return fail(error, GUF_E_ARG, "freeing memory: 0x%llx is not the address of an allocation",
                static_cast<unsigned long long>(address));
  }
  block->next = nullptr;
  release_list(block, stream != nullptr ? *stream : device_.default_stream(), stream == nullptr);
  return GUF_OK;
}

void MemoryPool::add_stream(Stream &stream) {
  const std::lock_guard lock(mutex_);
  StreamCache &cache = stream.cache();
  cache.next = caches_;
  if (caches_ != nullptr) caches_->previous = &cache;
  caches_ = &cache;
}

void MemoryPool::remove_stream(Stream &stream) {
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard lock(mutex_);
  StreamCache &cache = stream.cache();
  flush_cache(cache);
  // Memory that was freed during a capture may belong to a graph of the program.
  // The pool keeps this memory until the pool is closed, because the lifetime of that graph is
  // unknown.
  move_all(&cache.captured, &captured_);
  for (Block *&list : cache.free) move_all(&list, &captured_);
  counted_.cached_bytes -= cache.bytes;
  cache.bytes = 0;
  if (cache.previous != nullptr) {
    cache.previous->next = cache.next;
  } else {
    caches_ = cache.next;
  }
  if (cache.next != nullptr) cache.next->previous = cache.previous;
}

Block *MemoryPool::take_captured(Stream &stream) {
  const std::lock_guard lock(mutex_);
  Block *const blocks = stream.cache().captured;
  stream.cache().captured = nullptr;
  for (Block *block = blocks; block != nullptr; block = block->next) {
    counted_.live_bytes += block->bytes;
  }
  return blocks;
}

// Makes blocks wait for a fence behind all work that is queued on the stream. If no fence can be
// created, waits for the stream and returns the blocks to the driver.
void MemoryPool::fence(Block *blocks, Stream &stream) {
  Fence *fence = nullptr;
  const guf_status status = device_.fences().acquire(stream.native(), &fence, nullptr);
  if (status != GUF_OK)
    device_.check_for_loss(device_.driver().stream_synchronize(stream.native()));
  while (blocks != nullptr) {
    Block *const block = blocks;
    blocks = block->next;
    if (status != GUF_OK) {
      return_to_driver(block, stream.native());
      continue;
    }
    ++fence->users;
    block->fence = fence;
    counted_.cached_bytes += block->bytes;
    fenced_bytes_ += block->bytes;
    push(&fenced_, block);
  }
}

// Makes blocks with signalled fences available to all streams.
// Managed memory and blocks that are larger than the largest class are returned to the driver.
void MemoryPool::collect_signalled() {
  Block **link = &fenced_;
  while (*link != nullptr) {
    Block *const block = *link;
    if (const Code code = device_.fences().query(*block->fence); code != kDone) {
      if (device_.driver().error_info(code).kind != ErrorKind::kNotReady) note_refusal(code);
      link = &block->next;
      continue;
    }
    *link = block->next;
    fenced_bytes_ -= block->bytes;
    if (--block->fence->users == 0) device_.fences().release(block->fence);
    block->fence = nullptr;
    const int number = class_of(block->bytes);
    if (number >= 0 && backing_ != Backing::kManaged) {
      push(&common_[number], block);
    } else {
      counted_.cached_bytes -= block->bytes;
      return_to_driver(block, device_.idle_stream().native());
    }
  }
}

// Waits for the default stream, because most fenced blocks were freed on it. Blocks that other
// streams have freed may remain fenced.
void MemoryPool::wait_for_fences(std::unique_lock<std::mutex> &lock) {
  lock.unlock();
  device_.check_for_loss(device_.driver().stream_synchronize(device_.default_stream().native()));
  lock.lock();
  collect_signalled();
}

// If another stream has cached blocks of this class, fences these blocks,
// so that a later call can use them.
void MemoryPool::fence_other(int number, const Stream &stream) {
  for (StreamCache *cache = caches_; cache != nullptr; cache = cache->next) {
    if (cache->stream == &stream || cache->free[number] == nullptr) continue;
    bool captured = false;
    if (cache->stream->capturing(&captured, nullptr) != GUF_OK || captured) continue;
    Block *const blocks = cache->free[number];
    cache->free[number] = nullptr;
    for (Block *block = blocks; block != nullptr; block = block->next) {
      cache->bytes -= block->bytes;
      counted_.cached_bytes -= block->bytes;
    }
    fence(blocks, *cache->stream);
    return;
  }
}

// Releases all cached blocks of a stream, unless the stream is being captured. If the driver has a
// pool, the blocks are returned to the pool in stream order; otherwise they are fenced.
void MemoryPool::flush_cache(StreamCache &cache) {
  if (cache.bytes == 0) return;
  bool captured = false;
  const Code code = device_.driver().stream_capturing(cache.stream->native(), &captured);
  note_refusal(code);
  if (code != kDone || captured) return;
  Block *all = nullptr;
  for (Block *&list : cache.free) move_all(&list, &all);
  counted_.cached_bytes -= cache.bytes;
  cache.bytes = 0;
  if (driver_pool_ == nullptr) return fence(all, *cache.stream);
  while (all != nullptr) {
    Block *const block = all;
    all = block->next;
    return_to_driver(block, cache.stream->native());
  }
}

void MemoryPool::release_common(uint64_t keep_bytes) {
  for (Block *&list : common_) {
    while (list != nullptr && counted_.cached_bytes > keep_bytes) {
      Block *const block = list;
      list = block->next;
      counted_.cached_bytes -= block->bytes;
      return_to_driver(block, device_.idle_stream().native());
    }
  }
}

void MemoryPool::reclaim(uint64_t keep_bytes, std::unique_lock<std::mutex> &lock) {
  collect_signalled();
  release_common(keep_bytes);
  for (StreamCache *cache = caches_; cache != nullptr; cache = cache->next) {
    if (counted_.cached_bytes > keep_bytes) flush_cache(*cache);
  }
  // The fences of blocks that idle streams had cached are signalled by now.
  collect_signalled();
  release_common(keep_bytes);
  if (driver_pool_ == nullptr) return;
  // The driver's pool releases memory that has been freed in stream order.
  // The wait is short, because the idle stream contains only releases. Some drivers count memory in
  // use as part of the bytes to keep and other drivers do not, so `left` is chosen so that no
  // driver keeps too much.
  const uint64_t left = keep_bytes - std::min(keep_bytes, counted_.cached_bytes);
  lock.unlock();
  const Code waited = device_.driver().stream_synchronize(device_.idle_stream().native());
  const Code trimmed = device_.driver().pool_trim(driver_pool_, left);
  lock.lock();
  note_refusal(waited);
  note_refusal(trimmed);
}

guf_status MemoryPool::trim(uint64_t keep_bytes, guf_error *error) {
  const RelaxedCapture relaxed(device_.driver());
  const std::lock_guard one_at_a_time(trimming_);
  std::unique_lock lock(mutex_);
  refusal_ = kDone;
  reclaim(keep_bytes, lock);
  GUF_BACKEND_TRY(device_.check(refusal_, "returning memory to the driver", error));
  return device_.lost() ? device_.fail_lost(error) : guf_status{GUF_OK};
}

void MemoryPool::set_limit(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

PoolStatistics MemoryPool::statistics() {
  const std::lock_guard lock(mutex_);
  PoolStatistics now = counted_;
  now.limit_bytes = limit_;
  return now;
}

void MemoryPool::drop(Block **list) {
  while (*list != nullptr) {
    Block *const block = *list;
    *list = block->next;
    if (block->fence != nullptr && --block->fence->users == 0)
      device_.fences().release(block->fence);
    return_to_driver(block, device_.idle_stream().native());
  }
}

void MemoryPool::close() {
  const std::lock_guard lock(mutex_);
  drop(&fenced_);
  drop(&captured_);
  for (Block *&list : common_) drop(&list);
  for (StreamCache *cache = caches_; cache != nullptr; cache = cache->next) {
    for (Block *&list : cache->free) drop(&list);
    drop(&cache->captured);
    cache->bytes = 0;
  }
  while (Block *const record = allocated_.remove_any()) destroy(record);
  fenced_bytes_ = 0;
  counted_.cached_bytes = 0;
}

}  // namespace gufunc::gpu
