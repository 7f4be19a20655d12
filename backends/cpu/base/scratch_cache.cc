// SPDX-License-Identifier: Apache-2.0
// Searches the slots of the cache, starting at the thread's own slot.
#include "backends/cpu/base/scratch_cache.h"

#include <pthread.h>

#include <cstdint>

#include "backends/cpu/base/cpu_host.h"

namespace gufunc::cpu {
namespace {

// Returns the slot at which the thread starts its search, a hash of the address of its descriptor.
// The descriptors of two threads are at least one stack apart, so threads usually start at
// different slots.
size_t own_slot() {
  return static_cast<size_t>(uint64_t{pthread_self()} * 0x9e3779b97f4a7c15u >> 58);
}

}  // namespace

void *ScratchCache::acquire() {
  static_assert(kSlots == 64);  // own_slot() returns six bits
  const size_t first = own_slot();
  for (size_t i = 0; i < kSlots; ++i) {
    std::atomic<void *> &slot = slots_[(first + i) % kSlots];
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (void *const piece = slot.exchange(nullptr, std::memory_order_acquire)) return piece;
  }
  return host_alloc(bytes_, kLine);
}

void ScratchCache::release(void *piece) {
  if (piece == nullptr) return;
  const size_t first = own_slot();
  for (size_t i = 0; i < kSlots; ++i) {
    void *none = nullptr;
    std::atomic<void *> &slot = slots_[(first + i) % kSlots];
    if (slot.compare_exchange_strong(none, piece, std::memory_order_release,
                                     std::memory_order_relaxed)) {
      return;
    }
  }
  host_free(piece);
}

void ScratchCache::clear() {
  for (std::atomic<void *> &slot : slots_) {
    host_free(slot.exchange(nullptr, std::memory_order_acquire));
  }
}

}  // namespace gufunc::cpu
