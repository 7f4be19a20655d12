// SPDX-License-Identifier: Apache-2.0
// The memory of the simulated devices and the host memory that the driver has allocated or
// registered. MemoryTable records the owner of each address. Callers of all functions hold the
// driver's lock.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_MEMORY_H
#define GUFUNC_TESTS_SIM_CORE_SIM_MEMORY_H

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

namespace sim {

struct Context;
struct Pool;
struct Stream;

enum class MemoryKind { kDevice, kPool, kManaged, kPinned, kRegistered };

// A point in the work of a stream. The point is reached when the stream has completed `sequence`
// operations.
struct Point {
  std::shared_ptr<Stream> stream;
  uint64_t sequence = 0;
};

struct Allocation {
  uint64_t address = 0, bytes = 0;
  uint64_t id = 0;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;
  unsigned flags = 0;
  Context *context = nullptr;
  std::shared_ptr<Pool> pool;  // pool of a stream-ordered allocation
  Point ready;                 // point from which a stream-ordered allocation is valid
  bool freeing = false;        // a stream-ordered free is queued
  bool mapped = false;         // host memory that kernels can access
};

// Manages the addresses of one device. Freed ranges are quarantined before they are reused.
class Arena {
 public:
  Arena(uint64_t memory, bool device_check);
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena();

  // Returns the address of a range of `bytes` bytes, or 0 if no range is available. `bytes` must
  // not be 0.
  uint64_t allocate(uint64_t bytes);
  void release(uint64_t address, uint64_t bytes);
  bool holds(uint64_t address) const { return address >= base_ && address < base_ + size_; }

 private:
  uint64_t allocate_range(uint64_t bytes);
  void end_quarantine();

  uint64_t base_ = 0, size_ = 0;
  uint64_t known_end_ = 0;  // end of the part of the arena that AddressSanitizer guards
  bool device_check_;
  std::map<uint64_t, uint64_t> free_;  // indexed by address
  std::deque<std::pair<uint64_t, uint64_t>> quarantined_;
};

// All allocations of a driver by address.
class MemoryTable {
 public:
  void add(const Allocation &allocation) { all_[allocation.address] = allocation; }
  void remove(uint64_t address) { all_.erase(address); }
  // Returns the allocation that contains `address`, or null.
  Allocation *find(uint64_t address);
  // Returns the allocation that begins at the address, or null.
  Allocation *at(uint64_t address);
  std::map<uint64_t, Allocation> &all() { return all_; }

 private:
  std::map<uint64_t, Allocation> all_;
};

// Copies or fills without AddressSanitizer checks, because device memory is poisoned for the host.
void raw_copy(void *to, const void *from, uint64_t bytes);
void raw_fill(void *to, uint64_t pattern, unsigned pattern_bytes, uint64_t count);

// Returns whether AddressSanitizer allows the host to access these bytes.
bool host_may_touch(const void *address, uint64_t bytes);

// Returns a hash of the bytes at `address`.
uint64_t checksum(const void *address, uint64_t bytes);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_MEMORY_H
