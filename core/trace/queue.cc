// SPDX-License-Identifier: Apache-2.0
// Each cell of the queue has a sequence number. A producer may write the cell of position p if the
// number is p, and the consumer may read it if the number is p + 1.
#include "core/trace/queue.h"

#include <new>

namespace gufunc::trace {

bool Queue::allocate() {
  cells_.reset(new (std::nothrow) Cell[kCells]);
  if (cells_ == nullptr) return false;
  for (uint64_t i = 0; i < kCells; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  return true;
}

bool Queue::put(const Record &record) {
  uint64_t place = tail_.load(std::memory_order_relaxed);
  for (;;) {
    Cell &cell = cells_[place % kCells];
    const uint64_t sequence = cell.sequence.load(std::memory_order_acquire);
    if (sequence == place) {
      if (!tail_.compare_exchange_weak(place, place + 1, std::memory_order_relaxed)) continue;
      cell.record = record;
      cell.sequence.store(place + 1, std::memory_order_release);
      return true;
    }
    if (sequence < place) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    place = tail_.load(std::memory_order_relaxed);
  }
}

bool Queue::take(Record *out) {
  Cell &cell = cells_[head_ % kCells];
  if (cell.sequence.load(std::memory_order_acquire) != head_ + 1) return false;
  *out = cell.record;
  cell.sequence.store(head_ + kCells, std::memory_order_release);
  ++head_;
  return true;
}

}  // namespace gufunc::trace
