// SPDX-License-Identifier: Apache-2.0
// A code marks the device as lost if the driver's header documents the code as sticky, or if the
// code reports that the context is destroyed. The driver returns the same code, INVALID_IMAGE, for
// a damaged cubin and for a cubin of a later assembler, so the kind of this code is kNoImage.
#include "backends/cuda/cuda_codes.h"

#include <algorithm>

namespace gufunc::cuda {
namespace {

using gpu::ErrorInfo;
using gpu::ErrorKind;

constexpr ErrorInfo kCodes[] = {
    {0, GUF_OK, ErrorKind::kPlain, "CUDA_SUCCESS"},
    {1, GUF_E_ARG, ErrorKind::kValue, "CUDA_ERROR_INVALID_VALUE"},
    {2, GUF_E_DEVICE_MEMORY, ErrorKind::kNoMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, GUF_E_NO_DRIVER, ErrorKind::kPlain, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_DEINITIALIZED"},
    {5, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_PROFILER_DISABLED"},
    {6, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_PROFILER_NOT_INITIALIZED"},
    {7, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_PROFILER_ALREADY_STARTED"},
    {8, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_PROFILER_ALREADY_STOPPED"},
    {34, GUF_E_NO_DRIVER, ErrorKind::kStub, "CUDA_ERROR_STUB_LIBRARY"},
    {36, GUF_E_DRIVER_OLD, ErrorKind::kPlain, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    {46, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_NO_DEVICE"},
    {101, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_INVALID_DEVICE"},
    {102, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
    {200, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_INVALID_IMAGE"},
    {201, GUF_E_HANDLE, ErrorKind::kPlain, "CUDA_ERROR_INVALID_CONTEXT"},
    {202, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"},
    {205, GUF_E_DEVICE_MEMORY, ErrorKind::kPlain, "CUDA_ERROR_MAP_FAILED"},
    {206, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_UNMAP_FAILED"},
    {207, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_ARRAY_IS_MAPPED"},
    {208, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_ALREADY_MAPPED"},
    {209, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {210, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_ALREADY_ACQUIRED"},
    {211, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_NOT_MAPPED"},
    {212, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY"},
    {213, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_NOT_MAPPED_AS_POINTER"},
    {214, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {215, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    {216, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
    {217, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_INVALID_PTX"},
    {219, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
    {220, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {221, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {223, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    {224, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"},
    {225, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"},
    {226, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_CONTAINED"},
    {300, GUF_E_NO_IMAGE, ErrorKind::kNoImage, "CUDA_ERROR_INVALID_SOURCE"},
    {301, GUF_E_IO, ErrorKind::kPlain, "CUDA_ERROR_FILE_NOT_FOUND"},
    {302, GUF_E_NO_DRIVER, ErrorKind::kPlain, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"},
    {303, GUF_E_NO_DRIVER, ErrorKind::kPlain, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"},
    {304, GUF_E_IO, ErrorKind::kPlain, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, GUF_E_HANDLE, ErrorKind::kPlain, "CUDA_ERROR_INVALID_HANDLE"},
    {401, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_ILLEGAL_STATE"},
    {402, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_LOSSY_QUERY"},
    {500, GUF_E_NOT_FOUND, ErrorKind::kNotFound, "CUDA_ERROR_NOT_FOUND"},
    {600, GUF_NOT_READY, ErrorKind::kNotReady, "CUDA_ERROR_NOT_READY"},
    {700, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {703, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
    {704, GUF_E_EXISTS, ErrorKind::kEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {705, GUF_E_DEVICE_MISMATCH, ErrorKind::kPlain, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {708, GUF_E_EXISTS, ErrorKind::kPlain, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, GUF_E_DEVICE_LOST, ErrorKind::kGone, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_ASSERT"},
    {711, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_TOO_MANY_PEERS"},
    {712, GUF_E_EXISTS, ErrorKind::kPlain, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {714, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_INVALID_PC"},
    {719, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {721, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
    {800, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_NOT_PERMITTED"},
    {801, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, GUF_E_DRIVER_OLD, ErrorKind::kPlain, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, GUF_E_DRIVER_OLD, ErrorKind::kPlain, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {805, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    {806, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_MPS_RPC_FAILURE"},
    {807, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {808, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    {809, GUF_E_NO_DEVICE, ErrorKind::kPlain, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    {810, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
    {811, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_CDP_NOT_SUPPORTED"},
    {812, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_CDP_VERSION_MISMATCH"},
    {900, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {902, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {903, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {904, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {905, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {906, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {907, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_CAPTURED_EVENT"},
    {908, GUF_E_CAPTURE, ErrorKind::kPlain, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {909, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_TIMEOUT"},
    {910, GUF_E_UNSUPPORTED, ErrorKind::kPlain, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    {911, GUF_E_DEVICE_LOST, ErrorKind::kLost, "CUDA_ERROR_EXTERNAL_DEVICE"},
    {912, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {913, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_FUNCTION_NOT_LOADED"},
    {914, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_INVALID_RESOURCE_TYPE"},
    {915, GUF_E_ARG, ErrorKind::kPlain, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
    {916, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_KEY_ROTATION"},
    {999, GUF_E_LAUNCH, ErrorKind::kPlain, "CUDA_ERROR_UNKNOWN"},
};
constexpr ErrorInfo kUnknownCode = {-1, GUF_E_LAUNCH, ErrorKind::kPlain,
                                    "an error code of a later driver"};

}  // namespace

std::span<const ErrorInfo> known_codes() {
  return kCodes;
}

const ErrorInfo &error_info(gpu::Code code) {
  const auto *const found = std::lower_bound(
      std::begin(kCodes), std::end(kCodes), code,
      [](const ErrorInfo &row, gpu::Code requested) { return row.code < requested; });
  return found != std::end(kCodes) && found->code == code ? *found : kUnknownCode;
}

}  // namespace gufunc::cuda
