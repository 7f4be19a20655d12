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

// Memory of somebody else, who is told when this dies that it is free again; from `arm` on.
class Lent : public base::Object {
 public:
  Lent() : Object(base::Kind::kArray) {}
  void arm() { armed_ = true; }
  void disarm() { armed_ = false; }
  bool armed() const { return armed_; }

 private:
  bool armed_ = false;
};

// The program's: it is told by its callback.
class WrappedMemory final : public Lent {
 public:
  WrappedMemory(guf_release_fn release, void *user, uint64_t address, bool any_thread);
  ~WrappedMemory() override;  // calls it, or queues the call

 private:
  base::OwedCallback callback_;
  bool any_thread_;
};

// What is queued without a stream holds no array: device memory is given back behind it.
class LentStorage : public array::Storage {
 public:
  // `order`: that of work without a stream; none in host memory.
  LentStorage(base::Ref<Lent> memory, base::Ref<backend::Stream> order)
      : memory_(std::move(memory)), order_(std::move(order)) {}
  ~LentStorage() override;
  void arm() { memory_->arm(); }

 private:
  base::Ref<Lent> memory_;
  base::Ref<backend::Stream> order_;
};

}  // namespace gufunc::memory

#endif  // GUFUNC_CORE_MEMORY_STORAGE_H
