// SPDX-License-Identifier: Apache-2.0
// The list of page-locked ranges. It is a linked list, because there are few
// ranges, and the calls that search it are slow anyway. The list only grows; unused
// entries are reused. Readers take no lock.
#include "core/memory/page_locks.h"

#include <atomic>
#include <mutex>

#include "core/base/fork.h"
#include "core/memory/memory.h"

namespace gufunc::memory {
namespace {

struct LockedRange {
  std::atomic<const backend::Device *> device = nullptr;
  std::atomic<uint64_t> address = 0;
  std::atomic<uint64_t> size = 0;  // 0 if the entry is unused
  std::atomic<bool> locked = false;
  LockedRange *next = nullptr;

  // The entry must be in use. The end of a range may be the end of the address space.
  bool overlaps(uint64_t other, uint64_t other_size) const {
    return address <= other ? other - address < size : address - other < other_size;
  }
};
constinit std::atomic<LockedRange *> ranges = nullptr;
constinit base::ForkLock ranges_lock;  // taken by writers only

LockedRange *free_place() {
  for (LockedRange *range = ranges; range != nullptr; range = range->next) {
    if (range->size == 0) return range;
  }
  auto *const made = new LockedRange;
  made->next = ranges;
  ranges = made;
  return made;
}

LockedRange *find_range(const backend::Device &device, uint64_t address) {
  for (LockedRange *range = ranges; range != nullptr; range = range->next) {
    if (range->size != 0 && range->device == &device && range->address == address) return range;
  }
  return nullptr;
}

}  // namespace

guf_status reserve_page_lock(const backend::Device &device, uint64_t address, uint64_t size,
                             guf_error *error) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  for (LockedRange *range = ranges; range != nullptr; range = range->next) {
    const backend::Device *const owner = range->device;
    if (range->size == 0 || owner->backend != device.backend) continue;
    if (!range->overlaps(address, size)) continue;
    return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                      "address: %llu bytes at 0x%llx overlap %llu bytes at 0x%llx, which are "
                      "registered with %s",
                      static_cast<unsigned long long>(size),
                      static_cast<unsigned long long>(address),
                      static_cast<unsigned long long>(range->size),
                      static_cast<unsigned long long>(range->address), owner->spec.c_str());
  }
  LockedRange *const range = free_place();
  range->locked = false;
  range->device = &device;
  range->address = address;
  range->size = size;
  return GUF_OK;
}

void note_page_locked(const backend::Device &device, uint64_t address) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  if (LockedRange *const range = find_range(device, address)) range->locked = true;
}

guf_status end_page_lock(const backend::Device &device, uint64_t address, guf_error *error) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  LockedRange *const range = find_range(device, address);
  if (range == nullptr || !range->locked) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "address: no memory that is registered with %s begins at 0x%llx",
                      device.spec.c_str(), static_cast<unsigned long long>(address));
  }
  range->locked = false;
  return GUF_OK;
}

void forget_page_lock(const backend::Device &device, uint64_t address) {
  const std::lock_guard<base::ForkLock> hold(ranges_lock);
  if (LockedRange *const range = find_range(device, address)) range->size = 0;
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
    if (size != 0 && range->locked && range->device == &device && operand.span.first >= first &&
        operand.span.end - first <= size) {
      return true;
    }
  }
  return false;
}

}  // namespace gufunc::memory
