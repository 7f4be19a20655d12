// SPDX-License-Identifier: Apache-2.0
// C API layer of pinned and registered host memory, memory pools and native handles.
#include <gufunc/device_memory.h>

#include "abi/src/handles.h"
#include "core/backend/extension.h"
#include "core/backend/graph.h"
#include "core/base/struct_size.h"
#include "core/memory/memory.h"
#include "core/memory/page_locks.h"

using namespace gufunc;
using backend::Device;

namespace {

// Calls use(device, table, error) with the table of the GPU extension. Fails if the device's
// backend lacks this extension.
template <class Use>
guf_status with_gpu(guf_device device, const char *what, guf_error *error, Use use) {
  return capi::guard(error, [&]() -> guf_status {
    Device *found = nullptr;
    const guf_gpu_api *api = nullptr;
    GUF_TRY(capi::need_device(device, "device", &found, error));
    GUF_TRY(backend::gpu_extension(*found, what, &api, error));
    backend::ErrorRecord record(error);
    return use(*found, *api, record.get());
  });
}

// Calls use(device, table, error) to register or unregister the caller's memory at `address`. Does
// not call `use` if the device uses host memory, which needs no registration.
template <class Use>
guf_status with_pinning(guf_device device, uint64_t address, guf_error *error, Use use) {
  Device *found = nullptr;
  GUF_TRY(capi::need_device(device, "device", &found, error));
  if (address == 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "address is 0");
  }
  return found->host_memory ? guf_status{GUF_OK}
                            : with_gpu(device, "page-locked memory", error, use);
}

guf_status find_mark(guf_event event, const char *name, backend::Event **out, guf_error *error) {
  GUF_TRY(capi::need_event(event, name, out, error));
  return backend::check_event(**out, error);
}

}  // namespace

guf_status guf_array_alloc_host(guf_device device, int32_t memory, guf_dtype dtype, int32_t ndim,
                                const int64_t *shape, const int64_t *strides, int32_t order,
                                guf_array *out_array, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_array, "out_array", error));
    if (memory < GUF_HOST_PINNED || memory > GUF_HOST_MANAGED) {
      return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                        "memory is %d, which is not a guf_host_memory", memory);
    }
    GUF_TRY(capi::check_alloc(ndim, shape, strides, order, error));
    Device *where = nullptr;
    GUF_TRY(capi::need_device(device, "device", &where, error));
    GUF_TRY(capi::check_running(error));
    capi::run_deferred_callbacks();
    base::Ref<array::Array> made;
    GUF_TRY(
        memory::allocate_host(*where, memory, dtype, ndim, shape, strides, order, &made, error));
    *out_array = capi::publish<guf_array>(made);
    return GUF_OK;
  });
}

guf_status guf_host_register(guf_device device, uint64_t address, uint64_t size, guf_error *error) {
  if (size == 0) return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "size is 0");
  if (uint64_t end = 0; __builtin_add_overflow(address, size - 1, &end)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "size: got %llu bytes at 0x%llx, which is beyond the end of memory",
                      static_cast<unsigned long long>(size),
                      static_cast<unsigned long long>(address));
  }
  return with_pinning(device, address, error,
                      [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                        GUF_TRY(memory::reserve_page_lock(found, address, size, record));
                        const guf_status status =
                            api.host_register(found.native, address, size, record);
                        if (status == GUF_OK) {
                          memory::note_page_locked(found, address);
                        } else {
                          memory::forget_page_lock(found, address);
                        }
                        return status;
                      });
}

guf_status guf_host_unregister(guf_device device, uint64_t address, guf_error *error) {
  return with_pinning(device, address, error,
                      [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                        GUF_TRY(memory::end_page_lock(found, address, record));
                        const guf_status status =
                            api.host_unregister(found.native, address, record);
                        memory::forget_page_lock(found, address);
                        return status;
                      });
}

guf_status guf_device_get_memory(guf_device device, guf_device_memory *out_memory,
                                 guf_error *error) {
  GUF_TRY(base::check_struct(out_memory, "out_memory", base::kFirstSize<guf_device_memory>,
                             base::kMaxStructSize, error));
  return with_gpu(device, "memory pool", error,
                  [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                    guf_gpu_memory pool = {};
                    pool.struct_size = sizeof pool;
                    GUF_TRY(api.memory_statistics(found.native, GUF_MEMORY_DEVICE, &pool, record));
                    const guf_device_memory memory = {
                        sizeof memory,          0,
                        pool.live_bytes,        pool.peak_bytes,
                        pool.cached_bytes,      pool.limit_bytes,
                        pool.allocations,       pool.driver_allocations,
                        pool.device_free_bytes, pool.device_total_bytes};
                    return base::write_struct(out_memory, "out_memory", memory, record);
                  });
}

guf_status guf_device_trim_memory(guf_device device, uint64_t keep_bytes, guf_error *error) {
  return with_gpu(device, "memory pool", error,
                  [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                    memory::run_callbacks(0);
                    return api.memory_trim(found.native, GUF_MEMORY_DEVICE, keep_bytes, record);
                  });
}

guf_status guf_device_limit_memory(guf_device device, uint64_t limit_bytes, guf_error *error) {
  return with_gpu(device, "memory pool", error,
                  [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                    return api.memory_limit(found.native, GUF_MEMORY_DEVICE, limit_bytes, record);
                  });
}

guf_status guf_device_enable_peer(guf_device device, guf_device peer, guf_error *error) {
  Device *other = nullptr;
  GUF_TRY(capi::need_device(peer, "peer", &other, error));
  return with_gpu(device, "peers", error,
                  [&](Device &found, const guf_gpu_api &api, guf_error *record) -> guf_status {
                    if (other->backend != found.backend) {
                      return base::fail(record, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                                        "peer: expected a device of backend %s, got %s",
                                        found.backend->name.c_str(), other->spec.c_str());
                    }
                    return api.peer_enable(found.native, other->native, record);
                  });
}

guf_status guf_stream_get_native(guf_device device, guf_stream stream, uint64_t *out_native,
                                 guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_native, "out_native", error));
    backend::Stream *queue = nullptr;
    Device *found = nullptr;
    GUF_TRY(capi::find_stream(stream, &queue, error));
    if (queue != nullptr) {
      found = queue->device;
    } else {
      if (device == nullptr) {
        return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                          "device and stream are NULL: expected one of them");
      }
      GUF_TRY(capi::need_device(device, "device", &found, error));
    }
    const guf_gpu_api *api = nullptr;
    GUF_TRY(backend::gpu_extension(*found, "native streams", &api, error));
    backend::ErrorRecord record(error);
    return api->stream_native(found->native, queue == nullptr ? nullptr : queue->native, out_native,
                              record.get());
  });
}

guf_status guf_event_elapsed(guf_event from, guf_event to, double *out_milliseconds,
                             guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_milliseconds, "out_milliseconds", error));
    backend::Event *first = nullptr, *last = nullptr;
    GUF_TRY(find_mark(from, "from", &first, error));
    GUF_TRY(find_mark(to, "to", &last, error));
    if (first->device != last->device) {
      return base::fail(error, GUF_E_DEVICE_MISMATCH, base::kNone, base::kNone,
                        "the events are of %s and %s", first->device->spec.c_str(),
                        last->device->spec.c_str());
    }
    const guf_gpu_api *api = nullptr;
    GUF_TRY(backend::gpu_extension(*first->device, "time between events", &api, error));
    backend::ErrorRecord record(error);
    return api->event_elapsed(first->native, last->native, out_milliseconds, record.get());
  });
}
