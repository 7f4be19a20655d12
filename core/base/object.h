// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects, and the handles that represent them in the C API.
#ifndef GUFUNC_CORE_BASE_OBJECT_H
#define GUFUNC_CORE_BASE_OBJECT_H

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/base/error.h"

namespace gufunc::base {

// The kind travels inside the handle; values are part of every handle's bits.
enum class Kind : uint8_t {
  kContext = 1,
  kDevice = 2,
  kStream = 3,
  kEvent = 4,
  kArray = 5,
  kUfunc = 6,
  kModule = 7,
  kPlan = 8,
  kGraph = 9,
  kKernel = 10,
  kAutomatic = 11,  // a device too: see backend::AutomaticDevice
};

const char *kind_name(Kind kind);  // "array"

// Anything a handle can stand for. Born with one internal reference, which belongs to its maker.
// Internal references go one way (array -> storage, plan -> ufunc -> module), never round.
class Object {
 public:
  explicit Object(Kind kind) : kind_(kind) {}
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;

  Kind kind() const { return kind_; }
  void keep() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Takes a reference unless the last one is gone. For registries that point at an object without
  // keeping it; its destructor must leave them first, under the lock that this is called under.
  bool try_keep() {
    uint32_t seen = references_.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (references_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  // Never blocks, frees nothing here: the last drop queues the object for `collect`.
  void drop();

 private:
  friend class Graveyard;
  friend struct Handles;
  const Kind kind_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint32_t> slot_{0};  // 1 + index into the handle table; 0: never published
  Object *next_dead_ = nullptr;
};

// Holds one internal reference.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(T *object) { return Ref(object); }  // takes over the maker's reference
  static Ref share(T *object) {
    if (object != nullptr) object->keep();
    return Ref(object);
  }
  Ref(const Ref &other) : Ref(share(other.object_)) {}
  Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->drop();
  }
  T *get() const { return object_; }
  void release() { object_ = nullptr; }  // keeps the reference for ever
  T *operator->() const { return object_; }
  T &operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(T *object) : object_(object) {}
  T *object_ = nullptr;
};

// Frees the objects whose last reference is gone; one load when there are none. Called where
// freeing is allowed: everywhere an object is made, poll, trim, shutdown; never by a release.
// Destructors may call drivers and queue callbacks.
void collect();

// Gives the caller one external reference. The first publication takes an internal reference that
// the last release drops. Throws std::bad_alloc. Immortal objects (devices) get a handle that
// release ignores.
uint64_t publish(Object *object, bool immortal = false);

// The object behind a live handle of this kind, or nullptr. About 2 ns; takes no reference.
Object *find(uint64_t handle, Kind kind);

// Adds or drops one external reference; false for anything but a live handle of this kind.
bool retain(uint64_t handle, Kind kind);
bool release(uint64_t handle, Kind kind);

// Says that `parameter` is no live handle of this kind.
[[gnu::cold, gnu::noinline]] guf_status fail_handle(const char *parameter, Kind kind,
                                                    guf_error *error);

// find() for the C API layer: handles are pointer-typed, and a failure has a text.
template <class T, class HandleType>
guf_status find_object(HandleType handle, const char *parameter, T **out, guf_error *error) {
  *out = static_cast<T *>(find(reinterpret_cast<uint64_t>(handle), T::kKind));
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  return fail_handle(parameter, T::kKind, error);
}

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_OBJECT_H
