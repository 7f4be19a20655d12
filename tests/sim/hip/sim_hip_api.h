// SPDX-License-Identifier: Apache-2.0
// The constants and structures of HIP 6's host API that the simulator uses. sim_hip_check.cc
// compares the definitions with HIP's headers if they are installed.
#ifndef GUFUNC_TESTS_SIM_HIP_SIM_HIP_API_H
#define GUFUNC_TESTS_SIM_HIP_SIM_HIP_API_H

#include <cstddef>
#include <cstdint>

namespace sim::hip {

// Values of hipDeviceAttribute_t.
enum DeviceAttribute : int {
  kEccEnabled = 0,
  kAsyncEngines = 2,
  kCanMapHostMemory = 3,
  kHostPointerForRegistered = 4,
  kClockRate = 5,
  kConcurrentKernels = 8,
  kConcurrentManagedAccess = 9,
  kCooperativeLaunch = 10,
  kIntegrated = 16,
  kL2Bytes = 19,
  kMajor = 23,
  kManagedMemory = 24,
  kMaxBlocksPerMultiprocessor = 25,
  kMaxBlockX = 26,
  kMaxBlockY = 27,
  kMaxBlockZ = 28,
  kMaxGridX = 29,
  kMaxGridY = 30,
  kMaxGridZ = 31,
  kMaxThreadsPerBlock = 56,
  kMaxThreadsPerMultiprocessor = 57,
  kMaxPitch = 58,
  kMemoryBusWidth = 59,
  kMemoryClockRate = 60,
  kMinor = 61,
  kMultiprocessors = 63,
  kPageableAccess = 65,
  kPciBus = 67,
  kPciDevice = 68,
  kPciDomain = 69,
  kRegistersPerBlock = 71,
  kRegistersPerMultiprocessor = 72,
  kSharedPerBlock = 74,
  kSharedPerBlockOptin = 75,
  kSharedPerMultiprocessor = 76,
  kStreamPriorities = 78,
  kConstantBytes = 83,
  kGlobalBytes = 84,
  kUnifiedAddressing = 85,
  kWarpSize = 87,
  kMemoryPools = 88,
  kHostRegisterSupported = 90,
  kMaxSharedPerMultiprocessor = 10002,
  kAsicRevision = 10012,
};

// hipDeviceProp_tR0600, with only the fields that the simulator sets, at their offsets.
struct DevicePropR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  size_t total_global_mem;
  size_t shared_per_block;
  int registers_per_block;
  int warp_size;
  size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int clock_rate;
  size_t total_const_mem;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int device_overlap;
  int multiprocessors;
  int filled_with_zero[192];
  char gcn_arch_name[256];
  size_t max_shared_per_multiprocessor;
  int clock_instruction_rate;
  unsigned arch_bits;
  void *flush_control[2];
  int unmatched[4];
  int is_large_bar;
  int asic_revision;
};
static_assert(offsetof(DevicePropR0600, multiprocessors) == 388);
static_assert(offsetof(DevicePropR0600, gcn_arch_name) == 1160);
static_assert(sizeof(DevicePropR0600) == 1472);

// hipDeviceProp_t, as defined by HIP 5.
struct DevicePropOf5 {
  char before[396];
  char gcn_arch_name[256];
  char behind[140];
};
static_assert(sizeof(DevicePropOf5) == 792);

// Values of hipMemoryType in HIP 6.
enum MemoryType : int { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };

struct PointerAttribute {
  int type;
  int device;
  void *device_pointer;
  void *host_pointer;
  int is_managed;
  unsigned allocation_flags;
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
  unsigned char reserved[56];
};

// Values of hipMemcpyKind.
enum CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefault = 4
};

// Values of hipFunction_attribute.
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

enum : unsigned {
  kStreamNonBlocking = 1,
  kEventDisableTiming = 2,
  kEventAll = 0xE000'0003,       // blocking, no timing, fences; not interprocess
  kHostMallocAll = 0xE000'0007,  // portable, mapped, write-combined, NUMA, (non-)coherent
  kHostRegisterAll = 15,
  kAttachGlobal = 1,
  kAttachHost = 2,
};

enum : uint64_t { kExtraEnd = 3 };

inline constexpr uint32_t kSharedBytes = 64 << 10;  // shared memory per block on every device

}  // namespace sim::hip

#endif  // GUFUNC_TESTS_SIM_HIP_SIM_HIP_API_H
