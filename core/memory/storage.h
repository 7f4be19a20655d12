// SPDX-License-Identifier: Apache-2.0
// Memory behind arrays: owned by a device's allocator, or wrapped from the program.
#ifndef GUFUNC_CORE_MEMORY_STORAGE_H
#define GUFUNC_CORE_MEMORY_STORAGE_H

#include "core/array/array.h"
#include "core/backend/backend.h"
#include "core/base/callbacks.h"

namespace gufunc::memory {

// One allocation of a device, freed with the last array over it.
class OwnedStorage final : public array::Storage {
 public:
  OwnedStorage(backend::Device &device, int32_t kind) : device_(device), kind_(kind) {}
  ~OwnedStorage() override;

  // Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
  guf_status allocate(uint64_t nbytes, guf_error *error);
  uint64_t address() const { return address_; }
  const backend::Device &device() const { return device_; }
  int32_t kind() const { return kind_; }

 private:
  backend::Device &device_;
  int32_t kind_;  // guf_memory_kind
  uint64_t address_ = 0;
  uint64_t nbytes_ = 0;
  uint32_t fork_epoch_ = 0;
};

// The program's callback, which tells it that its memory is free again.
class Release final : public base::Object {
 public:
  Release(guf_release_fn release, void *user, uint64_t address, bool any_thread);
  ~Release() override;  // calls it, or queues the call
  void arm() { armed_ = true; }
  void disarm() { armed_ = false; }

 private:
  base::OwedCallback callback_;
  bool any_thread_;
  bool armed_ = false;
};

// Memory of the program. What is queued without a stream holds no array: device memory is released
// behind it.
class WrappedStorage final : public array::Storage {
 public:
  // `order`: that of work without a stream; none in host memory.
  WrappedStorage(base::Ref<Release> release, base::Ref<backend::Stream> order)
      : release_(std::move(release)), order_(std::move(order)) {}
  ~WrappedStorage() override;
  // From now on the release is owed.
  void arm() { release_->arm(); }

 private:
  base::Ref<Release> release_;
  base::Ref<backend::Stream> order_;
};

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_STORAGE_H
