// SPDX-License-Identifier: Apache-2.0
// Implements devices, their properties, and contexts: primary contexts are reference-counted, and
// each thread has a context stack.
#include "tests/sim/cuda/sim_cuda_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/cuda/sim_cuda_api.h"

namespace sim::cuda {
namespace {

struct Row {
  int attribute, value;
};
// Attributes that have the same value on every supported architecture.
constexpr Row kRows[] = {
    {kMaxThreadsPerBlock, 1024},
    {kMaxBlockX, 1024},
    {kMaxBlockY, 1024},
    {kMaxBlockZ, 64},
    {kMaxGridX, 2147483647},
    {kMaxGridY, 65535},
    {kMaxGridZ, 65535},
    {kSharedPerBlock, kDefaultShared},
    {kConstantBytes, 65536},
    {kWarpSize, 32},
    {kMaxPitch, 2147483647},
    {kRegistersPerBlock, 65536},
    {kClockRate, 1980000},
    {kTextureAlignment, 512},
    {kGpuOverlap, 1},
    {kKernelTimeout, 0},
    {kIntegrated, 0},
    {kCanMapHostMemory, 1},
    {kComputeMode, 0},
    {kConcurrentKernels, 1},
    {kEccEnabled, 1},
    {kPciDevice, 0},
    {kMemoryClockRate, 2619000},
    {kMemoryBusWidth, 5120},
    {kL2Bytes, 50 << 20},
    {kMaxThreadsPerMultiprocessor, 2048},
    {kAsyncEngines, 3},
    {kUnifiedAddressing, 1},
    {kPciDomain, 0},
    {kStreamPriorities, 1},
    {kRegistersPerMultiprocessor, 65536},
    {kManagedMemory, 1},
    {kPageableAccess, 0},
    {kConcurrentManagedAccess, 1},
    {kComputePreemption, 1},
    {kHostPointerForRegistered, 1},
    {kCooperativeLaunch, 1},
    {kHostRegisterSupported, 1},
    {kMaxBlocksPerMultiprocessor, 32},
    {kReservedShared, 1024},
};

}  // namespace

int arch_of(const Driver &driver) {
  const std::string arch = driver.arch();
  const int number = arch.rfind("sm_", 0) == 0 ? std::atoi(arch.c_str() + 3) : 0;
  return number != 0 ? number : 90;
}

CudaTarget target_of(const Driver &driver) {
  return {arch_of(driver), driver.version()};
}

uint32_t optin_shared(int arch) {
  switch (arch) {
    case 75:
      return 64 << 10;
    case 80:
    case 87:
      return 163 << 10;
    case 86:
    case 89:
    case 120:
      return 99 << 10;
    default:
      return 227 << 10;
  }
}

bool device_attribute(const Driver &driver, int device, int attribute, int *out) {
  for (const Row &row : kRows) {
    if (row.attribute == attribute) return *out = row.value, true;
  }
  const int arch = arch_of(driver);
  switch (attribute) {
    case kMultiprocessors:
      return *out = driver.config.units, true;
    case kMajor:
      return *out = arch / 10, true;
    case kMinor:
      return *out = arch % 10, true;
    case kSharedPerBlockOptin:
      return *out = static_cast<int>(optin_shared(arch)), true;
    case kSharedPerMultiprocessor:
      return *out = static_cast<int>(optin_shared(arch)) + 1024, true;
    case kPciBus:
      return *out = device + 1, true;
    case kMemoryPools:
      return *out = driver.version() >= 11020, true;
    default:
      return false;
  }
}

}  // namespace sim::cuda

using sim::Context;
using sim::kSuccess;

SIM_EXPORT int cuInit(unsigned flags) {
  SIM_CALL(cuInit, sim::kAnyTime) {
    if (driver.deinitialised) return sim::kDeinitialized;
    if (flags != 0) return sim::kInvalidValue;
    if (driver.config.devices == 0) return sim::kNoDevice;
    if (!driver.initialised) make_devices(driver);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDriverGetVersion(int *version) {
  SIM_CALL(cuDriverGetVersion, sim::kAnyTime) {
    if (version == nullptr) return sim::kInvalidValue;
    *version = driver.version();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGetCount(int *count) {
  SIM_CALL(cuDeviceGetCount, 0) {
    if (count == nullptr) return sim::kInvalidValue;
    *count = static_cast<int>(driver.devices.size());
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGet(int *device, int ordinal) {
  SIM_CALL(cuDeviceGet, 0) {
    if (device == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(ordinal)) return sim::kInvalidDevice;
    *device = ordinal;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGetName(char *name, int length, int device) {
  SIM_CALL(cuDeviceGetName, 0) {
    if (name == nullptr || length <= 0) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    std::snprintf(name, static_cast<size_t>(length), "Simulated %s", driver.arch().c_str());
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  SIM_CALL(cuDeviceTotalMem_v2, 0) {
    if (bytes == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *bytes = driver.config.memory;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  SIM_CALL(cuDeviceGetAttribute, 0) {
    if (value == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    return sim::cuda::device_attribute(driver, device, attribute, value) ? kSuccess
                                                                         : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGetUuid_v2(sim::cuda::Uuid *uuid, int device) {
  SIM_CALL(cuDeviceGetUuid_v2, 0) {
    if (uuid == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    std::memcpy(uuid->bytes, "simulated device", sizeof(uuid->bytes));
    uuid->bytes[15] = static_cast<char>('0' + device);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer) {
  SIM_CALL(cuDeviceCanAccessPeer, 0) {
    if (can == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device) || !driver.has_device(peer)) return sim::kInvalidDevice;
    *can = device != peer;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDeviceGetDefaultMemPool(void **pool, int device) {
  SIM_CALL(cuDeviceGetDefaultMemPool, 0) {
    if (pool == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *pool = driver.devices[static_cast<size_t>(device)].default_pool->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  SIM_CALL(cuDevicePrimaryCtxRetain, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *context = retain_primary(driver, device)->handle;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  SIM_CALL(cuDevicePrimaryCtxRelease_v2, sim::kReleases) {
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    const std::shared_ptr<Context> primary = driver.devices[static_cast<size_t>(device)].primary;
    if (primary == nullptr) return sim::kInvalidContext;
    if (--primary->references == 0) destroy_context(driver, lock, primary);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxCreate_v2(void **context, unsigned, int device) {
  SIM_CALL(cuCtxCreate_v2, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *context = make_context(driver, device, false)->handle;
    sim::context_stack().push_back(*context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxDestroy_v2(void *context) {
  SIM_CALL(cuCtxDestroy_v2, sim::kReleases) {
    const std::shared_ptr<Context> found = driver.contexts.find(context);
    if (found == nullptr || found->primary) return sim::kInvalidContext;
    destroy_context(driver, lock, found);
    auto &stack = sim::context_stack();
    if (!stack.empty() && stack.back() == context) stack.pop_back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxPushCurrent_v2(void *context) {
  SIM_CALL(cuCtxPushCurrent_v2, 0) {
    if (driver.contexts.find(context) == nullptr) return sim::kInvalidContext;
    sim::context_stack().push_back(context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxPopCurrent_v2(void **context) {
  SIM_CALL(cuCtxPopCurrent_v2, sim::kReleases) {
    auto &stack = sim::context_stack();
    if (stack.empty()) return sim::kInvalidContext;
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxGetCurrent(void **context) {
  SIM_CALL(cuCtxGetCurrent, 0) {
    if (context == nullptr) return sim::kInvalidValue;
    const auto &stack = sim::context_stack();
    *context = stack.empty() ? nullptr : stack.back();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxSetCurrent(void *context) {
  SIM_CALL(cuCtxSetCurrent, 0) {
    auto &stack = sim::context_stack();
    if (context != nullptr && driver.contexts.find(context) == nullptr) {
      return sim::kInvalidContext;
    }
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxGetDevice(int *device) {
  SIM_CALL(cuCtxGetDevice, 0) {
    if (device == nullptr) return sim::kInvalidValue;
    const Context *current = current_context(driver);
    if (current == nullptr) return sim::kInvalidContext;
    *device = current->device;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuCtxSynchronize(void) {
  SIM_CALL(cuCtxSynchronize, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    return code != kSuccess ? code : synchronize_context(driver, lock, *current);
  }
  SIM_END;
}

SIM_EXPORT int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
  SIM_CALL(cuCtxEnablePeerAccess, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (flags != 0) return sim::kInvalidValue;
    const std::shared_ptr<Context> found = driver.contexts.find(peer);
    if (found == nullptr) return sim::kInvalidContext;
    if (found->device == current->device) return sim::kInvalidDevice;
    return current->peers.insert(found.get()).second ? kSuccess : sim::kPeerAlreadyEnabled;
  }
  SIM_END;
}
