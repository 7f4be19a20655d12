// SPDX-License-Identifier: Apache-2.0
// Implements device, host and managed memory, pools, and pointer attributes.
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_device_memory.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/cuda/sim_cuda_api.h"

namespace {

using sim::Allocation;
using sim::Context;
using sim::Driver;
using sim::kSuccess;
using sim::MemoryKind;

// Stores the current context for a call that is forbidden during a capture. Returns an error code
// if there is no usable context, or if the call is forbidden.
int use_outside_capture(Driver &driver, Context **out) {
  const int code = use_context(driver, out);
  return code != kSuccess ? code : refuse_while_capturing(driver);
}

int find_pool_stream(Driver &driver, void *stream, std::shared_ptr<sim::Stream> *out) {
  Context *current = nullptr;
  const int code = use_context(driver, &current);
  return code != kSuccess ? code : find_stream(driver, *current, stream, out);
}

}  // namespace

SIM_EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total) {
  SIM_CALL(cuMemGetInfo_v2, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (free != nullptr) *free = driver.free_bytes(current->device);
    if (total != nullptr) *total = driver.config.memory;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  SIM_CALL(cuMemAlloc_v2, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    return address == nullptr ? static_cast<int>(sim::kInvalidValue)
                              : allocate(driver, *current, bytes, address);
  }
  SIM_END;
}

SIM_EXPORT int cuMemFree_v2(uint64_t address) {
  SIM_CALL(cuMemFree_v2, sim::kReleases) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (current == nullptr) return code;
    const int refused = refuse_while_capturing(driver);
    if (refused != kSuccess) return refused;
    const int done =
        address == 0 ? static_cast<int>(kSuccess) : release(driver, lock, *current, address);
    return done != kSuccess ? done : current->failure;
  }
  SIM_END;
}

SIM_EXPORT int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) {
  SIM_CALL(cuMemAllocAsync, 0) {
    std::shared_ptr<sim::Stream> found;
    const int code = find_pool_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    if (address == nullptr) return sim::kInvalidValue;
    const auto device = static_cast<size_t>(found->context->device);
    return allocate_async(driver, found, driver.devices[device].default_pool, bytes, address);
  }
  SIM_END;
}

SIM_EXPORT int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, void *stream) {
  SIM_CALL(cuMemAllocFromPoolAsync, 0) {
    std::shared_ptr<sim::Stream> found;
    const int code = find_pool_stream(driver, stream, &found);
    if (code != kSuccess) return code;
    const std::shared_ptr<sim::Pool> from = driver.pools.find(pool);
    if (address == nullptr || from == nullptr) return sim::kInvalidValue;
    return allocate_async(driver, found, from, bytes, address);
  }
  SIM_END;
}

SIM_EXPORT int cuMemFreeAsync(uint64_t address, void *stream) {
  SIM_CALL(cuMemFreeAsync, sim::kReleases) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (current == nullptr) return code;
    std::shared_ptr<sim::Stream> found;
    const int failed = find_stream(driver, *current, stream, &found);
    if (found == nullptr) return failed;
    const int done = release_async(driver, found, address);
    return done != kSuccess ? done : failed;
  }
  SIM_END;
}

SIM_EXPORT int cuMemPoolCreate(void **pool, const sim::cuda::MemPoolProps *props) {
  SIM_CALL(cuMemPoolCreate, 0) {
    if (pool == nullptr || props == nullptr || props->alloc_type != 1 ||
        props->location.type != 1 || props->handle_types != 0) {
      return sim::kInvalidValue;
    }
    if (!driver.has_device(props->location.id)) return sim::kInvalidDevice;
    *pool = make_pool(driver, props->location.id, props->max_size)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuMemPoolDestroy(void *pool) {
  SIM_CALL(cuMemPoolDestroy, sim::kReleases) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    return found == nullptr ? static_cast<int>(sim::kInvalidValue) : destroy_pool(driver, found);
  }
  SIM_END;
}

SIM_EXPORT int cuMemPoolSetAccess(void *pool, const sim::cuda::MemAccessDesc *expected,
                                  size_t count) {
  SIM_CALL(cuMemPoolSetAccess, 0) {
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

SIM_EXPORT int cuMemPoolGetAccess(int *flags, void *pool, sim::cuda::MemLocation *location) {
  SIM_CALL(cuMemPoolGetAccess, 0) {
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

SIM_EXPORT int cuMemPoolTrimTo(void *pool, size_t keep) {
  SIM_CALL(cuMemPoolTrimTo, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr) return sim::kInvalidValue;
    trim_pool(*found, keep);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuMemPoolSetAttribute(void *pool, int attribute, void *value) {
  SIM_CALL(cuMemPoolSetAttribute, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return sim::kInvalidValue;
    return set_pool_attribute(*found, attribute, value);
  }
  SIM_END;
}

SIM_EXPORT int cuMemPoolGetAttribute(void *pool, int attribute, void *value) {
  SIM_CALL(cuMemPoolGetAttribute, 0) {
    const std::shared_ptr<sim::Pool> found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return sim::kInvalidValue;
    return get_pool_attribute(*found, attribute, value);
  }
  SIM_END;
}

SIM_EXPORT int cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  SIM_CALL(cuMemHostAlloc, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if (out == nullptr || (flags & ~sim::cuda::kHostAllocAll) != 0) return sim::kInvalidValue;
    return allocate_host(driver, current, bytes, flags, MemoryKind::kPinned, out);
  }
  SIM_END;
}

SIM_EXPORT int cuMemFreeHost(void *memory) {
  SIM_CALL(cuMemFreeHost, sim::kReleases) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (current == nullptr) return code;
    const int refused = refuse_while_capturing(driver);
    if (refused != kSuccess) return refused;
    const int done = release_host(driver, memory);
    return done != kSuccess ? done : current->failure;
  }
  SIM_END;
}

SIM_EXPORT int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  SIM_CALL(cuMemHostRegister_v2, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if ((flags & ~sim::cuda::kHostRegisterAll) != 0) return sim::kInvalidValue;
    return register_host(driver, current, memory, bytes, flags);
  }
  SIM_END;
}

SIM_EXPORT int cuMemHostUnregister(void *memory) {
  SIM_CALL(cuMemHostUnregister, sim::kReleases) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (current == nullptr) return code;
    const int refused = refuse_while_capturing(driver);
    if (refused != kSuccess) return refused;
    const int done = unregister_host(driver, memory);
    return done != kSuccess ? done : current->failure;
  }
  SIM_END;
}

SIM_EXPORT int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags) {
  SIM_CALL(cuMemHostGetDevicePointer_v2, 0) {
    if (address == nullptr || flags != 0) return sim::kInvalidValue;
    Allocation *found = driver.memory.find(reinterpret_cast<uint64_t>(memory));
    if (found == nullptr ||
        (found->kind != MemoryKind::kPinned && found->kind != MemoryKind::kRegistered)) {
      return sim::kInvalidValue;
    }
    *address = reinterpret_cast<uint64_t>(memory);
    found->mapped = true;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags) {
  SIM_CALL(cuMemAllocManaged, 0) {
    Context *current = nullptr;
    const int code = use_outside_capture(driver, &current);
    if (code != kSuccess) return code;
    if (address == nullptr ||
        (flags != sim::cuda::kAttachGlobal && flags != sim::cuda::kAttachHost)) {
      return sim::kInvalidValue;
    }
    void *memory = nullptr;
    const int done = allocate_host(driver, current, bytes, flags, MemoryKind::kManaged, &memory);
    if (done == kSuccess) *address = reinterpret_cast<uint64_t>(memory);
    return done;
  }
  SIM_END;
}

SIM_EXPORT int cuPointerGetAttribute(void *data, int attribute, uint64_t address) {
  SIM_CALL(cuPointerGetAttribute, 0) {
    const Allocation *found = driver.memory.find(address);
    if (data == nullptr || found == nullptr) return sim::kInvalidValue;
    const bool host = found->kind == MemoryKind::kPinned || found->kind == MemoryKind::kRegistered;
    const bool managed = found->kind == MemoryKind::kManaged;
    switch (attribute) {
      case sim::cuda::kPointerContext:
        *static_cast<void **>(data) = found->context->handle;
        return kSuccess;
      case sim::cuda::kPointerMemoryType:
        *static_cast<unsigned *>(data) = host ? sim::cuda::kMemoryHost : sim::cuda::kMemoryDevice;
        return kSuccess;
      case sim::cuda::kPointerDevice:
        *static_cast<uint64_t *>(data) = address;
        return kSuccess;
      case sim::cuda::kPointerHost:
        if (!host && !managed) return sim::kInvalidValue;
        *static_cast<uint64_t *>(data) = address;
        return kSuccess;
      case sim::cuda::kPointerBufferId:
        *static_cast<uint64_t *>(data) = found->id;
        return kSuccess;
      case sim::cuda::kPointerIsManaged:
        *static_cast<unsigned *>(data) = managed;
        return kSuccess;
      case sim::cuda::kPointerOrdinal:
        *static_cast<int *>(data) = found->device;
        return kSuccess;
      case sim::cuda::kPointerRangeStart:
        *static_cast<uint64_t *>(data) = found->address;
        return kSuccess;
      case sim::cuda::kPointerRangeSize:
        *static_cast<size_t *>(data) = found->bytes;
        return kSuccess;
      case sim::cuda::kPointerMapped:
        *static_cast<unsigned *>(data) = 1;
        return kSuccess;
      case sim::cuda::kPointerPool:
        *static_cast<void **>(data) = found->pool == nullptr ? nullptr : found->pool->handle;
        return kSuccess;
      default:
        return sim::kInvalidValue;
    }
  }
  SIM_END;
}
