// SPDX-License-Identifier: Apache-2.0
// The functions of NVIDIA's driver that the plugin calls.
// They are declared here, so that the plugin can be built without the CUDA toolkit.
// cuda_api_check.cc compares the declarations with cuda.h if that header is installed.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_API_H
#define GUFUNC_BACKENDS_CUDA_CUDA_API_H

#include <cstddef>
#include <cstdint>

namespace gufunc::cuda {

using Result = int;
using DeviceNumber = int;
using DeviceAddress = unsigned long long;
using Handle = void *;  // a context, stream, event, module, function, pool or graph

// The values of the driver's enums that the plugin uses.
constexpr int kAttributeSharedBytes = 8;
constexpr int kAttributeMultiprocessors = 16;
constexpr int kAttributeMajor = 75;
constexpr int kAttributeMinor = 76;
constexpr int kAttributeManaged = 83;
constexpr int kAttributeSharedBytesOptIn = 97;
constexpr int kAttributePools = 115;

constexpr int kFunctionMaxThreads = 0;
constexpr int kFunctionSharedBytes = 1;
constexpr int kFunctionLocalBytes = 3;
constexpr int kFunctionRegisters = 4;
constexpr int kFunctionDynamicSharedBytes = 8;

constexpr int kPoolInternalDependencies = 3;
constexpr int kPoolReleaseThreshold = 4;

constexpr int kPoolReadWrite = 3;

constexpr int kPointerMemoryType = 2;
constexpr int kPointerOrdinal = 9;

constexpr int kLaunchBuffer = 1;
constexpr int kLaunchBufferSize = 2;

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDefault = 0;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kHostPortable = 1;
constexpr unsigned kHostDeviceMap = 2;
constexpr unsigned kManagedGlobal = 1;

constexpr Result kSuccess = 0;
constexpr Result kInvalidContext = 201;
constexpr Result kNotFound = 500;
constexpr Result kNotSupported = 801;
constexpr Result kGraphUpdateFailure = 910;

struct PoolLocation {
  int type;  // 1: device
  int id;
};
struct PoolProperties {
  int allocation_type;  // 1: pinned, which is the driver's term for device memory
  int handle_types;
  PoolLocation location;
  void *security;
  size_t max_bytes;
  unsigned short usage;
  unsigned char reserved[54];
};
struct PoolAccess {
  PoolLocation location;
  int flags;
};
struct GraphUpdateResult {
  int result;
  Handle node, from_node;
};

using HostFunction = void (*)(void *);

// X(member, name, version, suffix, needed, parameters). `version` is the CUDA version
// that introduced this variant of the function, and `suffix` is the suffix of its symbol.
// If `needed` is true, the plugin requires the function, which the oldest supported driver has.
#define GUF_CUDA_FUNCTIONS(X)                                                                     \
  X(init, cuInit, 2000, "", true, (unsigned))                                                     \
  X(driver_version, cuDriverGetVersion, 2020, "", true, (int *))                                  \
  X(device_count, cuDeviceGetCount, 2000, "", true, (int *))                                      \
  X(device_get, cuDeviceGet, 2000, "", true, (DeviceNumber *, int))                               \
  X(device_name, cuDeviceGetName, 2000, "", true, (char *, int, DeviceNumber))                    \
  X(device_memory, cuDeviceTotalMem, 3020, "_v2", true, (size_t *, DeviceNumber))                 \
  X(device_attribute, cuDeviceGetAttribute, 2000, "", true, (int *, int, DeviceNumber))           \
  X(can_access_peer, cuDeviceCanAccessPeer, 4000, "", true, (int *, DeviceNumber, DeviceNumber))  \
  X(context_retain, cuDevicePrimaryCtxRetain, 7000, "", true, (Handle *, DeviceNumber))           \
  X(context_release, cuDevicePrimaryCtxRelease, 11000, "_v2", true, (DeviceNumber))               \
  X(context_push, cuCtxPushCurrent, 4000, "_v2", true, (Handle))                                  \
  X(context_pop, cuCtxPopCurrent, 4000, "_v2", true, (Handle *))                                  \
  X(context_current, cuCtxGetCurrent, 4000, "", true, (Handle *))                                 \
  X(context_device, cuCtxGetDevice, 2000, "", true, (DeviceNumber *))                             \
  X(context_synchronize, cuCtxSynchronize, 2000, "", true, ())                                    \
  X(enable_peer, cuCtxEnablePeerAccess, 4000, "", true, (Handle, unsigned))                       \
  X(memory_info, cuMemGetInfo, 3020, "_v2", true, (size_t *, size_t *))                           \
  X(allocate, cuMemAlloc, 3020, "_v2", true, (DeviceAddress *, size_t))                           \
  X(free, cuMemFree, 3020, "_v2", true, (DeviceAddress))                                          \
  X(free_async, cuMemFreeAsync, 11020, "", false, (DeviceAddress, Handle))                        \
  X(allocate_from_pool, cuMemAllocFromPoolAsync, 11020, "", false,                                \
    (DeviceAddress *, size_t, Handle, Handle))                                                    \
  X(pool_create, cuMemPoolCreate, 11020, "", false, (Handle *, const PoolProperties *))           \
  X(pool_destroy, cuMemPoolDestroy, 11020, "", false, (Handle))                                   \
  X(pool_set, cuMemPoolSetAttribute, 11020, "", false, (Handle, int, void *))                     \
  X(pool_access, cuMemPoolSetAccess, 11020, "", false, (Handle, const PoolAccess *, size_t))      \
  X(pool_trim, cuMemPoolTrimTo, 11020, "", false, (Handle, size_t))                               \
  X(host_allocate, cuMemHostAlloc, 2020, "", true, (void **, size_t, unsigned))                   \
  X(host_free, cuMemFreeHost, 2000, "", true, (void *))                                           \
  X(host_register, cuMemHostRegister, 6050, "_v2", true, (void *, size_t, unsigned))              \
  X(host_unregister, cuMemHostUnregister, 4000, "", true, (void *))                               \
  X(host_address, cuMemHostGetDevicePointer, 3020, "_v2", true,                                   \
    (DeviceAddress *, void *, unsigned))                                                          \
  X(managed_allocate, cuMemAllocManaged, 6000, "", true, (DeviceAddress *, size_t, unsigned))     \
  X(copy_in, cuMemcpyHtoDAsync, 3020, "_v2", true, (DeviceAddress, const void *, size_t, Handle)) \
  X(copy_out, cuMemcpyDtoHAsync, 3020, "_v2", true, (void *, DeviceAddress, size_t, Handle))      \
  X(copy_within, cuMemcpyDtoDAsync, 3020, "_v2", true,                                            \
    (DeviceAddress, DeviceAddress, size_t, Handle))                                               \
  X(copy_peer, cuMemcpyPeerAsync, 4000, "", true,                                                 \
    (DeviceAddress, Handle, DeviceAddress, Handle, size_t, Handle))                               \
  X(set8, cuMemsetD8Async, 3020, "", true, (DeviceAddress, unsigned char, size_t, Handle))        \
  X(set16, cuMemsetD16Async, 3020, "", true, (DeviceAddress, unsigned short, size_t, Handle))     \
  X(set32, cuMemsetD32Async, 3020, "", true, (DeviceAddress, unsigned, size_t, Handle))           \
  X(pointer_attribute, cuPointerGetAttribute, 4000, "", true, (void *, int, DeviceAddress))       \
  X(stream_create, cuStreamCreateWithPriority, 5050, "", true, (Handle *, unsigned, int))         \
  X(stream_destroy, cuStreamDestroy, 4000, "_v2", true, (Handle))                                 \
  X(stream_query, cuStreamQuery, 2000, "", true, (Handle))                                        \
  X(stream_synchronize, cuStreamSynchronize, 2000, "", true, (Handle))                            \
  X(stream_wait, cuStreamWaitEvent, 3020, "", true, (Handle, Handle, unsigned))                   \
  X(stream_context, cuStreamGetCtx, 9020, "", true, (Handle, Handle *))                           \
  X(stream_capturing, cuStreamIsCapturing, 10000, "", true, (Handle, int *))                      \
  X(capture_begin, cuStreamBeginCapture, 10010, "_v2", true, (Handle, int))                       \
  X(capture_end, cuStreamEndCapture, 10000, "", true, (Handle, Handle *))                         \
  X(capture_exchange, cuThreadExchangeStreamCaptureMode, 10010, "", true, (int *))                \
  X(launch_host, cuLaunchHostFunc, 10000, "", true, (Handle, HostFunction, void *))               \
  X(event_create, cuEventCreate, 2000, "", true, (Handle *, unsigned))                            \
  X(event_destroy, cuEventDestroy, 4000, "_v2", true, (Handle))                                   \
  X(event_record, cuEventRecord, 2000, "", true, (Handle, Handle))                                \
  X(event_query, cuEventQuery, 2000, "", true, (Handle))                                          \
  X(event_synchronize, cuEventSynchronize, 2000, "", true, (Handle))                              \
  X(event_elapsed, cuEventElapsedTime, 2000, "", true, (float *, Handle, Handle))                 \
  X(module_load, cuModuleLoadData, 2000, "", true, (Handle *, const void *))                      \
  X(module_unload, cuModuleUnload, 2000, "", true, (Handle))                                      \
  X(module_function, cuModuleGetFunction, 2000, "", true, (Handle *, Handle, const char *))       \
  X(library_load, cuLibraryLoadData, 12000, "", false,                                            \
    (Handle *, const void *, void *, void **, unsigned, void *, void **, unsigned))               \
  X(library_unload, cuLibraryUnload, 12000, "", false, (Handle))                                  \
  X(library_module, cuLibraryGetModule, 12000, "", false, (Handle *, Handle))                     \
  X(library_kernel, cuLibraryGetKernel, 12000, "", false, (Handle *, Handle, const char *))       \
  X(kernel_function, cuKernelGetFunction, 12000, "", false, (Handle *, Handle))                   \
  X(function_get, cuFuncGetAttribute, 2020, "", true, (int *, int, Handle))                       \
  X(function_set, cuFuncSetAttribute, 9000, "", true, (Handle, int, int))                         \
  X(function_load, cuFuncLoad, 12040, "", false, (Handle))                                        \
  X(launch, cuLaunchKernel, 4000, "", true,                                                       \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,        \
     void **, void **))                                                                           \
  X(graph_instantiate, cuGraphInstantiateWithFlags, 11040, "", false,                             \
    (Handle *, Handle, unsigned long long))                                                       \
  X(graph_update, cuGraphExecUpdate, 12000, "_v2", false, (Handle, Handle, GraphUpdateResult *))  \
  X(graph_launch, cuGraphLaunch, 10000, "", true, (Handle, Handle))                               \
  X(graph_destroy, cuGraphDestroy, 10000, "", true, (Handle))                                     \
  X(executable_destroy, cuGraphExecDestroy, 10000, "", true, (Handle))

struct Api {
#define GUF_CUDA_MEMBER(member, name, version, suffix, needed, parameters) \
  Result(*member) parameters = nullptr;
  GUF_CUDA_FUNCTIONS(GUF_CUDA_MEMBER)
#undef GUF_CUDA_MEMBER
};

}  // namespace gufunc::cuda

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_API_H
