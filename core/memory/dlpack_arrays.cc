// SPDX-License-Identifier: Apache-2.0
// DLPack import and export. Every field of an imported tensor is checked before it is used.
#include "core/memory/dlpack_arrays.h"

#include <algorithm>
#include <string>

#include "core/backend/extension.h"
#include "core/backend/graph.h"
#include "core/backend/stream.h"
#include "core/base/checked.h"
#include "core/base/file_trust.h"
#include "core/plugin/registry.h"

namespace gufunc::memory {
namespace {

using array::Array;
using backend::Device;
using backend::Stream;

// A DLDevice of DLPack.
struct DlpackDevice {
  int32_t type, id;
};

// Storage in memory of another library.
class ImportedStorage final : public BorrowedStorage {
 public:
  ImportedStorage(const base::Ref<ImportedTensor> &taken, const DlpackDevice &source,
                  base::Ref<Stream> default_stream)
      : BorrowedStorage(base::Ref<BorrowedMemory>::share(taken.get()), std::move(default_stream)),
        source_(source) {}
  const DlpackDevice &source() const { return source_; }

 private:
  DlpackDevice source_;
};

// Opens the stream of the partner (the other library) as a stream of `device`. `*out` stays empty
// if the partner has no stream.
guf_status find_partner(const DlpackPartner &partner, Device &device, const char *parameter,
                        base::Ref<Stream> *out, guf_error *error) {
  if (partner.stream == nullptr && partner.other == DlpackStream::kNone) return GUF_OK;
  if (device.host_memory) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "%s: expected no stream for host memory; synchronize the stream first",
                      parameter);
  }
  if (partner.stream == nullptr) {
    return backend::open_stream(device, static_cast<uint64_t>(partner.other), out, error);
  }
  if (partner.stream->device != &device) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                      "%s is of device %s, the memory of %s", parameter,
                      partner.stream->device->spec.c_str(), device.spec.c_str());
  }
  *out = base::Ref<Stream>::share(partner.stream);
  return GUF_OK;
}

guf_status check_tensor(const guf_dlpack_tensor &tensor, guf_error *error) {
  const guf_dtype dtype = tensor.dtype;
  if (dtype::is_extended(dtype) || !dtype::valid(dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "no dtype of this library has the DLPack code %u, %u bits and %u lanes",
                      dtype & 0xFFU, dtype >> 8 & 0xFFU, dtype >> 16);
  }
  GUF_TRY(array::check_ndim(tensor.ndim, error));
  if (tensor.shape == nullptr && tensor.ndim > 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "managed->tensor.shape is NULL with ndim %d", tensor.ndim);
  }
  return GUF_OK;
}

// Converts strides from elements to bytes. Strides of axes of extent 0 or 1 may have any value.
guf_status convert_strides(const guf_dlpack_tensor &tensor, int64_t *out, guf_error *error) {
  const auto itemsize = static_cast<int64_t>(dtype::itemsize(tensor.dtype));
  for (int32_t axis = 0; axis < tensor.ndim; ++axis) {
    if (base::checked_mul(tensor.strides[axis], itemsize, &out[axis])) continue;
    if (tensor.shape[axis] > 1) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "array is too big; its strides exceed the address space");
    }
    out[axis] = 0;
  }
  return GUF_OK;
}

guf_status find_named(const std::string &backend, int32_t id, Device **out, guf_error *error) {
  if (id < 0) {
    return base::fail(error, GUF_E_NO_DEVICE, base::kNone, base::kNone,
                      "managed->tensor.device_id is %d", id);
  }
  return plugin::find_device((backend + ":" + std::to_string(id)).c_str(), out, error);
}

bool has_type(int32_t type, const backend::DlpackTypes &types) {
  return type != 0 && (type == types.device || type == types.pinned || type == types.managed);
}

// Finds the device of the array, and another device that accesses the memory in place (or nullptr).
// DLPack defines the device types of host memory. The ELF notes of the plugins define all other
// types.
guf_status find_devices(const DlpackDevice &source, Device **out, Device **out_reader,
                        guf_error *error) {
  *out_reader = nullptr;
  if (GUF_DLPACK_IS_HOST(source.type)) return plugin::cpu_device(out, error);
  std::span<plugin::Record *const> backends;
  GUF_TRY(plugin::backends(&backends, error));
  for (const plugin::Record *record : backends) {
    const backend::DlpackTypes &types = record->dlpack;
    if (!has_type(source.type, types)) continue;
    if (source.type == types.device) return find_named(record->name, source.id, out, error);
    if (source.type == types.managed) {
      GUF_TRY(find_named(record->name, source.id, out_reader, error));
    }
    return plugin::cpu_device(out, error);
  }
  return base::fail(error, GUF_E_NO_BACKEND, base::kNone, base::kNone,
                    "managed->tensor.device_type: expected host memory or the memory of a backend, "
                    "got DLPack device type %d, which no backend has in its note%s",
                    source.type, base::missing_proc().c_str());
}

// Checks that the driver reports `device` as the owner of the tensor's memory. Host memory and
// tensors without elements are not checked.
guf_status check_owner(Device &device, const Array &made, guf_error *error) {
  if (device.host_memory || made.size() == 0) return GUF_OK;
  const guf_gpu_api *api = nullptr;
  GUF_TRY(backend::gpu_extension(device, "memory of other libraries", &api, error));
  backend::ErrorRecord record(error);
  int32_t index = -1;
  GUF_TRY(api->memory_device(device.native, made.layout().address, &index, record.get()));
  if (index == device.index) return GUF_OK;
  const std::string owner = index < 0 ? "no device" : "device " + std::to_string(index);
  return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                    "expected a tensor on device %s, got address 0x%llx of %s", device.spec.c_str(),
                    static_cast<unsigned long long>(made.layout().address), owner.c_str());
}

}  // namespace

guf_status from_dlpack(const guf_dlpack_tensor &tensor, bool read_only,
                       const base::Ref<ImportedTensor> &taken, const DlpackPartner &ready_on,
                       base::Ref<Array> *out, guf_error *error) {
  GUF_TRY(check_tensor(tensor, error));
  int64_t strides[GUF_MAX_NDIM];
  if (tensor.strides != nullptr) GUF_TRY(convert_strides(tensor, strides, error));
  uint64_t address = 0;
  if (!base::checked_add(reinterpret_cast<uint64_t>(tensor.data), tensor.byte_offset, &address)) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "managed->tensor.byte_offset reaches beyond the last address");
  }
  // The byte offset is ignored if there is no data.
  if (tensor.data == nullptr) address = 0;
  const DlpackDevice source = {tensor.device_type, tensor.device_id};
  Device *device = nullptr, *reader = nullptr;
  GUF_TRY(find_devices(source, &device, &reader, error));
  base::Ref<Stream> default_stream, partner;
  GUF_TRY(find_partner(ready_on, *device, "ready_on", &partner, error));
  if (!device->host_memory) GUF_TRY(backend::open_default(*device, &default_stream, error));
  const auto storage =
      base::Ref<array::Storage>::adopt(new ImportedStorage(taken, source, default_stream));
  storage->set_reader(reader);
  const guf_tensor described = {sizeof described,
                                tensor.dtype,
                                tensor.ndim,
                                read_only ? uint32_t{GUF_TENSOR_READ_ONLY} : 0,
                                address,
                                tensor.shape,
                                tensor.strides == nullptr ? nullptr : strides,
                                nullptr};
  base::Ref<Array> made;
  GUF_TRY(wrap_in(described, device, storage, &made, error));
  GUF_TRY(check_owner(*device, *made, error));
  if (partner) {
    GUF_TRY(backend::check_not_captured(partner.get(), "an import that waits for it", error));
    GUF_TRY(backend::make_stream_wait(*default_stream->device, partner->native,
                                      default_stream->native, error));
  }
  *out = std::move(made);
  return GUF_OK;
}

ExportedTensor::ExportedTensor(Array &array, bool copied)
    : Object(base::Kind::kArray), array_(base::Ref<Array>::share(&array)) {
  versioned_.major = 1;
  versioned_.manager_context = unversioned_.manager_context = this;
  versioned_.deleter = [](guf_dlpack *managed) {
    static_cast<ExportedTensor *>(managed->manager_context)->release();
  };
  unversioned_.deleter = [](guf_dlpack_unversioned *managed) {
    static_cast<ExportedTensor *>(managed->manager_context)->release();
  };
  if ((array.flags() & GUF_ARRAY_READ_ONLY) != 0) versioned_.flags |= GUF_DLPACK_READ_ONLY;
  if (copied) versioned_.flags |= GUF_DLPACK_IS_COPIED;
}

// Makes the default stream wait for the consumer's stream. Queued work of the consumer
// may still use the memory, and the memory pool reuses memory when the work on the
// default stream is done (MemoryPool::release).
ExportedTensor::~ExportedTensor() {
  if (!consumer_ || consumer_->fork_epoch != base::fork_epoch()) return;
  if (backend::is_captured(*consumer_)) return;
  base::Ref<Stream> default_stream;
  if (backend::open_default(*consumer_->device, &default_stream, nullptr) != GUF_OK ||
      backend::make_stream_wait(*default_stream->device, consumer_->native, default_stream->native,
                                nullptr) != GUF_OK) {
    backend::wait_quietly(*consumer_);
  }
}

guf_status ExportedTensor::place(guf_error *error) {
  guf_dlpack_tensor &tensor = versioned_.tensor;
  const Device *const device = array_->device();
  const auto set = [&](int32_t type, int32_t id) {
    tensor.device_type = type;
    tensor.device_id = id;
    return guf_status{GUF_OK};
  };
  if (device != nullptr && !device->host_memory) {
    const int32_t type = device->backend->dlpack.device;
    if (type != 0) return set(type, device->index);
    return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
                      "DLPack has no device type for memory of device %s", device->spec.c_str());
  }
  const array::Storage *const storage = array_->storage().get();
  if (const auto *imported = dynamic_cast<const ImportedStorage *>(storage)) {
    return set(imported->source().type, imported->source().id);
  }
  const auto *const owned = dynamic_cast<const OwnedStorage *>(storage);
  if (owned == nullptr || owned->device().host_memory) return set(GUF_DLPACK_CPU, 0);
  const backend::DlpackTypes &types = owned->device().backend->dlpack;
  if (owned->kind() != GUF_MEMORY_MANAGED) {
    return set(types.pinned != 0 ? types.pinned : int32_t{GUF_DLPACK_CPU}, 0);
  }
  if (types.managed == 0) return set(GUF_DLPACK_CPU, 0);
  return set(types.managed, owned->device().index);
}

guf_status ExportedTensor::measure(guf_error *error) {
  const array::Layout &layout = array_->layout();
  const auto itemsize = static_cast<int64_t>(dtype::itemsize(layout.dtype));
  std::copy_n(layout.shape, layout.ndim, shape_);
  array::contiguous_strides(layout.dtype, layout.ndim, layout.shape, GUF_ORDER_C, strides_);
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const bool whole = layout.strides[axis] % itemsize == 0;
    if (!whole && layout.shape[axis] > 1 && array_->size() > 0) {
      return base::fail(error, GUF_E_UNSUPPORTED, base::kNone, axis,
                        "the stride of axis %d is %lld bytes, not a multiple of the item size "
                        "%lld; DLPack strides count elements",
                        axis, static_cast<long long>(layout.strides[axis]),
                        static_cast<long long>(itemsize));
    }
    strides_[axis] = (whole ? layout.strides[axis] : strides_[axis]) / itemsize;
  }
  return GUF_OK;
}

guf_status ExportedTensor::describe(guf_error *error) {
  const array::Layout &layout = array_->layout();
  if (dtype::is_extended(layout.dtype)) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "DLPack does not support %s: got %s",
                      dtype::is_time(layout.dtype) ? "datetimes" : "structured dtypes",
                      dtype::name(layout.dtype));
  }
  if ((array_->flags() & GUF_ARRAY_SWAPPED) != 0) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "DLPack does not support elements in the other byte order: got swapped %s",
                      dtype::name(layout.dtype));
  }
  guf_dlpack_tensor &tensor = versioned_.tensor;
  GUF_TRY(place(error));
  GUF_TRY(measure(error));
  tensor.data = reinterpret_cast<void *>(layout.address);
  tensor.ndim = layout.ndim;
  tensor.dtype = layout.dtype;
  tensor.shape = shape_;
  tensor.strides = strides_;
  unversioned_.tensor = tensor;
  return GUF_OK;
}

guf_status ExportedTensor::make_consumer_wait(const DlpackPartner &consumer, guf_error *error) {
  Device *device = array_->device();
  if (device == nullptr) GUF_TRY(plugin::cpu_device(&device, error));
  base::Ref<Stream> reading, default_stream;
  GUF_TRY(find_partner(consumer, *device, "consumer", &reading, error));
  if (!reading) return GUF_OK;
  GUF_TRY(backend::check_not_captured(reading.get(), "an export that it waits for", error));
  GUF_TRY(backend::open_default(*device, &default_stream, error));
  GUF_TRY(
      backend::make_stream_wait(*reading->device, default_stream->native, reading->native, error));
  consumer_ = std::move(reading);
  return GUF_OK;
}

}  // namespace gufunc::memory
