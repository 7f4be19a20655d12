// SPDX-License-Identifier: Apache-2.0
// Implements devices, the current device of a thread, and device properties.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_stream.h"
#include "tests/sim/hip/sim_hip_api.h"

namespace {

using sim::Context;
using sim::Driver;
using sim::kSuccess;
namespace hip = sim::hip;

struct Row {
  int attribute, value;
};
// Attributes that have the same value on every supported device.
constexpr Row kRows[] = {
    {hip::kEccEnabled, 1},
    {hip::kAsyncEngines, 2},
    {hip::kCanMapHostMemory, 1},
    {hip::kHostPointerForRegistered, 1},
    {hip::kClockRate, 2100000},
    {hip::kConcurrentKernels, 1},
    {hip::kConcurrentManagedAccess, 1},
    {hip::kCooperativeLaunch, 1},
    {hip::kIntegrated, 0},
    {hip::kL2Bytes, 4 << 20},
    {hip::kManagedMemory, 1},
    {hip::kMaxBlocksPerMultiprocessor, 32},
    {hip::kMaxBlockX, 1024},
    {hip::kMaxBlockY, 1024},
    {hip::kMaxBlockZ, 1024},
    {hip::kMaxGridX, 2147483647},
    {hip::kMaxGridY, 65536},
    {hip::kMaxGridZ, 65536},
    {hip::kMaxThreadsPerBlock, 1024},
    {hip::kMaxThreadsPerMultiprocessor, 2048},
    {hip::kMaxPitch, 2147483647},
    {hip::kMemoryBusWidth, 8192},
    {hip::kMemoryClockRate, 1300000},
    {hip::kPageableAccess, 0},
    {hip::kPciDevice, 0},
    {hip::kPciDomain, 0},
    {hip::kRegistersPerBlock, 65536},
    {hip::kRegistersPerMultiprocessor, 65536},
    {hip::kSharedPerBlock, hip::kSharedBytes},
    {hip::kSharedPerBlockOptin, hip::kSharedBytes},
    {hip::kSharedPerMultiprocessor, hip::kSharedBytes},
    {hip::kStreamPriorities, 1},
    {hip::kConstantBytes, 2147483647},
    {hip::kUnifiedAddressing, 1},
    {hip::kMemoryPools, 1},
    {hip::kHostRegisterSupported, 1},
    {hip::kMaxSharedPerMultiprocessor, hip::kSharedBytes},
    {hip::kAsicRevision, 1},
};

// The version and the wave size of an architecture. "gfx942" has version 9.4, where the last digit
// is a stepping, and "gfx1100" has version 11.0.
struct ArchNumbers {
  int major, minor, wave;
};
ArchNumbers numbers_of(const Driver &driver) {
  const std::string arch = driver.arch();
  const std::string digits =
      arch.substr(3, arch.find(':') == std::string::npos ? std::string::npos : arch.find(':') - 3);
  if (digits.size() < 3) return {9, 0, 64};
  const int major = std::atoi(digits.substr(0, digits.size() - 2).c_str());
  return {major, digits[digits.size() - 2] - '0', major >= 10 ? 32 : 64};
}

bool device_attribute(const Driver &driver, int device, int attribute, int *out) {
  for (const Row &row : kRows) {
    if (row.attribute == attribute) return *out = row.value, true;
  }
  const ArchNumbers arch = numbers_of(driver);
  switch (attribute) {
    case hip::kMajor:
      return *out = arch.major, true;
    case hip::kMultiprocessors:
      return *out = driver.config.units, true;
    case hip::kMinor:
      return *out = arch.minor, true;
    case hip::kWarpSize:
      return *out = arch.wave, true;
    case hip::kPciBus:
      return *out = device + 1, true;
    case hip::kGlobalBytes:
      return *out = static_cast<int>(driver.config.memory), true;
    default:
      return false;
  }
}

void fill_properties(const Driver &driver, int device, hip::DevicePropR0600 *out) {
  const auto value = [&](int attribute) {
    int number = 0;
    device_attribute(driver, device, attribute, &number);
    return number;
  };
  std::memset(out, 0, sizeof(*out));
  std::snprintf(out->name, sizeof(out->name), "Simulated %s", driver.arch().c_str());
  std::snprintf(out->gcn_arch_name, sizeof(out->gcn_arch_name), "%s", driver.arch().c_str());
  std::memcpy(out->uuid, "simulated device", sizeof(out->uuid));
  out->uuid[15] = static_cast<char>('0' + device);
  out->total_global_mem = driver.config.memory;
  out->shared_per_block = hip::kSharedBytes;
  out->registers_per_block = value(hip::kRegistersPerBlock);
  out->warp_size = value(hip::kWarpSize);
  out->max_threads_per_block = 1024;
  for (int i = 0; i < 3; ++i) {
    out->max_threads_dim[i] = value(hip::kMaxBlockX + i);
    out->max_grid_size[i] = value(hip::kMaxGridX + i);
  }
  out->clock_rate = value(hip::kClockRate);
  out->major = value(hip::kMajor);
  out->minor = value(hip::kMinor);
  out->multiprocessors = value(hip::kMultiprocessors);
  out->max_shared_per_multiprocessor = hip::kSharedBytes;
  out->is_large_bar = 1;
  out->asic_revision = 1;
}

}  // namespace

SIM_EXPORT int hipInit(unsigned flags) {
  SIM_CALL(hipInit, 0) {
    return flags != 0 ? sim::kInvalidValue : kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipDriverGetVersion(int *version) {
  SIM_CALL(hipDriverGetVersion, 0) {
    if (version == nullptr) return sim::kInvalidValue;
    *version = driver.version();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipRuntimeGetVersion(int *version) {
  SIM_CALL(hipRuntimeGetVersion, 0) {
    if (version == nullptr) return sim::kInvalidValue;
    *version = driver.version();
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipGetDeviceCount(int *count) {
  if (count != nullptr) *count = 0;
  SIM_CALL(hipGetDeviceCount, 0) {
    if (count == nullptr) return sim::kInvalidValue;
    *count = static_cast<int>(driver.devices.size());
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipGetDevice(int *device) {
  SIM_CALL(hipGetDevice, 0) {
    if (device == nullptr) return sim::kInvalidValue;
    *device = current_context(driver)->device;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipSetDevice(int device) {
  SIM_CALL(hipSetDevice, 0) {
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    sim::context_stack() = {driver.devices[static_cast<size_t>(device)].primary->handle};
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipGetDevicePropertiesR0600(hip::DevicePropR0600 *properties, int device) {
  SIM_CALL(hipGetDevicePropertiesR0600, 0) {
    if (properties == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    fill_properties(driver, device, properties);
    return kSuccess;
  }
  SIM_END;
}

// Fills the structure of HIP 5. Later releases keep the unversioned function name for this
// structure. Only the target name is set.
SIM_EXPORT int hipGetDeviceProperties(hip::DevicePropOf5 *properties, int device) {
  SIM_CALL(hipGetDeviceProperties, 0) {
    if (properties == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    std::memset(properties, 0, sizeof(*properties));
    std::snprintf(properties->gcn_arch_name, sizeof(properties->gcn_arch_name), "%s",
                  driver.arch().c_str());
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceGetName(char *name, int length, int device) {
  SIM_CALL(hipDeviceGetName, 0) {
    if (name == nullptr || length <= 0) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    std::snprintf(name, static_cast<size_t>(length), "Simulated %s", driver.arch().c_str());
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceTotalMem(size_t *bytes, int device) {
  SIM_CALL(hipDeviceTotalMem, 0) {
    if (bytes == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *bytes = driver.config.memory;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  SIM_CALL(hipDeviceGetAttribute, 0) {
    if (value == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    return device_attribute(driver, device, attribute, value) ? kSuccess : sim::kInvalidValue;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceSynchronize(void) {
  SIM_CALL(hipDeviceSynchronize, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    return code != kSuccess ? code : synchronize_context(driver, lock, *current);
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceCanAccessPeer(int *can, int device, int peer) {
  SIM_CALL(hipDeviceCanAccessPeer, 0) {
    if (can == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device) || !driver.has_device(peer)) return sim::kInvalidDevice;
    *can = device != peer;
    return kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  SIM_CALL(hipDeviceEnablePeerAccess, 0) {
    Context *current = nullptr;
    const int code = use_context(driver, &current);
    if (code != kSuccess) return code;
    if (flags != 0) return sim::kInvalidValue;
    if (!driver.has_device(peer) || peer == current->device) return sim::kInvalidDevice;
    Context *other = driver.devices[static_cast<size_t>(peer)].primary.get();
    return current->peers.insert(other).second ? kSuccess : sim::kPeerAlreadyEnabled;
  }
  SIM_END;
}

SIM_EXPORT int hipDeviceGetDefaultMemPool(void **pool, int device) {
  SIM_CALL(hipDeviceGetDefaultMemPool, 0) {
    if (pool == nullptr) return sim::kInvalidValue;
    if (!driver.has_device(device)) return sim::kInvalidDevice;
    *pool = driver.devices[static_cast<size_t>(device)].default_pool->handle;
    return kSuccess;
  }
  SIM_END;
}
