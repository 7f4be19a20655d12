// SPDX-License-Identifier: Apache-2.0
// Implements device, host and managed memory, pools, and pointer attributes.
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_device_memory.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/hip/sim_hip_api.h"

namespace {

using sim::Allocation;
using sim::Context;
using sim::Driver;
using sim::kSuccess;
using sim::MemoryKind;
namespace hip = sim::hip;

// Stores the context of the current device for a call that is forbidden during a capture. Returns
// an error code if there is no usable context, or if the call is forbidden.
int use_outside_capture(Driver &driver, Context **out) {
  const int code = use_context(driver, out);
  return code != kSuccess ? code : refuse_while_capturing(driver);
}

// Calls release() unless a capture forbids the call. A failed device can still release memory, but
// the call then returns the failure of the device.
template <class F>
int release_outside_capture(Driver &driver, F release) {
  Context *current = nullptr;
  const int failed = use_context(driver, &current);
  const int refused = refuse_while_capturing(driver);
  if (refused != kSuccess) return refused;
  const int done = release(*current);
  return done != kSuccess ? done : failed;
}

int find_pool_stream(Driver &driver, void *stream, std::shared_ptr<sim::Stream> *out) {
  Context *current = nullptr;
  const int code = use_context(driver, &current);
  return code != kSuccess ? code : find_stream(driver, *current, stream, out);
}

int allocate_on_stream(Driver &driver, void **out, size_t bytes, void *pool, void *stream) {
  std::shared_ptr<sim::Stream> found;
  const int code = find_pool_stream(driver, stream, &found);
  if (code != kSuccess) return code;
  const auto device = static_cast<size_t>(found->context->device);
  const std::shared_ptr<sim::Pool> from =
      pool == nullptr ? driver.devices[device].default_pool : driver.pools.find(pool);
  if (out == nullptr || from == nullptr) return sim::kInvalidValue;
  *out = nullptr;
  if (bytes == 0) return kSuccess;
  uint64_t address = 0;
  const int done = allocate_async(driver, found, from, bytes, &address);
  if (done == kSuccess) *out = reinterpret_cast<void *>(address);
  return done;
}

// Returns whether HIP accepts the registration of a range that overlaps a registered range.
// HIP up to 6.3 creates a second memory object if the new range encloses a registered range. HIP
// 6.4 and later return success and do nothing if the whole new range is registered. In both cases
// one hipHostUnregister ends every registration. The simulator keeps only the first registration.
bool has_registered(Driver &driver, const void *memory, uint64_t bytes) {
  const auto address = reinterpret_cast<uint64_t>(memory);
  const Allocation *const known = driver.memory.find(address);
  if (known != nullptr) {
    return driver.version() >= 60400000 && known->kind == MemoryKind::kRegistered &&
           bytes <= known->address + known->bytes - address;
  }
  const auto next = driver.memory.all().lower_bound(address);
  return next != driver.memory.all().end() && next->second.kind == MemoryKind::kRegistered &&
         next->first + next->second.bytes - address <= bytes;
}

}  // namespace

SIM_EXPORT int hipMemGetInfo(size_t *free, size_t *total) {
  SIM_CALL(hipMemGetInfo, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (free == nullptr || total == nullptr) return sim::kInvalidValue;
    *free = driver.free_bytes(current->device);
    *total = driver.config.memory;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMalloc(void **out, size_t bytes) {
  SIM_CALL(hipMalloc, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if (out == nullptr) return sim::kInvalidValue;
    *out = nullptr;
    if (bytes == 0) return kSuccess;
    uint64_t address = 0;
    const int done = allocate(driver, *current, bytes, &address);
    if (done == kSuccess) *out = reinterpret_cast<void *>(address);
    return done;
  }
  SIM_END;
}

SIM_EXPORT int hipFree(void *memory) {
  SIM_CALL(hipFree, sim::kReleases) {
    if (memory == nullptr) return kSuccess;
    return release_outside_capture(driver, [&](Context &current) {
      return release(driver, lock, current, reinterpret_cast<uint64_t>(memory));
    });
  }
  SIM_END;
}

SIM_EXPORT int hipMallocAsync(void **out, size_t bytes, void *stream) {
  SIM_CALL(hipMallocAsync, 0) {
    return allocate_on_stream(driver, out, bytes, nullptr, stream);
  }
  SIM_END;
}

SIM_EXPORT int hipMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream) {
  SIM_CALL(hipMallocFromPoolAsync, 0) {
    if (pool == nullptr) return sim::kInvalidValue;
    return allocate_on_stream(driver, out, bytes, pool, stream);
  }
  SIM_END;
}

SIM_EXPORT int hipFreeAsync(void *memory, void *stream) {
  SIM_CALL(hipFreeAsync, sim::kReleases) {
    if (memory == nullptr) return sim::kInvalidValue;
    std::shared_ptr<sim::Stream> found;
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    const int failed = find_stream(driver, *current, stream, &found);
    if (found == nullptr) return failed;
    const int done = release_async(driver, found, reinterpret_cast<uint64_t>(memory));
    return done != kSuccess ? done : code;
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolCreate(void **pool, const hip::MemPoolProps *props) {
  SIM_CALL(hipMemPoolCreate, 0) {
    if (pool == nullptr || props == nullptr || props->alloc_type != 1 ||
        props->location.type != 1 || props->handle_types != 0) {
      return sim::kInvalidValue;
    }
    if (!driver.has_device(props->location.id)) return sim::kInvalidValue;
    *pool = make_pool(driver, props->location.id, props->max_size)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolDestroy(void *pool) {
  SIM_CALL(hipMemPoolDestroy, sim::kReleases) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    return found == nullptr ? static_cast<int>(sim::kInvalidValue) : destroy_pool(driver, found);
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolSetAccess(void *pool, const hip::MemAccessDesc *expected, size_t count) {
  SIM_CALL(hipMemPoolSetAccess, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || expected == nullptr || count == 0) return sim::kInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (expected[i].location.type != 1) return sim::kInvalidValue;
      const int code = set_pool_access(driver, *found, expected[i].location.id, expected[i].flags);
      if (code != kSuccess) return code;
    }
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolGetAccess(int *flags, void *pool, hip::MemLocation *location) {
  SIM_CALL(hipMemPoolGetAccess, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || flags == nullptr || location == nullptr || location->type != 1 ||
        !driver.has_device(location->id)) {
      return sim::kInvalidValue;
    }
    *flags = pool_access(*found, location->id);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolTrimTo(void *pool, size_t keep) {
  SIM_CALL(hipMemPoolTrimTo, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr) return sim::kInvalidValue;
    trim_pool(*found, keep);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolSetAttribute(void *pool, int attribute, void *value) {
  SIM_CALL(hipMemPoolSetAttribute, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return sim::kInvalidValue;
    return set_pool_attribute(*found, attribute, value);
  }
  SIM_END;
}

SIM_EXPORT int hipMemPoolGetAttribute(void *pool, int attribute, void *value) {
  SIM_CALL(hipMemPoolGetAttribute, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return sim::kInvalidValue;
    return get_pool_attribute(*found, attribute, value);
  }
  SIM_END;
}

SIM_EXPORT int hipHostMalloc(void **out, size_t bytes, unsigned flags) {
  SIM_CALL(hipHostMalloc, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if (out == nullptr || (flags & ~hip::kHostMallocAll) != 0) return sim::kInvalidValue;
    if ((flags & 0xC000'0000u) == 0xC000'0000u) return sim::kInvalidValue;
    *out = nullptr;
    if (bytes == 0) return kSuccess;
    return allocate_host(driver, current, bytes, flags, MemoryKind::kPinned, out);
  }
  SIM_END;
}

SIM_EXPORT int hipHostFree(void *memory) {
  SIM_CALL(hipHostFree, sim::kReleases) {
    if (memory == nullptr) return kSuccess;
    return release_outside_capture(driver, [&](Context &) { return release_host(driver, memory); });
  }
  SIM_END;
}

SIM_EXPORT int hipHostRegister(void *memory, size_t bytes, unsigned flags) {
  SIM_CALL(hipHostRegister, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if ((flags & ~hip::kHostRegisterAll) != 0) return sim::kInvalidValue;
    if (has_registered(driver, memory, bytes)) return kSuccess;
    return register_host(driver, current, memory, bytes, flags);
  }
  SIM_END;
}

SIM_EXPORT int hipHostUnregister(void *memory) {
  SIM_CALL(hipHostUnregister, sim::kReleases) {
    return release_outside_capture(driver,
                                   [&](Context &) { return unregister_host(driver, memory); });
  }
  SIM_END;
}

SIM_EXPORT int hipHostGetDevicePointer(void **out, void *memory, unsigned flags) {
  SIM_CALL(hipHostGetDevicePointer, 0) {
    if (out == nullptr || flags != 0) return sim::kInvalidValue;
    Allocation *found = driver.memory.find(reinterpret_cast<uint64_t>(memory));
    if (found == nullptr ||
        (found->kind != MemoryKind::kPinned && found->kind != MemoryKind::kRegistered)) {
      return sim::kInvalidValue;
    }
    *out = memory;
    found->mapped = true;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipMallocManaged(void **out, size_t bytes, unsigned flags) {
  SIM_CALL(hipMallocManaged, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if (out == nullptr || (flags != hip::kAttachGlobal && flags != hip::kAttachHost)) {
      return sim::kInvalidValue;
    }
    return allocate_host(driver, current, bytes, flags, MemoryKind::kManaged, out);
  }
  SIM_END;
}

SIM_EXPORT int hipPointerGetAttributes(hip::PointerAttribute *out, const void *pointer) {
  SIM_CALL(hipPointerGetAttributes, 0) {
    if (out == nullptr || pointer == nullptr) return sim::kInvalidValue;
    const auto address = reinterpret_cast<uint64_t>(pointer);
    void *const same = reinterpret_cast<void *>(address);
    const Allocation *found = driver.memory.find(address);
    *out = {hip::kUnregistered, 0, nullptr, nullptr, 0, 0};
    if (found == nullptr) return kSuccess;
    const bool host = found->kind == MemoryKind::kPinned || found->kind == MemoryKind::kRegistered;
    const bool managed = found->kind == MemoryKind::kManaged;
    out->type = managed ? hip::kManaged : host ? hip::kHost : hip::kDevice;
    out->device = found->device;
    out->device_pointer = same;
    out->host_pointer = host || managed ? same : nullptr;
    out->is_managed = managed;
    out->allocation_flags = found->flags;
    return kSuccess;
  }
  SIM_END;
}
