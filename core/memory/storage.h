// SPDX-License-Identifier: Apache-2.0
// The memory of arrays, which a device has allocated or which the program owns.
#ifndef GUFUNC_CORE_MEMORY_STORAGE_H
#define GUFUNC_CORE_MEMORY_STORAGE_H

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

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_STORAGE_H
