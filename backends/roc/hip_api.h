// SPDX-License-Identifier: Apache-2.0
// The functions of AMD's HIP runtime that the plugin calls.
// They are declared here, so that the plugin can be built without ROCm.
// hip_api_check.cc compares the declarations with HIP's header if that header is installed.
#ifndef GUFUNC_BACKENDS_ROC_HIP_API_H
#define GUFUNC_BACKENDS_ROC_HIP_API_H

#include <cstddef>
#include <cstdint>

namespace gufunc::roc {

using HipError = int;
using HipHandle = void *;

constexpr HipError kHipSuccess = 0;
constexpr HipError kHipOutOfMemory = 2;
constexpr HipError kHipInvalidConfiguration = 9;
constexpr HipError kHipAlreadyRegistered = 712;
constexpr HipError kHipNotSupported = 801;
constexpr HipError kHipGraphUpdateFailure = 910;

// The following values are the same in HIP 5.2 to 7.
constexpr int kUnitsAttribute = 63;
constexpr int kSharedBytesAttribute = 74;
constexpr int kPoolsAttribute = 88;
constexpr int kManagedAttribute = 24;
constexpr int kPoolInternalDependencies = 3;
constexpr int kPoolThreshold = 4;
constexpr int kPoolReadWrite = 3;
constexpr int kFunctionMaxThreads = 0;
constexpr int kFunctionSharedBytes = 1;
constexpr int kFunctionLocalBytes = 3;
constexpr int kFunctionRegisters = 4;
constexpr unsigned kNonBlockingStream = 1;
constexpr unsigned kTimedEvent = 0;
constexpr unsigned kUntimedEvent = 2;
constexpr unsigned kPortableMemory = 0x1;
constexpr unsigned kMappedMemory = 0x2;
constexpr unsigned kFineGrained = 0x40000000u;
constexpr unsigned kCoarseGrained = 0x80000000u;
constexpr unsigned kManagedForAll = 1;

// The properties of a device are hundreds of fields, which differ between releases.
// The plugin only reads the target, whose offset depends on the release.
struct PropertyBytes {
  alignas(8) char bytes[4096];
};
constexpr size_t kTargetInProperties6 = 1160;  // offset in hipDeviceProp_tR0600
constexpr size_t kTargetInProperties5 = 396;   // offset in hipDeviceProp_t up to HIP 5

struct HipPoolProperties {
  int allocation_type;  // 1: pinned
  int handle_types;
  int location_type;  // 1: device
  int location_id;
  void *security;
  size_t max_bytes;
  unsigned char reserved[56];
};
struct HipPoolAccess {
  int location_type;  // 1: device
  int location_id;
  int flags;
};
struct HipPointer {
  int type;  // the values are different since HIP 6
  int device;
  void *device_pointer;
  void *host_pointer;
  int is_managed;
  unsigned flags;
};

using HipHostFunction = void (*)(void *);
using HipCallback = void (*)(HipHandle stream, HipError status, void *argument);

// X(function, needed, parameters). `needed` is true if HIP 5.2 has the function and the plugin has
// no substitute for it.
#define GUF_HIP_FUNCTIONS(X)                                                                     \
  X(hipInit, true, (unsigned))                                                                   \
  X(hipGetLastError, true, ())                                                                   \
  X(hipRuntimeGetVersion, true, (int *))                                                         \
  X(hipGetDeviceCount, true, (int *))                                                            \
  X(hipGetDevice, true, (int *))                                                                 \
  X(hipSetDevice, true, (int))                                                                   \
  X(hipGetDevicePropertiesR0600, false, (PropertyBytes *, int))                                  \
  X(hipGetDeviceProperties, false, (PropertyBytes *, int))                                       \
  X(hipDeviceGetName, true, (char *, int, int))                                                  \
  X(hipDeviceTotalMem, true, (size_t *, int))                                                    \
  X(hipDeviceGetAttribute, true, (int *, int, int))                                              \
  X(hipDeviceSynchronize, true, ())                                                              \
  X(hipDeviceCanAccessPeer, true, (int *, int, int))                                             \
  X(hipDeviceEnablePeerAccess, true, (int, unsigned))                                            \
  X(hipMemGetInfo, true, (size_t *, size_t *))                                                   \
  X(hipMalloc, true, (void **, size_t))                                                          \
  X(hipFree, true, (void *))                                                                     \
  X(hipFreeAsync, false, (void *, HipHandle))                                                    \
  X(hipMallocFromPoolAsync, false, (void **, size_t, HipHandle, HipHandle))                      \
  X(hipMemPoolCreate, false, (HipHandle *, const HipPoolProperties *))                           \
  X(hipMemPoolDestroy, false, (HipHandle))                                                       \
  X(hipMemPoolSetAttribute, false, (HipHandle, int, void *))                                     \
  X(hipMemPoolSetAccess, false, (HipHandle, const HipPoolAccess *, size_t))                      \
  X(hipMemPoolTrimTo, false, (HipHandle, size_t))                                                \
  X(hipHostMalloc, true, (void **, size_t, unsigned))                                            \
  X(hipHostFree, true, (void *))                                                                 \
  X(hipHostRegister, true, (void *, size_t, unsigned))                                           \
  X(hipHostUnregister, true, (void *))                                                           \
  X(hipHostGetDevicePointer, true, (void **, void *, unsigned))                                  \
  X(hipMallocManaged, true, (void **, size_t, unsigned))                                         \
  X(hipMemcpyHtoDAsync, true, (void *, void *, size_t, HipHandle))                               \
  X(hipMemcpyDtoHAsync, true, (void *, void *, size_t, HipHandle))                               \
  X(hipMemcpyDtoDAsync, true, (void *, void *, size_t, HipHandle))                               \
  X(hipMemcpyPeerAsync, true, (void *, int, const void *, int, size_t, HipHandle))               \
  X(hipMemsetD8Async, true, (void *, unsigned char, size_t, HipHandle))                          \
  X(hipMemsetD16Async, true, (void *, unsigned short, size_t, HipHandle))                        \
  X(hipMemsetD32Async, true, (void *, int, size_t, HipHandle))                                   \
  X(hipPointerGetAttributes, true, (HipPointer *, const void *))                                 \
  X(hipStreamCreateWithPriority, true, (HipHandle *, unsigned, int))                             \
  X(hipStreamDestroy, true, (HipHandle))                                                         \
  X(hipStreamQuery, true, (HipHandle))                                                           \
  X(hipStreamSynchronize, true, (HipHandle))                                                     \
  X(hipStreamWaitEvent, true, (HipHandle, HipHandle, unsigned))                                  \
  X(hipStreamGetDevice, false, (HipHandle, int *))                                               \
  X(hipStreamIsCapturing, false, (HipHandle, int *))                                             \
  X(hipStreamBeginCapture, false, (HipHandle, int))                                              \
  X(hipStreamEndCapture, false, (HipHandle, HipHandle *))                                        \
  X(hipThreadExchangeStreamCaptureMode, false, (int *))                                          \
  X(hipLaunchHostFunc, false, (HipHandle, HipHostFunction, void *))                              \
  X(hipStreamAddCallback, true, (HipHandle, HipCallback, void *, unsigned))                      \
  X(hipEventCreateWithFlags, true, (HipHandle *, unsigned))                                      \
  X(hipEventDestroy, true, (HipHandle))                                                          \
  X(hipEventRecord, true, (HipHandle, HipHandle))                                                \
  X(hipEventQuery, true, (HipHandle))                                                            \
  X(hipEventSynchronize, true, (HipHandle))                                                      \
  X(hipEventElapsedTime, true, (float *, HipHandle, HipHandle))                                  \
  X(hipModuleLoadData, true, (HipHandle *, const void *))                                        \
  X(hipModuleUnload, true, (HipHandle))                                                          \
  X(hipModuleGetFunction, true, (HipHandle *, HipHandle, const char *))                          \
  X(hipFuncGetAttribute, false, (int *, int, HipHandle))                                         \
  X(hipModuleLaunchKernel, true,                                                                 \
    (HipHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, HipHandle, \
     void **, void **))                                                                          \
  X(hipGraphInstantiate, false, (HipHandle *, HipHandle, HipHandle *, char *, size_t))           \
  X(hipGraphExecUpdate, false, (HipHandle, HipHandle, HipHandle *, int *))                       \
  X(hipGraphLaunch, false, (HipHandle, HipHandle))                                               \
  X(hipGraphDestroy, false, (HipHandle))                                                         \
  X(hipGraphExecDestroy, false, (HipHandle))

// A function of HIP. HIP keeps the code of a failed call for hipGetLastError,
// and a program could mistake this code for a failure of its own.
// The plugin reports failures itself, so a failed call clears the code. This also clears an earlier
// error that the program has not read yet, which any failed call would overwrite.
template <class F>
class HipFunction;
template <class... Parameters>
class HipFunction<HipError (*)(Parameters...)> {
 public:
  using Pointer = HipError (*)(Parameters...);

  void set(void *address, void *last_error) {
    function_ = reinterpret_cast<Pointer>(address);
    last_error_ = reinterpret_cast<HipError (*)()>(last_error);
  }
  bool operator==(std::nullptr_t) const { return function_ == nullptr; }

  HipError operator()(Parameters... parameters) const {
    const HipError code = function_(parameters...);
    if (__builtin_expect(code != kHipSuccess, 0)) last_error_();
    return code;
  }

 private:
  Pointer function_ = nullptr;
  HipError (*last_error_)() = nullptr;
};

// NOLINTBEGIN(readability-identifier-naming): members have the names that HIP gives them
struct Hip {
#define GUF_HIP_MEMBER(function, needed, parameters) HipFunction<HipError(*) parameters> function;
  GUF_HIP_FUNCTIONS(GUF_HIP_MEMBER)
#undef GUF_HIP_MEMBER
};
// NOLINTEND(readability-identifier-naming)

}  // namespace gufunc::roc

#endif  // GUFUNC_BACKENDS_ROC_HIP_API_H
