// SPDX-License-Identifier: Apache-2.0
// Releases memory: to the device's allocator, or to the program through its callback.
#include "core/memory/storage.h"

#include "core/base/fork.h"

namespace gufunc::memory {

guf_status OwnedStorage::allocate(uint64_t nbytes, guf_error *error) {
  backend::ErrorRecord record(error);
  GUF_TRY(device_.backend->api.memory_alloc(device_.native, nbytes, kind_, nullptr, &address_,
                                            record.get()));
  nbytes_ = nbytes;
  fork_epoch_ = base::fork_epoch();
  return GUF_OK;
}

OwnedStorage::~OwnedStorage() {
  if (address_ == 0) return;
  // A forked child has its own copy of host memory, but must not use its parent's device memory.
  if (!device_.host_memory && fork_epoch_ != base::fork_epoch()) return;
  backend::ErrorRecord record(nullptr);
  device_.backend->api.memory_free(device_.native, address_, nbytes_, kind_, nullptr, record.get());
}

WrappedMemory::WrappedMemory(guf_release_fn callback, void *user, uint64_t address, bool any_thread)
    : any_thread_(any_thread) {
  if (callback != nullptr) callback_ = base::DeferredCallback(callback, user, address);
}

WrappedMemory::~WrappedMemory() {
  if (!armed()) return;
  if (any_thread_) {
    callback_.run_now();
  } else {
    callback_.queue();
  }
}

BorrowedStorage::~BorrowedStorage() {
  if (!memory_->armed() || !default_stream_) return;
  if (default_stream_->fork_epoch == base::fork_epoch()) {
    backend::retain_until_done(*default_stream_, *memory_);
  } else {
    memory_->disarm();  // a child must not use its parent's device memory
  }
}

}  // namespace gufunc::memory
