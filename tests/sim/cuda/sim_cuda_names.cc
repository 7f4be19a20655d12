// SPDX-License-Identifier: Apache-2.0
// Defines the names of result codes, and the vendor-specific properties of this driver.
#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_symbols.h"

namespace {

struct Name {
  int code;
  const char *name;
};
constexpr Name kNames[] = {
    {0, "CUDA_SUCCESS"},
    {1, "CUDA_ERROR_INVALID_VALUE"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, "CUDA_ERROR_DEINITIALIZED"},
    {5, "CUDA_ERROR_PROFILER_DISABLED"},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED"},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED"},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED"},
    {34, "CUDA_ERROR_STUB_LIBRARY"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"},
    {101, "CUDA_ERROR_INVALID_DEVICE"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED"},
    {200, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"},
    {205, "CUDA_ERROR_MAP_FAILED"},
    {206, "CUDA_ERROR_UNMAP_FAILED"},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED"},
    {208, "CUDA_ERROR_ALREADY_MAPPED"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED"},
    {211, "CUDA_ERROR_NOT_MAPPED"},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY"},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED"},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC"},
    {226, "CUDA_ERROR_CONTAINED"},
    {300, "CUDA_ERROR_INVALID_SOURCE"},
    {301, "CUDA_ERROR_FILE_NOT_FOUND"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, "CUDA_ERROR_INVALID_HANDLE"},
    {401, "CUDA_ERROR_ILLEGAL_STATE"},
    {402, "CUDA_ERROR_LOSSY_QUERY"},
    {500, "CUDA_ERROR_NOT_FOUND"},
    {600, "CUDA_ERROR_NOT_READY"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, "CUDA_ERROR_ASSERT"},
    {711, "CUDA_ERROR_TOO_MANY_PEERS"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
    {800, "CUDA_ERROR_NOT_PERMITTED"},
    {801, "CUDA_ERROR_NOT_SUPPORTED"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE"},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY"},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED"},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED"},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {907, "CUDA_ERROR_CAPTURED_EVENT"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {909, "CUDA_ERROR_TIMEOUT"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED"},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE"},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"},
    {916, "CUDA_ERROR_KEY_ROTATION"},
    {999, "CUDA_ERROR_UNKNOWN"},
};

const char *name_of(int code) {
  for (const Name &one : kNames) {
    if (one.code == code) return one.name;
  }
  return nullptr;
}

// Values of *status, a second result of cuGetProcAddress.
enum : int { kFound = 0, kUnknownSymbol = 1, kTooNew = 2 };

int version_of(const std::string &name) {
  for (const sim::Introduced &one : sim::introduced_functions()) {
    if (name == one.name) return one.version;
  }
  return 0;
}

// Finds the newest variant of a function that exists in CUDA version `version`, which is the
// version that the program was written for. The variants of a name have the suffixes "_v4", "_v3",
// "_v2" and "", newest first.
int find_variant(const std::string &symbol, int version, void **out) {
  int status = kUnknownSymbol;
  for (const char *suffix : {"_v4", "_v3", "_v2", ""}) {
    const std::string name = symbol + suffix;
    void *address = sim::function_address(name);
    if (address == nullptr) continue;
    if (version_of(name) <= version) return *out = address, kFound;
    status = kTooNew;
  }
  return status;
}

int find_address(const char *symbol, void **out, int version, uint64_t flags, int *status) {
  if (symbol == nullptr || out == nullptr || flags > 2) return sim::kInvalidValue;
  *out = nullptr;
  const int found = find_variant(symbol, version, out);
  if (status != nullptr) *status = found;
  return found == kFound ? sim::kSuccess : sim::kNotFound;
}

}  // namespace

namespace sim {

void describe_driver(Driver &driver) {
  driver.default_arch = "sm_90";
  driver.newest_version = 13000;
}

const std::vector<Introduced> &introduced_functions() {
  static const std::vector<Introduced> all = {
      {"cuDeviceGetUuid_v2", 11040},      {"cuFuncLoad", 12040},
      {"cuGetProcAddress", 11030},        {"cuGetProcAddress_v2", 12000},
      {"cuGraphExecUpdate_v2", 12000},    {"cuGraphInstantiateWithFlags", 11040},
      {"cuLibraryGetModule", 12000},      {"cuLibraryLoadData", 12000},
      {"cuLibraryUnload", 12000},         {"cuLibraryGetKernel", 12000},
      {"cuKernelGetFunction", 12000},     {"cuMemAllocAsync", 11020},
      {"cuMemAllocFromPoolAsync", 11020}, {"cuMemFreeAsync", 11020},
      {"cuMemPoolCreate", 11020},         {"cuMemPoolDestroy", 11020},
      {"cuMemPoolGetAttribute", 11020},   {"cuMemPoolSetAttribute", 11020},
      {"cuMemPoolTrimTo", 11020},         {"cuDeviceGetDefaultMemPool", 11020},
      {"cuMemPoolSetAccess", 11020},      {"cuMemPoolGetAccess", 11020},
  };
  return all;
}

}  // namespace sim

SIM_EXPORT int cuGetErrorName(int code, const char **name) {
  SIM_CALL(cuGetErrorName, sim::kAnyTime) {
    if (name == nullptr) return sim::kInvalidValue;
    *name = name_of(code);
    return *name == nullptr ? sim::kInvalidValue : sim::kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuGetErrorString(int code, const char **text) {
  SIM_CALL(cuGetErrorString, sim::kAnyTime) {
    if (text == nullptr) return sim::kInvalidValue;
    *text = name_of(code);
    return *text == nullptr ? sim::kInvalidValue : sim::kSuccess;
  }
  SIM_END;
}

SIM_EXPORT int cuGetProcAddress(const char *symbol, void **out, int version, uint64_t flags) {
  SIM_CALL(cuGetProcAddress, sim::kAnyTime) {
    return find_address(symbol, out, version, flags, nullptr);
  }
  SIM_END;
}

SIM_EXPORT int cuGetProcAddress_v2(const char *symbol, void **out, int version, uint64_t flags,
                                   int *status) {
  SIM_CALL(cuGetProcAddress_v2, sim::kAnyTime) {
    return find_address(symbol, out, version, flags, status);
  }
  SIM_END;
}
