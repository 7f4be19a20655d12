// SPDX-License-Identifier: Apache-2.0
// Creates arrays in new memory of a device or in memory of the program. Returns memory to the
// device's allocator, or to the program by its callback.
#include "core/memory/memory.h"

#include <algorithm>

#include "core/array/overlap.h"
#include "core/backend/stream.h"
#include "core/base/callbacks.h"
#include "core/base/checked.h"
#include "core/base/fork.h"
#include "core/plugin/find_device.h"

namespace gufunc::memory {
namespace {

using array::Array;
using array::Layout;

guf_status check_dtype(guf_dtype dtype, guf_error *error) {
  if (dtype::valid(dtype)) return GUF_OK;
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone, "0x%08x is not a dtype", dtype);
}

// Checks the shape and strides, so that later arithmetic cannot overflow. If the strides are
// nullptr, stores contiguous strides for `order` in `buffer`.
guf_status check_layout(int32_t order, int64_t *buffer, Layout *layout, int64_t *out_low,
                        int64_t *out_high, guf_error *error) {
  GUF_TRY(check_dtype(layout->dtype, error));
  uint64_t size = 0;
  GUF_TRY(array::count_elements(layout->dtype, layout->ndim, layout->shape, &size, error));
  if (layout->strides == nullptr) {
    array::contiguous_strides(layout->dtype, layout->ndim, layout->shape,
                              order == GUF_ORDER_F ? GUF_ORDER_F : GUF_ORDER_C, buffer);
    layout->strides = buffer;
  }
  if (array::byte_bounds(*layout, out_low, out_high)) return GUF_OK;
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                    "array is too big; its strides exceed the address space");
}

struct Origin {
  backend::Device &device;  // the device that allocates the memory
  int32_t kind;
  backend::Device &owner;  // the device to which the array belongs
};

guf_status allocate_from(const Origin &origin, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                         const int64_t *strides, int32_t order, base::Ref<Array> *out,
                         guf_error *error) {
  backend::collect_pending();
  base::collect();
  int64_t buffer[GUF_MAX_NDIM];
  Layout layout = {dtype, ndim, shape, strides, 0};
  int64_t low = 0;
  int64_t high = 0;
  GUF_TRY(check_layout(order, buffer, &layout, &low, &high, error));
  if (strides != nullptr && array::overlaps_itself(layout)) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "strides make elements of the array overlap");
  }
  auto *const owned = new OwnedStorage(origin.device, origin.kind);
  const auto storage = base::Ref<array::Storage>::adopt(owned);
  GUF_TRY(owned->allocate(static_cast<uint64_t>(std::max<int64_t>(high - low, 1)), error));
  layout.address = owned->address() - static_cast<uint64_t>(low);
  *out = base::Ref<Array>::adopt(new Array(layout, GUF_ARRAY_OWNS_DATA, &origin.owner, storage));
  return GUF_OK;
}

}  // namespace

guf_status allocate(backend::Device &device, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                    const int64_t *strides, int32_t order, base::Ref<Array> *out,
                    guf_error *error) {
  return allocate_from({device, GUF_MEMORY_DEVICE, device}, dtype, ndim, shape, strides, order, out,
                       error);
}

guf_status allocate_host(backend::Device &device, int32_t kind, guf_dtype dtype, int32_t ndim,
                         const int64_t *shape, const int64_t *strides, int32_t order,
                         base::Ref<Array> *out, guf_error *error) {
  backend::Device *cpu = nullptr;
  GUF_TRY(plugin::cpu_device(&cpu, error));
  if (device.host_memory) return allocate(device, dtype, ndim, shape, strides, order, out, error);
  GUF_TRY(allocate_from({device, kind, *cpu}, dtype, ndim, shape, strides, order, out, error));
  if (kind != GUF_MEMORY_PINNED) (*out)->storage()->set_reader(&device);
  return GUF_OK;
}

guf_status wrap_in(const guf_tensor &tensor, backend::Device *device,
                   const base::Ref<array::Storage> &storage, base::Ref<Array> *out,
                   guf_error *error) {
  if ((tensor.flags & ~uint32_t{GUF_TENSOR_READ_ONLY | GUF_TENSOR_SWAPPED}) != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "tensor->flags has unknown bits: 0x%x", tensor.flags);
  }
  if (tensor.shape == nullptr && tensor.ndim > 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "tensor->shape is NULL with ndim %d", tensor.ndim);
  }
  int64_t buffer[GUF_MAX_NDIM];
  Layout layout = {tensor.dtype, tensor.ndim, tensor.shape, tensor.strides, tensor.address};
  int64_t low = 0;
  int64_t high = 0;
  GUF_TRY(check_layout(GUF_ORDER_C, buffer, &layout, &low, &high, error));
  if (low == high) {
    array::bound_strides(layout, buffer);
    layout.strides = buffer;
  }
  if (low != high && tensor.address == 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "tensor->address is 0, but the shape has elements");
  }
  if (dtype::is_structured(tensor.dtype) && (tensor.flags & GUF_TENSOR_SWAPPED) != 0) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "the structured dtype '%s' has no byte order to swap",
                      dtype::name(tensor.dtype));
  }
  uint64_t end = 0;
  if (tensor.address < 0 - static_cast<uint64_t>(low) && low < 0) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "the array reaches below address 0");
  }
  if (!base::checked_add(tensor.address, static_cast<uint64_t>(high), &end)) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "the array reaches beyond the last address");
  }
  uint32_t array_flags = 0;
  if ((tensor.flags & GUF_TENSOR_READ_ONLY) != 0) array_flags |= GUF_ARRAY_READ_ONLY;
  if ((tensor.flags & GUF_TENSOR_SWAPPED) != 0) array_flags |= GUF_ARRAY_SWAPPED;
  *out = base::Ref<Array>::adopt(new Array(layout, array_flags, device, storage));
  return GUF_OK;
}

guf_status wrap(const guf_tensor &tensor, backend::Device *device, guf_release_fn release,
                void *user, uint32_t flags, base::Ref<Array> *out, guf_error *error) {
  if ((flags & ~uint32_t{GUF_RELEASE_ANY_THREAD}) != 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "flags has unknown bits: 0x%x",
                      flags);
  }
  const bool any_thread = (flags & GUF_RELEASE_ANY_THREAD) != 0;
  auto memory = base::Ref<BorrowedMemory>::adopt(
      new WrappedMemory(release, user, tensor.address, any_thread));
  base::Ref<backend::Stream> default_stream;
  if (release != nullptr && device != nullptr && !device->host_memory) {
    GUF_TRY(backend::open_default(*device, &default_stream, error));
  }
  const auto storage = base::Ref<array::Storage>::adopt(
      new BorrowedStorage(std::move(memory), std::move(default_stream)));
  return wrap_in(tensor, device, storage, out, error);
}

void arm_release(const Array &wrapped) {
  static_cast<BorrowedStorage *>(wrapped.storage().get())->arm();
}

uint32_t run_callbacks(uint32_t max) {
  backend::collect_pending();
  base::collect();
  return base::run_callbacks(max);
}

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
