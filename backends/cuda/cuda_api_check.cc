// SPDX-License-Identifier: Apache-2.0
// Compares cuda_api.h with cuda.h: function types by the size and kind
// of their parameters, constants by value.
#include <cuda.h>

#include <type_traits>

#include "backends/cuda/cuda_api.h"

namespace gufunc::cuda {
namespace {

// True if two types have the same size and are both pointers, both floating-point types or neither.
// NOLINTBEGIN(bugprone-sizeof-expression,misc-redundant-expression): pointers, and equal types, too
template <class Ours, class Theirs>
constexpr bool kAlike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
// NOLINTEND(bugprone-sizeof-expression,misc-redundant-expression)

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... Ours, class S, class... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameCall<R (*)(Ours...), S (*)(Theirs...)>
    : std::bool_constant<kAlike<R, S> && (kAlike<Ours, Theirs> && ...)> {};

// Macros in the header map each name to the name with the suffix of its variant.
#define GUF_CUDA_SAME(member, name, version, suffix, needed, parameters) \
  static_assert(SameCall<decltype(Api::member), decltype(&::name)>::value, #name);
// Since CUDA 12.8, the header maps some names to another variant, which has the same parameters.
GUF_CUDA_FUNCTIONS(GUF_CUDA_SAME)
#undef GUF_CUDA_SAME

static_assert(kAttributeSharedBytes == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
static_assert(kAttributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kAttributeManaged == CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
static_assert(kAttributeSharedBytesOptIn == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(kAttributePools == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(kFunctionMaxThreads == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(kFunctionSharedBytes == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(kFunctionLocalBytes == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(kFunctionRegisters == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(kFunctionDynamicSharedBytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(kPoolInternalDependencies == CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
static_assert(kPoolReleaseThreshold == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(kPoolReadWrite == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(kPointerOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kEventDefault == CU_EVENT_DEFAULT && kEventDisableTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kHostPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(kHostPortable == CU_MEMHOSTREGISTER_PORTABLE);
static_assert(kHostDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(kHostDeviceMap == CU_MEMHOSTREGISTER_DEVICEMAP);
static_assert(kManagedGlobal == CU_MEM_ATTACH_GLOBAL);
static_assert(kNotFound == CUDA_ERROR_NOT_FOUND && kNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(kInvalidContext == CUDA_ERROR_INVALID_CONTEXT);
static_assert(kGraphUpdateFailure == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);

static_assert(sizeof(PoolProperties) == sizeof(CUmemPoolProps));
static_assert(offsetof(PoolProperties, location) == offsetof(CUmemPoolProps, location));
static_assert(CU_MEM_ALLOCATION_TYPE_PINNED == 1 && CU_MEM_LOCATION_TYPE_DEVICE == 1);
static_assert(sizeof(PoolAccess) == sizeof(CUmemAccessDesc));
static_assert(offsetof(PoolAccess, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(GraphUpdateResult) == sizeof(CUgraphExecUpdateResultInfo));

}  // namespace
}  // namespace gufunc::cuda
