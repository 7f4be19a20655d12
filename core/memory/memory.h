// SPDX-License-Identifier: Apache-2.0
// Arrays that own or borrow memory. A device has allocated the memory, or another owner provides
// it.
#ifndef GUFUNC_CORE_MEMORY_MEMORY_H
#define GUFUNC_CORE_MEMORY_MEMORY_H

#include "core/array/array.h"
#include "core/backend/backend.h"
#include "core/base/callbacks.h"

namespace gufunc::memory {

// One allocation of a device. It is freed when the last array that uses it is freed.
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
  int32_t kind_;  // a guf_memory_kind
  uint64_t address_ = 0;
  uint64_t nbytes_ = 0;
  uint32_t fork_epoch_ = 0;
};

// Memory of another owner. If `arm` was called, the destructor of the derived class notifies the
// owner that the memory is no longer used.
class BorrowedMemory : public base::Object {
 public:
  BorrowedMemory() : Object(base::Kind::kArray) {}
  void arm() { armed_ = true; }
  void disarm() { armed_ = false; }
  bool armed() const { return armed_; }

 private:
  bool armed_ = false;
};

// Memory of the program. Its callback notifies the program that the memory is no longer used.
class WrappedMemory final : public BorrowedMemory {
 public:
  WrappedMemory(guf_release_fn callback, void *user, uint64_t address, bool any_thread);
  ~WrappedMemory() override;  // runs or queues the callback

 private:
  base::DeferredCallback callback_;
  bool any_thread_;
};

// Storage in memory of another owner. Work on the default stream does not retain the arrays that it
// uses, so the destructor releases device memory only when this work is done.
class BorrowedStorage : public array::Storage {
 public:
  // `default_stream` is the default stream of the device. It is empty for host memory.
  BorrowedStorage(base::Ref<BorrowedMemory> memory, base::Ref<backend::Stream> default_stream)
      : memory_(std::move(memory)), default_stream_(std::move(default_stream)) {}
  ~BorrowedStorage() override;
  void arm() { memory_->arm(); }

 private:
  base::Ref<BorrowedMemory> memory_;
  base::Ref<backend::Stream> default_stream_;
};

// Allocates a new array with unspecified values. If `strides` is nullptr, the layout follows
// `order` (C or F). Also frees memory whose release was deferred.
guf_status allocate(backend::Device &device, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                    const int64_t *strides, int32_t order, base::Ref<array::Array> *out,
                    guf_error *error);

// Allocates an array in host memory for use with `device`. `kind` is a guf_memory_kind other than
// DEVICE. The array belongs to the cpu device.
guf_status allocate_host(backend::Device &device, int32_t kind, guf_dtype dtype, int32_t ndim,
                         const int64_t *shape, const int64_t *strides, int32_t order,
                         base::Ref<array::Array> *out, guf_error *error);

// Wraps memory of the caller. The release callback runs only if `arm_release` is called, which
// callers must do after the last step that can fail.
guf_status wrap(const guf_tensor &tensor, backend::Device *device, guf_release_fn release,
                void *user, uint32_t flags, base::Ref<array::Array> *out, guf_error *error);
void arm_release(const array::Array &wrapped);
// Like `wrap`, for memory that `storage` releases.
guf_status wrap_in(const guf_tensor &tensor, backend::Device *device,
                   const base::Ref<array::Storage> &storage, base::Ref<array::Array> *out,
                   guf_error *error);

// Frees memory whose release was deferred, then runs at most `max` queued release callbacks (all of
// them if `max` is 0). Returns the number of callbacks that ran.
uint32_t run_callbacks(uint32_t max);

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_MEMORY_H
