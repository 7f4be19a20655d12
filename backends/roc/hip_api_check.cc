// SPDX-License-Identifier: Apache-2.0
// Compares hip_api.h with HIP's header, version 5.2 or later. HIP 6 and 7 rename functions
// with macros, so the declared types are saved before the header is included.
#include "backends/roc/hip_api.h"

#include <string_view>

namespace gufunc::roc {
namespace {

#define GUF_HIP_DECLARED(function, needed, parameters) \
  using Declared_##function = decltype(Hip::function)::Pointer;  // NOLINT: HIP's names
GUF_HIP_FUNCTIONS(GUF_HIP_DECLARED)
#undef GUF_HIP_DECLARED

}  // namespace
}  // namespace gufunc::roc

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): HIP's names
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <type_traits>

namespace gufunc::roc {
namespace {

template <class Declared, class Real>
consteval bool passes_alike() {
  if (std::is_pointer_v<Declared> != std::is_pointer_v<Real>) return false;
  return sizeof(Declared) == sizeof(Real);  // NOLINT(bugprone-sizeof-expression): pointers, too
}

template <class... Declared, class Real, class... Parameters>
consteval bool agrees(HipError (*)(Declared...), Real (*)(Parameters...)) {
  if constexpr (sizeof...(Declared) != sizeof...(Parameters)) {
    return false;
  } else {
    return sizeof(Real) == sizeof(HipError) && (passes_alike<Declared, Parameters>() && ...);
  }
}

// Functions that HIP 5.2 lacks, or declares with other parameters, are not compared.
// A function that the header renames is not compared either, because such a header no longer
// declares the original name, which the plugin looks up.
#define GUF_HIP_TEXT(text) #text
#define GUF_HIP_NAME(function) GUF_HIP_TEXT(function)
#define GUF_HIP_AGREES(function)                                         \
  static_assert(std::string_view(#function) != GUF_HIP_NAME(function) || \
                agrees(Declared_##function{}, decltype(&::function){}))
GUF_HIP_AGREES(hipInit);
GUF_HIP_AGREES(hipGetLastError);
GUF_HIP_AGREES(hipRuntimeGetVersion);
GUF_HIP_AGREES(hipGetDeviceCount);
GUF_HIP_AGREES(hipGetDevice);
GUF_HIP_AGREES(hipSetDevice);
GUF_HIP_AGREES(hipGetDeviceProperties);
GUF_HIP_AGREES(hipDeviceGetName);
GUF_HIP_AGREES(hipDeviceTotalMem);
GUF_HIP_AGREES(hipDeviceGetAttribute);
GUF_HIP_AGREES(hipDeviceSynchronize);
GUF_HIP_AGREES(hipDeviceCanAccessPeer);
GUF_HIP_AGREES(hipDeviceEnablePeerAccess);
GUF_HIP_AGREES(hipMemGetInfo);
GUF_HIP_AGREES(hipMalloc);
GUF_HIP_AGREES(hipFree);
GUF_HIP_AGREES(hipFreeAsync);
GUF_HIP_AGREES(hipMemPoolCreate);
GUF_HIP_AGREES(hipMemPoolDestroy);
GUF_HIP_AGREES(hipMemPoolSetAccess);
GUF_HIP_AGREES(hipMemPoolSetAttribute);
GUF_HIP_AGREES(hipMemPoolTrimTo);
GUF_HIP_AGREES(hipHostMalloc);
GUF_HIP_AGREES(hipHostFree);
GUF_HIP_AGREES(hipHostRegister);
GUF_HIP_AGREES(hipHostUnregister);
GUF_HIP_AGREES(hipHostGetDevicePointer);
GUF_HIP_AGREES(hipMallocManaged);
GUF_HIP_AGREES(hipMemcpyHtoDAsync);
GUF_HIP_AGREES(hipMemcpyDtoHAsync);
GUF_HIP_AGREES(hipMemcpyDtoDAsync);
GUF_HIP_AGREES(hipMemcpyPeerAsync);
GUF_HIP_AGREES(hipMemsetD8Async);
GUF_HIP_AGREES(hipMemsetD16Async);
GUF_HIP_AGREES(hipMemsetD32Async);
GUF_HIP_AGREES(hipPointerGetAttributes);
GUF_HIP_AGREES(hipStreamCreateWithPriority);
GUF_HIP_AGREES(hipStreamDestroy);
GUF_HIP_AGREES(hipStreamQuery);
GUF_HIP_AGREES(hipStreamSynchronize);
GUF_HIP_AGREES(hipStreamWaitEvent);
GUF_HIP_AGREES(hipStreamIsCapturing);
GUF_HIP_AGREES(hipStreamBeginCapture);
GUF_HIP_AGREES(hipStreamEndCapture);
GUF_HIP_AGREES(hipThreadExchangeStreamCaptureMode);
GUF_HIP_AGREES(hipLaunchHostFunc);
GUF_HIP_AGREES(hipStreamAddCallback);
GUF_HIP_AGREES(hipEventCreateWithFlags);
GUF_HIP_AGREES(hipEventDestroy);
GUF_HIP_AGREES(hipEventRecord);
GUF_HIP_AGREES(hipEventQuery);
GUF_HIP_AGREES(hipEventSynchronize);
GUF_HIP_AGREES(hipEventElapsedTime);
GUF_HIP_AGREES(hipModuleLoadData);
GUF_HIP_AGREES(hipModuleUnload);
GUF_HIP_AGREES(hipModuleGetFunction);
GUF_HIP_AGREES(hipFuncGetAttribute);
GUF_HIP_AGREES(hipModuleLaunchKernel);
GUF_HIP_AGREES(hipGraphInstantiate);
GUF_HIP_AGREES(hipGraphLaunch);
GUF_HIP_AGREES(hipGraphDestroy);
GUF_HIP_AGREES(hipGraphExecDestroy);
#if HIP_VERSION_MAJOR >= 6
GUF_HIP_AGREES(hipGetDevicePropertiesR0600);
GUF_HIP_AGREES(hipStreamGetDevice);
GUF_HIP_AGREES(hipGraphExecUpdate);
#endif
#undef GUF_HIP_AGREES
#undef GUF_HIP_NAME
#undef GUF_HIP_TEXT

static_assert(kUnitsAttribute == hipDeviceAttributeMultiprocessorCount);
static_assert(kSharedBytesAttribute == hipDeviceAttributeMaxSharedMemoryPerBlock);
static_assert(kPoolsAttribute == hipDeviceAttributeMemoryPoolsSupported);
static_assert(kManagedAttribute == hipDeviceAttributeManagedMemory);
static_assert(kPoolInternalDependencies == hipMemPoolReuseAllowInternalDependencies);
static_assert(kPoolThreshold == hipMemPoolAttrReleaseThreshold);
static_assert(kPoolReadWrite == hipMemAccessFlagsProtReadWrite);
static_assert(sizeof(HipPoolAccess) == sizeof(hipMemAccessDesc));
static_assert(offsetof(HipPoolAccess, flags) == offsetof(hipMemAccessDesc, flags));
static_assert(kFunctionMaxThreads == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(kFunctionSharedBytes == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kFunctionLocalBytes == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(kFunctionRegisters == HIP_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(kNonBlockingStream == hipStreamNonBlocking);
static_assert(kUntimedEvent == hipEventDisableTiming);
static_assert(kPortableMemory == hipHostMallocPortable && kMappedMemory == hipHostMallocMapped);
static_assert(kPortableMemory == hipHostRegisterPortable && kMappedMemory == hipHostRegisterMapped);
static_assert(kFineGrained == hipHostMallocCoherent && kCoarseGrained == hipHostMallocNonCoherent);
static_assert(kManagedForAll == hipMemAttachGlobal);
static_assert(kHipAlreadyRegistered == hipErrorHostMemoryAlreadyRegistered);
static_assert(kHipNotSupported == hipErrorNotSupported);
static_assert(kHipInvalidConfiguration == hipErrorInvalidConfiguration);
static_assert(kHipGraphUpdateFailure == hipErrorGraphExecUpdateFailure);

static_assert(sizeof(HipPoolProperties) == sizeof(hipMemPoolProps));
static_assert(offsetof(HipPoolProperties, location_type) == offsetof(hipMemPoolProps, location));
static_assert(sizeof(HipPointer) == sizeof(hipPointerAttribute_t));
static_assert(offsetof(HipPointer, device_pointer) ==
              offsetof(hipPointerAttribute_t, devicePointer));
#if HIP_VERSION_MAJOR < 6
static_assert(kTargetInProperties5 == offsetof(hipDeviceProp_t, gcnArchName));
#else
static_assert(kTargetInProperties6 == offsetof(hipDeviceProp_tR0600, gcnArchName));
#endif

}  // namespace
}  // namespace gufunc::roc
