// SPDX-License-Identifier: Apache-2.0
// Ranges are few, and looked for by calls that take long: a list that only grows, whose places are
// used again. Readers take no lock.
#include "core/memory/page_locks.h"

#include <atomic>
#include <mutex>

#include "core/base/fork.h"
#include "core/memory/storage.h"

namespace gufunc::memory {
namespace {

struct LockedRange {
  std::atomic<const backend::Device *> device = nullptr;
  std::atomic<uint64_t> address = 0;
  std::atomic<uint64_t> size = 0;  // 0: a free place
  LockedRange *next = nullptr;
};
constinit std::atomic<LockedRange *> ranges = nullptr;
constinit base::ForkLock ranges_lock;  // of writers

LockedRange *free_place() {
  for (LockedRange *range = ranges; range != nullptr; range = range->next) {
    if (range->size == 0) return range;
  }
  auto *const made = new LockedRange;
  made->next = ranges;
  ranges = made;
  return made;
}

}  // namespace

void note_page_locked(const backend::Device &device, uint64_t address, uint64_t size) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  LockedRange *const range = free_place();
  range->device = &device;
  range->address = address;
  range->size = size;
}

void forget_page_locked(const backend::Device &device, uint64_t address) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  for (LockedRange *range = ranges; range != nullptr; range = range->next) {
    if (range->device == &device && range->address == address) range->size = 0;
  }
}

bool is_page_locked(const op::OperandView &operand, const backend::Device &device) {
  if (operand.array != nullptr) {
    const auto *const owned = dynamic_cast<const OwnedStorage *>(operand.array->storage().get());
    if (owned != nullptr) {
      const bool locked = owned->kind() == GUF_MEMORY_PINNED || owned->kind() == GUF_MEMORY_MAPPED;
      return locked && &owned->device() == &device;
    }
  }
  for (const LockedRange *range = ranges; range != nullptr; range = range->next) {
    const uint64_t size = range->size, first = range->address;
    if (size != 0 && range->device == &device && operand.span.first >= first &&
        operand.span.end - first <= size) {
      return true;
    }
  }
  return false;
}

}  // namespace gufunc::memory
