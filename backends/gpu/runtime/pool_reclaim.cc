// SPDX-License-Identifier: Apache-2.0
// Moves cached memory from one stream to other streams and back to the driver.
#include <algorithm>

#include "backends/gpu/runtime/gpu_device.h"
#include "backends/gpu/runtime/gpu_stream.h"
#include "backends/gpu/runtime/memory_pool.h"

namespace gufunc::gpu {
namespace {

void push_front(Block **list, Block *block) {
  block->next = *list;
  *list = block;
}

void move_all(Block **from, Block **to) {
  while (*from != nullptr) {
    Block *const block = *from;
    *from = block->next;
    push_front(to, block);
  }
}

}  // namespace

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
    push_front(&fenced_, block);
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
      push_front(&common_[number], block);
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
