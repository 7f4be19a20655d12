// SPDX-License-Identifier: Apache-2.0
// Allocates memory of every kind, and implements pools and their attributes.
#include "tests/sim/core/sim_device_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/sim/core/sim_capture.h"

namespace sim {
namespace {

Device &device_of(Driver &driver, int device) {
  return driver.devices[static_cast<size_t>(device)];
}

// Allocates from the arena of the device. *out is 0 if the arena is full.
int add_from_arena(Driver &driver, Allocation allocation, uint64_t *out) {
  allocation.address = device_of(driver, allocation.device).arena->allocate(allocation.bytes);
  if (allocation.address == 0) return kOutOfMemory;
  allocation.id = driver.next_id++;
  driver.memory.add(allocation);
  *out = allocation.address;
  return kSuccess;
}

// Returns the number of bytes whose free is queued on any stream except `without`.
uint64_t freeing_bytes(const Pool &pool, const Stream *without) {
  uint64_t bytes = 0;
  for (const auto &[point, size] : pool.freeing) {
    if (point.stream.get() != without) bytes += size;
  }
  return bytes;
}

void forget_done(Pool &pool) {
  std::erase_if(pool.freeing, [](const auto &free) { return reached(free.first); });
}

// Reserves bytes of a pool. Appends to `waits` the points for which the allocation must wait. The
// allocation can immediately reuse memory that the same stream freed earlier.
int reserve_of_pool(Driver &driver, Pool &pool, const Stream *stream, uint64_t bytes,
                    std::vector<Point> &waits) {
  forget_done(pool);
  const uint64_t available = driver.free_bytes(pool.device) + pool.reserved;
  const uint64_t limit = pool.max_bytes == 0 ? available : std::min(available, pool.max_bytes);
  if (pool.used > limit || bytes > limit - pool.used) return kOutOfMemory;
  const uint64_t others = freeing_bytes(pool, stream);
  if (pool.used + bytes + others > limit) {
    // The allocation reuses memory whose free is pending, so it waits for the free.
    for (const auto &[point, size] : pool.freeing) waits.push_back(point);
  }
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved = std::max(pool.reserved, std::min(pool.used + others, limit));
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved);
  return kSuccess;
}

bool overlaps(Driver &driver, uint64_t address, uint64_t bytes) {
  if (driver.memory.find(address) != nullptr) return true;
  const auto next = driver.memory.all().lower_bound(address);
  return next != driver.memory.all().end() && next->first - address < bytes;
}

enum : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kThreshold = 4,
  kReserved = 5,
  kReservedHigh = 6,
  kUsed = 7,
  kUsedHigh = 8
};

}  // namespace

uint64_t Driver::free_bytes(int device) const {
  uint64_t taken = devices[static_cast<size_t>(device)].allocated;
  for (const auto &pool : every_pool) {
    if (pool->device == device) taken += pool->reserved;
  }
  return taken < config.memory ? config.memory - taken : 0;
}

int allocate(Driver &driver, Context &context, uint64_t bytes, uint64_t *out) {
  if (bytes == 0) return kInvalidValue;
  if (bytes > driver.free_bytes(context.device)) return kOutOfMemory;
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.device = context.device;
  allocation.context = &context;
  const int code = add_from_arena(driver, allocation, out);
  if (code == kSuccess) device_of(driver, context.device).allocated += bytes;
  return code;
}

void forget_allocation(Driver &driver, uint64_t address) {
  const Allocation *found = driver.memory.at(address);
  if (found == nullptr) return;
  const Allocation allocation = *found;
  driver.memory.remove(address);
  switch (allocation.kind) {
    case MemoryKind::kDevice:
      device_of(driver, allocation.device).allocated -= allocation.bytes;
      device_of(driver, allocation.device).arena->release(address, allocation.bytes);
      return;
    case MemoryKind::kPool:
      if (!allocation.freeing) allocation.pool->used -= allocation.bytes;
      device_of(driver, allocation.device).arena->release(address, allocation.bytes);
      return;
    case MemoryKind::kManaged:
      device_of(driver, allocation.device).allocated -= allocation.bytes;
      std::free(reinterpret_cast<void *>(address));
      return;
    case MemoryKind::kPinned:
      std::free(reinterpret_cast<void *>(address));
      return;
    case MemoryKind::kRegistered:
      return;
  }
}

int release(Driver &driver, Lock &lock, Context &context, uint64_t address) {
  const Allocation *found = driver.memory.at(address);
  if (found == nullptr || found->freeing) return kInvalidValue;
  const MemoryKind kind = found->kind;
  if (kind == MemoryKind::kPinned || kind == MemoryKind::kRegistered) return kInvalidValue;
  if (kind != MemoryKind::kPool) driver.engine.wait_all(lock, &context);
  forget_allocation(driver, address);
  return kSuccess;
}

int allocate_async(Driver &driver, const std::shared_ptr<Stream> &stream,
                   const std::shared_ptr<Pool> &pool, uint64_t bytes, uint64_t *out) {
  if (bytes == 0) return kInvalidValue;
  std::vector<Point> waits;
  const int code = reserve_of_pool(driver, *pool, stream.get(), bytes, waits);
  if (code != kSuccess) return code;
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kPool;
  allocation.device = pool->device;
  allocation.context = stream->context;
  allocation.pool = pool;
  const int added = add_from_arena(driver, allocation, out);
  if (added != kSuccess) {
    pool->used -= bytes;
    return added;
  }
  Work work = {WorkKind::kAlloc, [] { return kSuccess; }};
  if (stream->capture != nullptr) {
    keep_for_graph(driver, stream, *out);
    return submit(driver, stream, std::move(work));
  }
  driver.memory.at(*out)->ready = driver.engine.enqueue(stream, std::move(work), std::move(waits));
  return kSuccess;
}

int release_async(Driver &driver, const std::shared_ptr<Stream> &stream, uint64_t address) {
  Allocation *found = driver.memory.at(address);
  if (found == nullptr || found->freeing) return kInvalidValue;
  if (found->kind != MemoryKind::kPool && found->kind != MemoryKind::kDevice) return kInvalidValue;
  // In a failed context, the free is queued on the stream and does not become a node of the graph.
  if (stream->capture != nullptr && stream->context->failure == kSuccess) {
    return submit(driver, stream, {WorkKind::kFree, [] { return kSuccess; }});
  }
  found->freeing = true;
  const uint64_t id = found->id, bytes = found->bytes;
  const std::shared_ptr<Pool> pool = found->pool;
  Context *const context = stream->context;
  Work work = {WorkKind::kFree, [&driver, context, address, id, ready = found->ready, stream] {
                 const Lock lock(driver.mutex);
                 const Allocation *still = driver.memory.at(address);
                 if (still == nullptr || still->id != id) return static_cast<int>(kSuccess);
                 const bool dead = context->failure != kSuccess;
                 if (!dead && !reached(ready) && ready.stream != stream) {
                   violation(driver, context,
                             "memory was freed in another stream before the "
                             "stream that allocates it got there");
                   return static_cast<int>(kIllegalAddress);
                 }
                 forget_allocation(driver, address);
                 return static_cast<int>(kSuccess);
               }};
  const Point point = driver.engine.enqueue(stream, std::move(work));
  if (pool != nullptr) {
    pool->used -= bytes;
    pool->freeing.emplace_back(point, bytes);
  }
  return kSuccess;
}

int allocate_host(Driver &driver, Context *context, uint64_t bytes, unsigned flags, MemoryKind kind,
                  void **out) {
  if (bytes == 0) return kInvalidValue;
  const bool managed = kind == MemoryKind::kManaged;
  if (managed && bytes > driver.free_bytes(context->device)) return kOutOfMemory;
  void *memory = nullptr;
  if (bytes > (uint64_t{1} << 40) || posix_memalign(&memory, 4096, bytes) != 0) {
    return kOutOfMemory;
  }
  Allocation allocation;
  allocation.address = reinterpret_cast<uint64_t>(memory);
  allocation.bytes = bytes;
  allocation.id = driver.next_id++;
  allocation.kind = kind;
  allocation.device = context->device;
  allocation.context = context;
  allocation.flags = flags;
  allocation.mapped = managed;
  driver.memory.add(allocation);
  if (managed) device_of(driver, context->device).allocated += bytes;
  *out = memory;
  return kSuccess;
}

int release_host(Driver &driver, void *address) {
  const Allocation *found = driver.memory.at(reinterpret_cast<uint64_t>(address));
  if (found == nullptr || found->kind != MemoryKind::kPinned) return kInvalidValue;
  forget_allocation(driver, found->address);
  return kSuccess;
}

int register_host(Driver &driver, Context *context, void *address, uint64_t bytes, unsigned flags) {
  const uint64_t first = reinterpret_cast<uint64_t>(address);
  if (address == nullptr || bytes == 0) return kInvalidValue;
  if (overlaps(driver, first, bytes)) return kAlreadyRegistered;
  if (!host_may_touch(address, bytes)) return kInvalidValue;
  Allocation allocation;
  allocation.address = first;
  allocation.bytes = bytes;
  allocation.id = driver.next_id++;
  allocation.kind = MemoryKind::kRegistered;
  allocation.device = context->device;
  allocation.context = context;
  allocation.flags = flags;
  driver.memory.add(allocation);
  return kSuccess;
}

int unregister_host(Driver &driver, void *address) {
  const Allocation *found = driver.memory.at(reinterpret_cast<uint64_t>(address));
  if (address == nullptr) return kInvalidValue;
  if (found == nullptr || found->kind != MemoryKind::kRegistered) return kNotRegistered;
  forget_allocation(driver, found->address);
  return kSuccess;
}

std::shared_ptr<Pool> make_pool(Driver &driver, int device, uint64_t max_bytes) {
  auto pool = std::make_shared<Pool>();
  pool->handle = driver.new_handle();
  pool->device = device;
  pool->max_bytes = max_bytes;
  driver.pools.add(pool->handle, pool);
  // Destroyed pools without allocations are referenced by this list only and can be removed.
  std::erase_if(driver.every_pool, [](const auto &known) { return known.use_count() == 1; });
  driver.every_pool.push_back(pool);
  return pool;
}

void trim_pool(Pool &pool, uint64_t keep) {
  forget_done(pool);
  const uint64_t used = pool.used + freeing_bytes(pool, nullptr);
  pool.reserved = std::max(std::min(pool.reserved, keep), std::min(used, pool.reserved));
}

void release_over_threshold(Driver &driver) {
  for (const auto &pool : driver.every_pool) trim_pool(*pool, pool->threshold);
}

int set_pool_access(Driver &driver, Pool &pool, int device, int flags) {
  const bool known = flags == 0 || flags == 1 || flags == 3;
  if (!known || !driver.has_device(device) || (device == pool.device && flags != 3)) {
    return kInvalidValue;
  }
  pool.access[device] = flags;
  return kSuccess;
}

int pool_access(const Pool &pool, int device) {
  const auto found = pool.access.find(device);
  return found != pool.access.end() ? found->second : device == pool.device ? 3 : 0;
}

int destroy_pool(Driver &driver, const std::shared_ptr<Pool> &pool) {
  if (pool->is_default) return kInvalidValue;
  driver.pools.remove(pool->handle);
  // Used memory of a destroyed pool stays valid until it is freed; unused memory is freed
  // immediately.
  trim_pool(*pool, 0);
  pool->threshold = 0;
  return kSuccess;
}

int set_pool_attribute(Pool &pool, int attribute, const void *value) {
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    std::memcpy(&pool.reuse[attribute - kReuseFirst], value, sizeof(int));
    return kSuccess;
  }
  uint64_t number = 0;
  std::memcpy(&number, value, sizeof(number));
  if (attribute == kThreshold) {
    pool.threshold = number;
    return kSuccess;
  }
  if (number != 0) return kInvalidValue;
  if (attribute == kReservedHigh) {
    pool.reserved_high = pool.reserved;
  } else if (attribute == kUsedHigh) {
    pool.used_high = pool.used;
  } else {
    return kInvalidValue;
  }
  return kSuccess;
}

int get_pool_attribute(const Pool &pool, int attribute, void *value) {
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    std::memcpy(value, &pool.reuse[attribute - kReuseFirst], sizeof(int));
    return kSuccess;
  }
  const uint64_t *number = attribute == kThreshold      ? &pool.threshold
                           : attribute == kReserved     ? &pool.reserved
                           : attribute == kReservedHigh ? &pool.reserved_high
                           : attribute == kUsed         ? &pool.used
                           : attribute == kUsedHigh     ? &pool.used_high
                                                        : nullptr;
  if (number == nullptr) return kInvalidValue;
  std::memcpy(value, number, sizeof(*number));
  return kSuccess;
}

}  // namespace sim
