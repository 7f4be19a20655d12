// SPDX-License-Identifier: Apache-2.0
// The constants and structures of the CUDA driver API that the simulator uses. sim_cuda_check.cc
// compares the definitions with cuda.h if it is installed.
#ifndef GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_API_H
#define GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_API_H

#include <cstddef>
#include <cstdint>

namespace sim::cuda {

// Values of CUdevice_attribute.
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,
  kMaxBlockY = 3,
  kMaxBlockZ = 4,
  kMaxGridX = 5,
  kMaxGridY = 6,
  kMaxGridZ = 7,
  kSharedPerBlock = 8,
  kConstantBytes = 9,
  kWarpSize = 10,
  kMaxPitch = 11,
  kRegistersPerBlock = 12,
  kClockRate = 13,
  kTextureAlignment = 14,
  kGpuOverlap = 15,
  kMultiprocessors = 16,
  kKernelTimeout = 17,
  kIntegrated = 18,
  kCanMapHostMemory = 19,
  kComputeMode = 20,
  kConcurrentKernels = 31,
  kEccEnabled = 32,
  kPciBus = 33,
  kPciDevice = 34,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2Bytes = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kAsyncEngines = 40,
  kUnifiedAddressing = 41,
  kPciDomain = 50,
  kMajor = 75,
  kMinor = 76,
  kStreamPriorities = 78,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kManagedMemory = 83,
  kPageableAccess = 88,
  kConcurrentManagedAccess = 89,
  kComputePreemption = 90,
  kHostPointerForRegistered = 91,
  kCooperativeLaunch = 95,
  kSharedPerBlockOptin = 97,
  kHostRegisterSupported = 99,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedShared = 111,
  kMemoryPools = 115,
};

// Values of CUpointer_attribute.
enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDevice = 3,
  kPointerHost = 4,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMapped = 13,
  kPointerPool = 17,
};
enum MemoryType : unsigned { kMemoryHost = 1, kMemoryDevice = 2 };

// Values of CUfunction_attribute.
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstantBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionPtxVersion = 5,
  kFunctionBinaryVersion = 6,
  kFunctionCacheMode = 7,
  kFunctionMaxDynamicShared = 8,
  kFunctionCarveout = 9,
};

// Values of CUmemPool_attribute.
enum PoolAttribute : int {
  kReuseEvents = 1,
  kReuseOpportunistic = 2,
  kReuseInternal = 3,
  kReleaseThreshold = 4,
  kReservedCurrent = 5,
  kReservedHigh = 6,
  kUsedCurrent = 7,
  kUsedHigh = 8,
};

struct MemLocation {
  int type;  // 1 means that the location is a device
  int id;
};
struct MemAccessDesc {
  MemLocation location;
  int flags;
};
struct MemPoolProps {
  int alloc_type;  // 1 means pinned memory
  int handle_types;
  MemLocation location;
  void *security;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};

struct GraphExecUpdateResultInfo {
  int result;
  void *error_node;
  void *error_from_node;
};

struct Uuid {
  char bytes[16];
};

enum : unsigned {
  kStreamNonBlocking = 1,
  kEventBlockingSync = 1,
  kEventDisableTiming = 2,
  kEventInterprocess = 4,
  kHostAllocAll = 7,      // portable, mapped, write-combined
  kHostRegisterAll = 15,  // portable, mapped, I/O memory, read-only
  kAttachGlobal = 1,
  kAttachHost = 2,
};

enum : uint64_t { kExtraEnd = 0 };

}  // namespace sim::cuda

#endif  // GUFUNC_TESTS_SIM_CUDA_SIM_CUDA_API_H
