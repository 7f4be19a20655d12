// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects, and the handles that represent them in the C API.
#ifndef GUFUNC_CORE_BASE_OBJECT_H
#define GUFUNC_CORE_BASE_OBJECT_H

#include <atomic>
#include <cstdint>
#include <utility>

#include "core/base/error.h"

namespace gufunc::base {

// The kind of an object. Every handle contains the kind of its object.
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
  kAutomatic = 11,  // also a device, see backend::AutomaticDevice
};

const char *kind_name(Kind kind);  // a name for messages, such as "array"

// Base class of everything that has a handle. A new object has one internal reference, which its
// creator owns. Internal references form no cycles (array -> storage, plan -> ufunc -> module).
class Object {
 public:
  explicit Object(Kind kind) : kind_(kind) {}
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() = default;

  Kind kind() const { return kind_; }
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // Adds a reference. Returns false, without adding a reference, if the last one is already gone.
  // Used by registries that point to an object without owning a reference. The object's destructor
  // must first remove the object from the registry, under the lock that guards this call.
  bool try_retain() {
    uint32_t seen = references_.load(std::memory_order_relaxed);
    while (seen != 0) {
      if (references_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }
  // Removes a reference. Never blocks or frees: the last release queues the object for collect().
  void release();

 private:
  friend class DeferredReleases;
  friend struct Handles;
  const Kind kind_;
  std::atomic<uint32_t> references_{1};
  std::atomic<uint32_t> slot_{0};  // 1 + index into the handle table; 0 if never published
  Object *next_dead_ = nullptr;
};

// Owns one internal reference.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref adopt(T *object) { return Ref(object); }  // takes over the creator's reference
  static Ref share(T *object) {
    if (object != nullptr) object->retain();
    return Ref(object);
  }
  Ref(const Ref &other) : Ref(share(other.object_)) {}
  Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) object_->release();
  }
  T *get() const { return object_; }
  void leak() { object_ = nullptr; }  // the reference is never released
  T *operator->() const { return object_; }
  T &operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(T *object) : object_(object) {}
  T *object_ = nullptr;
};

// Frees the objects whose last reference is gone. Costs one atomic load if there are no such
// objects. collect() is called by functions that create objects, by functions that wait, and by
// guf_poll, guf_device_trim_memory and guf_shutdown. A release never calls it. Destructors may call
// drivers and queue callbacks.
void collect();

// Adds one external reference and returns the handle. The first call for an object also adds an
// internal reference, which the last release removes. Throws std::bad_alloc. release() has no
// effect on the handle of an immortal object (a device).
uint64_t publish(Object *object, bool immortal = false);

// Returns the object of a live handle of this kind, or nullptr. Takes about 2 ns.
Object *find(uint64_t handle, Kind kind);

// Add or remove one external reference. Return false if `handle` is not a live handle of this kind.
bool retain(uint64_t handle, Kind kind);
bool release(uint64_t handle, Kind kind);

// Reports that `parameter` is not a live handle of this kind. Returns GUF_E_HANDLE.
[[gnu::cold, gnu::noinline]] guf_status fail_handle(const char *parameter, Kind kind,
                                                    guf_error *error);

// Like find(), with typed handles and an error message. For the C API layer.
template <class T, class HandleType>
guf_status find_object(HandleType handle, const char *parameter, T **out, guf_error *error) {
  *out = static_cast<T *>(find(reinterpret_cast<uint64_t>(handle), T::kKind));
  if (__builtin_expect(*out != nullptr, 1)) return GUF_OK;
  return fail_handle(parameter, T::kKind, error);
}

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_OBJECT_H
