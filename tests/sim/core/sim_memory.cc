// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_memory.h"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define SIM_POISON(address, bytes) \
  __asan_poison_memory_region(reinterpret_cast<const void *>(address), bytes)
#define SIM_UNPOISON(address, bytes) \
  __asan_unpoison_memory_region(reinterpret_cast<const void *>(address), bytes)
#else
#define SIM_POISON(address, bytes) static_cast<void>(0)
#define SIM_UNPOISON(address, bytes) static_cast<void>(0)
#endif

namespace sim {
namespace {

constexpr uint64_t kGrain = 512;    // alignment of addresses, as in the real allocators
constexpr uint64_t kRedZone = 512;  // minimum number of unused bytes after every allocation
constexpr uint64_t kGuardStep = uint64_t{1} << 20;
constexpr unsigned char kFresh = 0xCD;  // byte that fills new memory

uint64_t range_of(uint64_t bytes) {
  return (bytes + kGrain - 1) / kGrain * kGrain + kRedZone;
}

// Fills new memory with a nonzero pattern. Large allocations are filled only at both ends.
void fill_fresh(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kEnd = 64 << 10;
  char *memory = reinterpret_cast<char *>(address);
  if (bytes <= 2 * kEnd) {
    raw_fill(memory, kFresh, 1, bytes);
  } else {
    raw_fill(memory, kFresh, 1, kEnd);
    raw_fill(memory + bytes - kEnd, kFresh, 1, kEnd);
  }
}

}  // namespace

Arena::Arena(uint64_t memory, bool device_check) : device_check_(device_check) {
  // The address space includes room for quarantined ranges and for red zones around many small
  // allocations.
  size_ = std::max<uint64_t>(memory * 4, uint64_t{256} << 20);
  void *hint = reinterpret_cast<void *>(uint64_t{0x2000} << 32);
  void *place =
      mmap(hint, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    size_ = 0;
    return;
  }
  madvise(place, size_, MADV_DONTDUMP);
  base_ = reinterpret_cast<uint64_t>(place);
  known_end_ = base_;
  free_[base_] = size_;
}

Arena::~Arena() {
  if (size_ == 0) return;
  SIM_UNPOISON(base_, known_end_ - base_);
  munmap(reinterpret_cast<void *>(base_), size_);
}

uint64_t Arena::allocate_range(uint64_t bytes) {
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    if (at->second < bytes) continue;
    const auto [address, size] = *at;
    free_.erase(at);
    if (size > bytes) free_[address + bytes] = size - bytes;
    return address;
  }
  return 0;
}

// Makes all quarantined ranges available again.
void Arena::end_quarantine() {
  for (const auto &[address, bytes] : quarantined_) free_[address] = bytes;
  quarantined_.clear();
  for (auto at = free_.begin(); at != free_.end();) {
    const auto next = std::next(at);
    if (next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    } else {
      at = next;
    }
  }
}

uint64_t Arena::allocate(uint64_t bytes) {
  if (bytes > size_) return 0;
  const uint64_t range = range_of(bytes);
  uint64_t address = allocate_range(range);
  if (address == 0) {
    end_quarantine();
    address = allocate_range(range);
  }
  if (address == 0) return 0;
  const uint64_t end = address + range;
  if (end > known_end_) {
    const uint64_t to = std::min(base_ + size_, (end + kGuardStep - 1) / kGuardStep * kGuardStep);
    SIM_POISON(known_end_, to - known_end_);
    known_end_ = to;
  }
  fill_fresh(address, bytes);
  if (device_check_) SIM_UNPOISON(address, bytes);
  return address;
}

void Arena::release(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;
  SIM_POISON(address, bytes);
  const uint64_t first = (address + kPage - 1) / kPage * kPage;
  const uint64_t last = (address + bytes) / kPage * kPage;
  if (last > first) madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  quarantined_.emplace_back(address, range_of(bytes));
}

Allocation *MemoryTable::find(uint64_t address) {
  auto next = all_.upper_bound(address);
  if (next == all_.begin()) return nullptr;
  Allocation &candidate = std::prev(next)->second;
  return address - candidate.address < candidate.bytes ? &candidate : nullptr;
}

Allocation *MemoryTable::at(uint64_t address) {
  const auto found = all_.find(address);
  return found == all_.end() ? nullptr : &found->second;
}

#if defined(__SANITIZE_ADDRESS__) && defined(__x86_64__)
void raw_copy(void *to, const void *from, uint64_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
void raw_fill(void *to, uint64_t pattern, unsigned pattern_bytes, uint64_t count) {
  if (pattern_bytes == 1) {
    asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(pattern) : "memory");
  } else if (pattern_bytes == 2) {
    asm volatile("rep stosw" : "+D"(to), "+c"(count) : "a"(pattern) : "memory");
  } else {
    asm volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(pattern) : "memory");
  }
}
#else
void raw_copy(void *to, const void *from, uint64_t bytes) {
  std::memmove(to, from, bytes);
}
void raw_fill(void *to, uint64_t pattern, unsigned pattern_bytes, uint64_t count) {
  if (pattern_bytes == 1) {
    std::memset(to, static_cast<int>(pattern), count);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char *>(to) + i * pattern_bytes, &pattern, pattern_bytes);
  }
}
#endif

bool host_may_touch(const void *address, uint64_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return bytes == 0 || __asan_region_is_poisoned(const_cast<void *>(address), bytes) == nullptr;
#else
  static_cast<void>(address);
  static_cast<void>(bytes);
  return true;
#endif
}

uint64_t checksum(const void *address, uint64_t bytes) {
  uint64_t sum = bytes;
  const char *at = static_cast<const char *>(address);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    sum = (sum ^ word) * 0x9E37'79B9'7F4A'7C15u;
    sum ^= sum >> 29;
  }
  uint64_t rest = 0;
  std::memcpy(&rest, at, bytes);
  sum = (sum ^ rest) * 0x9E37'79B9'7F4A'7C15u;
  return sum ^ (sum >> 29);
}

}  // namespace sim
