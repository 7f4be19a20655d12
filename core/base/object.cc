// SPDX-License-Identifier: Apache-2.0
// The handle table. A handle is (slot index << 32 | generation << 8 | kind) XOR a cookie of this
// copy of the library. Slots are allocated in slabs that are never freed, so the slot of a stale
// handle can always be read. A slot whose generations are exhausted is never used again.
#include "core/base/object.h"

#include <algorithm>
#include <mutex>
#include <new>

#include "core/base/fork.h"

namespace gufunc::base {

// Unreferenced objects that collect() will free: a lock-free stack that any thread may push to.
class DeferredReleases {
 public:
  static void push(Object *object) {
    object->next_dead_ = top_.load(std::memory_order_relaxed);
    while (!top_.compare_exchange_weak(object->next_dead_, object, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
  }
  static void empty();

 private:
  static inline std::atomic<Object *> top_{nullptr};
};

namespace {

// state = stamp << 32 | external references. stamp = generation << 8 | kind, as in the handle.
struct Slot {
  std::atomic<uint64_t> state{0};
  std::atomic<Object *> object{nullptr};
};

constexpr uint32_t kSlabBits = 12;
constexpr uint32_t kSlabSize = 1U << kSlabBits;
constexpr uint32_t kMaxSlabs = 1U << 14;
constexpr uint32_t kImmortal = 0xFFFFFFFFU;
constexpr uint32_t kLastGeneration = 0xFFFFFFU;

constexpr uint32_t stamp_of(uint64_t state) {
  return static_cast<uint32_t>(state >> 32);
}
constexpr uint32_t count_of(uint64_t state) {
  return static_cast<uint32_t>(state);
}
constexpr uint64_t make_state(uint32_t stamp, uint32_t count) {
  return static_cast<uint64_t>(stamp) << 32 | count;
}
constexpr uint32_t next_stamp(uint32_t stamp) {
  return stamp + (1U << 8);
}
constexpr bool used_up(uint32_t stamp) {
  return stamp >> 8 == kLastGeneration;
}

std::atomic<Slot *> slabs[kMaxSlabs];
std::atomic<uint32_t> nslots{0};

// Guards the growth of the table and the free list. Lookup, retain and release do not lock.
struct Growth {
  ForkLock mutex;  // a child that is forked while the lock is held can still acquire its copy

  bool pop(uint32_t *out_index) {
    const uint32_t count = nfree.load(std::memory_order_relaxed);
    if (count == 0) return false;
    *out_index = free.load(std::memory_order_relaxed)[count - 1];
    nfree.store(count - 1, std::memory_order_release);
    return true;
  }
  void push(uint32_t index) {
    const uint32_t count = nfree.load(std::memory_order_relaxed);
    free.load(std::memory_order_relaxed)[count] = index;
    nfree.store(count + 1, std::memory_order_release);
  }
  // Makes room for `capacity` free slots, so that push() never allocates. The old array stays valid
  // until the new one is in place, because another thread may fork at any time.
  void reserve(uint32_t capacity) {
    auto *const larger = new uint32_t[capacity];
    uint32_t *const old = free.load(std::memory_order_relaxed);
    std::copy_n(old, nfree.load(std::memory_order_relaxed), larger);
    free.store(larger, std::memory_order_release);
    delete[] old;
  }

  std::atomic<uint32_t *> free{nullptr};  // indices of the free slots
  std::atomic<uint32_t> nfree{0};
};
Growth &growth() {
  alignas(Growth) static char place[sizeof(Growth)];
  static Growth *const instance = new (place) Growth;  // never destroyed, as it is used during exit
  return *instance;
}

// Returns a value that differs between copies of the library in one process. The value also differs
// between processes if the addresses of libraries are randomized.
uint64_t cookie() {
  static const uint64_t value =
      (reinterpret_cast<uint64_t>(&slabs) * 0x9E3779B97F4A7C15ULL) | (1ULL << 63);
  return value;
}
const uint64_t kCookie = cookie();

[[gnu::always_inline]] inline Slot *slot_at(uint32_t index) {
  if (index >= nslots.load(std::memory_order_acquire)) return nullptr;
  return slabs[index >> kSlabBits].load(std::memory_order_relaxed) + (index & (kSlabSize - 1));
}

// Returns the slot of a live handle and the state read from it, or nullptr for other handles.
[[gnu::always_inline]] inline Slot *live_slot(uint64_t handle, Kind kind, uint64_t *out_state) {
  const uint64_t bits = handle ^ kCookie;
  Slot *const slot = slot_at(static_cast<uint32_t>(bits >> 32));
  if (slot == nullptr) return nullptr;
  const uint64_t state = slot->state.load(std::memory_order_acquire);
  const auto stamp = static_cast<uint32_t>(bits);
  if (stamp_of(state) != stamp || (stamp & 0xFFU) != static_cast<uint32_t>(kind) ||
      count_of(state) == 0) {
    return nullptr;
  }
  *out_state = state;
  return slot;
}

uint32_t take_slot(Kind kind, Object *object) {
  Growth &table = growth();
  const std::lock_guard<ForkLock> lock(table.mutex);
  uint32_t index = 0;
  if (!table.pop(&index)) {
    index = nslots.load(std::memory_order_relaxed);
    if (index >> kSlabBits >= kMaxSlabs) throw std::bad_alloc();
    if ((index & (kSlabSize - 1)) == 0) {
      table.reserve(index + kSlabSize);
      slabs[index >> kSlabBits].store(new Slot[kSlabSize], std::memory_order_relaxed);
    }
    nslots.store(index + 1, std::memory_order_release);
  }
  Slot *const slot = slot_at(index);
  const uint32_t generation = stamp_of(slot->state.load(std::memory_order_relaxed)) >> 8;
  slot->object.store(object, std::memory_order_relaxed);
  slot->state.store(make_state(generation << 8 | static_cast<uint32_t>(kind), 0),
                    std::memory_order_release);
  return index;
}

void free_slot(uint32_t index) {
  Slot *const slot = slot_at(index);
  slot->object.store(nullptr, std::memory_order_relaxed);
  if (used_up(stamp_of(slot->state.load(std::memory_order_relaxed)))) return;  // never used again
  Growth &table = growth();
  const std::lock_guard<ForkLock> lock(table.mutex);
  table.push(index);
}

}  // namespace

// Gives the handle table access to Object::slot_, which is private.
struct Handles {
  static std::atomic<uint32_t> &slot(Object *object) { return object->slot_; }
};

void Object::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) DeferredReleases::push(this);
}

void DeferredReleases::empty() {
  // A destructor releases the references that its object held, which may push further objects.
  while (top_.load(std::memory_order_relaxed) != nullptr) {
    Object *dead = top_.exchange(nullptr, std::memory_order_acquire);
    while (dead != nullptr) {
      Object *const next = dead->next_dead_;
      const uint32_t slot = dead->slot_.load(std::memory_order_relaxed);
      delete dead;
      if (slot != 0) free_slot(slot - 1);
      dead = next;
    }
  }
}

void collect() {
  DeferredReleases::empty();
}

uint64_t publish(Object *object, bool immortal) {
  std::atomic<uint32_t> &place = Handles::slot(object);
  for (;;) {
    uint32_t index = place.load(std::memory_order_acquire);
    if (index == 0) {
      const uint32_t fresh = take_slot(object->kind(), object) + 1;
      if (!place.compare_exchange_strong(index, fresh, std::memory_order_acq_rel)) {
        free_slot(fresh - 1);
        continue;
      }
      index = fresh;
    }
    Slot *const slot = slot_at(index - 1);
    uint64_t state = slot->state.load(std::memory_order_acquire);
    if (used_up(stamp_of(state)) && count_of(state) == 0) {
      // All generations of this slot have been used, so the object needs another slot.
      place.compare_exchange_strong(index, 0, std::memory_order_acq_rel);
      continue;
    }
    const uint32_t count = count_of(state);
    if (count == 0) object->retain();
    const uint32_t requested = immortal || count == kImmortal ? kImmortal : count + 1;
    if (slot->state.compare_exchange_strong(state, make_state(stamp_of(state), requested),
                                            std::memory_order_acq_rel)) {
      return (static_cast<uint64_t>(index - 1) << 32 | stamp_of(state)) ^ kCookie;
    }
    if (count == 0) object->release();
  }
}

Object *find(uint64_t handle, Kind kind) {
  uint64_t state = 0;
  const Slot *const slot = live_slot(handle, kind, &state);
  return slot == nullptr ? nullptr : slot->object.load(std::memory_order_relaxed);
}

bool retain(uint64_t handle, Kind kind) {
  for (;;) {
    uint64_t state = 0;
    Slot *const slot = live_slot(handle, kind, &state);
    if (slot == nullptr) return false;
    if (count_of(state) == kImmortal) return true;
    if (slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) return true;
  }
}

bool release(uint64_t handle, Kind kind) {
  for (;;) {
    uint64_t state = 0;
    Slot *const slot = live_slot(handle, kind, &state);
    if (slot == nullptr) return false;
    if (count_of(state) == kImmortal) return true;
    Object *const object = slot->object.load(std::memory_order_relaxed);
    const bool last = count_of(state) == 1;
    const uint64_t after = last ? make_state(next_stamp(stamp_of(state)), 0) : state - 1;
    if (!slot->state.compare_exchange_weak(state, after, std::memory_order_acq_rel)) continue;
    if (last) object->release();
    return true;
  }
}

const char *kind_name(Kind kind) {
  static constexpr const char *kNames[] = {"object", "context", "device", "stream",
                                           "event",  "array",   "ufunc",  "module",
                                           "plan",   "graph",   "kernel", "device"};
  const auto index = static_cast<size_t>(kind);
  return kNames[index < sizeof kNames / sizeof kNames[0] ? index : 0];
}

guf_status fail_handle(const char *parameter, Kind kind, guf_error *error) {
  return fail(
      error, GUF_E_HANDLE, kNone, kNone,
      "%s is not a live %s handle: it was freed, is of another kind, or is not of this library",
      parameter, kind_name(kind));
}

}  // namespace gufunc::base
