// SPDX-License-Identifier: Apache-2.0
// Compares the simulator's constants and structures with HIP's header. Compiled only if the header
// is installed. Definitions that HIP 6 changed are compared only with headers of HIP 6 or later.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <cstddef>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/hip/sim_hip_api.h"

namespace sim::hip {
namespace {

#define SIM_SAME(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs)

SIM_SAME(kEccEnabled, hipDeviceAttributeEccEnabled);
SIM_SAME(kAsyncEngines, hipDeviceAttributeAsyncEngineCount);
SIM_SAME(kCanMapHostMemory, hipDeviceAttributeCanMapHostMemory);
SIM_SAME(kHostPointerForRegistered, hipDeviceAttributeCanUseHostPointerForRegisteredMem);
SIM_SAME(kClockRate, hipDeviceAttributeClockRate);
SIM_SAME(kConcurrentKernels, hipDeviceAttributeConcurrentKernels);
SIM_SAME(kConcurrentManagedAccess, hipDeviceAttributeConcurrentManagedAccess);
SIM_SAME(kCooperativeLaunch, hipDeviceAttributeCooperativeLaunch);
SIM_SAME(kIntegrated, hipDeviceAttributeIntegrated);
SIM_SAME(kL2Bytes, hipDeviceAttributeL2CacheSize);
SIM_SAME(kMajor, hipDeviceAttributeComputeCapabilityMajor);
SIM_SAME(kManagedMemory, hipDeviceAttributeManagedMemory);
SIM_SAME(kMaxBlocksPerMultiprocessor, hipDeviceAttributeMaxBlocksPerMultiProcessor);
SIM_SAME(kMaxBlockX, hipDeviceAttributeMaxBlockDimX);
SIM_SAME(kMaxBlockY, hipDeviceAttributeMaxBlockDimY);
SIM_SAME(kMaxBlockZ, hipDeviceAttributeMaxBlockDimZ);
SIM_SAME(kMaxGridX, hipDeviceAttributeMaxGridDimX);
SIM_SAME(kMaxGridY, hipDeviceAttributeMaxGridDimY);
SIM_SAME(kMaxGridZ, hipDeviceAttributeMaxGridDimZ);
SIM_SAME(kMaxThreadsPerBlock, hipDeviceAttributeMaxThreadsPerBlock);
SIM_SAME(kMaxThreadsPerMultiprocessor, hipDeviceAttributeMaxThreadsPerMultiProcessor);
SIM_SAME(kMaxPitch, hipDeviceAttributeMaxPitch);
SIM_SAME(kMemoryBusWidth, hipDeviceAttributeMemoryBusWidth);
SIM_SAME(kMemoryClockRate, hipDeviceAttributeMemoryClockRate);
SIM_SAME(kMinor, hipDeviceAttributeComputeCapabilityMinor);
SIM_SAME(kMultiprocessors, hipDeviceAttributeMultiprocessorCount);
SIM_SAME(kPageableAccess, hipDeviceAttributePageableMemoryAccess);
SIM_SAME(kPciBus, hipDeviceAttributePciBusId);
SIM_SAME(kPciDevice, hipDeviceAttributePciDeviceId);
SIM_SAME(kPciDomain, hipDeviceAttributePciDomainID);
SIM_SAME(kRegistersPerBlock, hipDeviceAttributeMaxRegistersPerBlock);
SIM_SAME(kRegistersPerMultiprocessor, hipDeviceAttributeMaxRegistersPerMultiprocessor);
SIM_SAME(kSharedPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock);
SIM_SAME(kSharedPerBlockOptin, hipDeviceAttributeSharedMemPerBlockOptin);
SIM_SAME(kSharedPerMultiprocessor, hipDeviceAttributeSharedMemPerMultiprocessor);
SIM_SAME(kStreamPriorities, hipDeviceAttributeStreamPrioritiesSupported);
SIM_SAME(kConstantBytes, hipDeviceAttributeTotalConstantMemory);
SIM_SAME(kGlobalBytes, hipDeviceAttributeTotalGlobalMem);
SIM_SAME(kUnifiedAddressing, hipDeviceAttributeUnifiedAddressing);
SIM_SAME(kWarpSize, hipDeviceAttributeWarpSize);
SIM_SAME(kMemoryPools, hipDeviceAttributeMemoryPoolsSupported);
SIM_SAME(kMaxSharedPerMultiprocessor, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
SIM_SAME(kAsicRevision, hipDeviceAttributeAsicRevision);
SIM_SAME(kInvalidValue, hipErrorInvalidValue);
SIM_SAME(kOutOfMemory, hipErrorOutOfMemory);
SIM_SAME(kNotInitialized, hipErrorNotInitialized);
SIM_SAME(kDeinitialized, hipErrorDeinitialized);
SIM_SAME(kInvalidConfiguration, hipErrorInvalidConfiguration);
SIM_SAME(kInvalidCopyDirection, hipErrorInvalidMemcpyDirection);
SIM_SAME(kNoDevice, hipErrorNoDevice);
SIM_SAME(kInvalidDevice, hipErrorInvalidDevice);
SIM_SAME(kInvalidImage, hipErrorInvalidImage);
SIM_SAME(kInvalidContext, hipErrorInvalidContext);
SIM_SAME(kNoBinaryForGpu, hipErrorNoBinaryForGpu);
SIM_SAME(kInvalidHandle, hipErrorInvalidHandle);
SIM_SAME(kNotFound, hipErrorNotFound);
SIM_SAME(kNotReady, hipErrorNotReady);
SIM_SAME(kIllegalAddress, hipErrorIllegalAddress);
SIM_SAME(kPeerAlreadyEnabled, hipErrorPeerAccessAlreadyEnabled);
SIM_SAME(kContextIsDestroyed, hipErrorContextIsDestroyed);
SIM_SAME(kAlreadyRegistered, hipErrorHostMemoryAlreadyRegistered);
SIM_SAME(kNotRegistered, hipErrorHostMemoryNotRegistered);
SIM_SAME(kLaunchFailed, hipErrorLaunchFailure);
SIM_SAME(kNotSupported, hipErrorNotSupported);
SIM_SAME(kCaptureUnsupported, hipErrorStreamCaptureUnsupported);
SIM_SAME(kCaptureInvalidated, hipErrorStreamCaptureInvalidated);
SIM_SAME(kCaptureMerge, hipErrorStreamCaptureMerge);
SIM_SAME(kCaptureUnmatched, hipErrorStreamCaptureUnmatched);
SIM_SAME(kCaptureUnjoined, hipErrorStreamCaptureUnjoined);
SIM_SAME(kCaptureIsolation, hipErrorStreamCaptureIsolation);
SIM_SAME(kCaptureImplicit, hipErrorStreamCaptureImplicit);
SIM_SAME(kCapturedEvent, hipErrorCapturedEvent);
SIM_SAME(kCaptureWrongThread, hipErrorStreamCaptureWrongThread);
SIM_SAME(kGraphUpdateFailure, hipErrorGraphExecUpdateFailure);
SIM_SAME(kHostToHost, hipMemcpyHostToHost);
SIM_SAME(kHostToDevice, hipMemcpyHostToDevice);
SIM_SAME(kDeviceToHost, hipMemcpyDeviceToHost);
SIM_SAME(kDeviceToDevice, hipMemcpyDeviceToDevice);
SIM_SAME(kDefault, hipMemcpyDefault);
SIM_SAME(kFunctionMaxThreads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SIM_SAME(kFunctionSharedBytes, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SIM_SAME(kFunctionLocalBytes, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SIM_SAME(kFunctionRegisters, HIP_FUNC_ATTRIBUTE_NUM_REGS);
SIM_SAME(kFunctionMaxDynamicShared, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SIM_SAME(kStreamNonBlocking, hipStreamNonBlocking);
SIM_SAME(kEventDisableTiming, hipEventDisableTiming);
SIM_SAME(kAttachGlobal, hipMemAttachGlobal);
SIM_SAME(kAttachHost, hipMemAttachHost);

static_assert(sizeof(MemAccessDesc) == sizeof(hipMemAccessDesc));
static_assert(sizeof(MemPoolProps) == sizeof(hipMemPoolProps));
static_assert(offsetof(MemPoolProps, location) == offsetof(hipMemPoolProps, location));
static_assert(sizeof(PointerAttribute) == sizeof(hipPointerAttribute_t));
static_assert(offsetof(PointerAttribute, device_pointer) ==
              offsetof(hipPointerAttribute_t, devicePointer));
#if HIP_VERSION_MAJOR >= 6
SIM_SAME(kUnregistered, hipMemoryTypeUnregistered);
SIM_SAME(kHost, hipMemoryTypeHost);
SIM_SAME(kDevice, hipMemoryTypeDevice);
SIM_SAME(kManaged, hipMemoryTypeManaged);
static_assert(sizeof(DevicePropR0600) == sizeof(hipDeviceProp_tR0600));
static_assert(offsetof(DevicePropR0600, gcn_arch_name) ==
              offsetof(hipDeviceProp_tR0600, gcnArchName));
static_assert(offsetof(DevicePropR0600, max_shared_per_multiprocessor) ==
              offsetof(hipDeviceProp_tR0600, maxSharedMemoryPerMultiProcessor));
#endif

}  // namespace
}  // namespace sim::hip
