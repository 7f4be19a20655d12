// SPDX-License-Identifier: Apache-2.0
// Functions are requested from the driver in the version that their declarations use. If the driver
// does not support such requests or lacks the function, the symbol itself is looked up.
#include "backends/cuda/cuda_library.h"

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/vendor_library.h"

namespace gufunc::cuda {
namespace {

// The type of cuGetProcAddress_v2.
using GetProcedure = Result (*)(const char *name, void **out, int version, uint64_t flags,
                                int *out_found);

class Finder {
 public:
  explicit Finder(const gpu::VendorLibrary &library)
      : library_(library),
        procedure_(reinterpret_cast<GetProcedure>(library.symbol("cuGetProcAddress_v2"))) {}

  void *find(const char *name, int version, const char *symbol) const {
    void *address = nullptr;
    int found = 0;
    if (procedure_ != nullptr && procedure_(name, &address, version, 0, &found) == kSuccess &&
        address != nullptr) {
      return address;
    }
    return library_.symbol(symbol);
  }

 private:
  const gpu::VendorLibrary &library_;
  const GetProcedure procedure_;
};

}  // namespace

guf_status open_library(Api *out_api, guf_error *error) {
  static constexpr const char *kNames[] = {"libcuda.so.1"};
  gpu::VendorLibrary library;
  GUF_BACKEND_TRY(library.open(kNames, 1, error));
  const Finder finder(library);
  const char *missing = nullptr;
#define GUF_CUDA_FIND(member, name, version, suffix, needed, parameters)                 \
  out_api->member =                                                                      \
      reinterpret_cast<Result(*) parameters>(finder.find(#name, version, #name suffix)); \
  if (needed && out_api->member == nullptr && missing == nullptr) {                      \
    missing = #name suffix;                                                              \
  }
  GUF_CUDA_FUNCTIONS(GUF_CUDA_FIND)
#undef GUF_CUDA_FIND
  if (missing == nullptr) return GUF_OK;
  return gpu::fail(error, GUF_E_DRIVER_OLD,
                   "libcuda.so.1 has no %s: expected a driver of CUDA 11.0 or later", missing);
}

bool has_pools(const Api &api) {
  return api.pool_create != nullptr && api.pool_destroy != nullptr && api.pool_set != nullptr &&
         api.pool_trim != nullptr && api.allocate_from_pool != nullptr && api.free_async != nullptr;
}

bool has_libraries(const Api &api) {
  return api.library_load != nullptr && api.library_unload != nullptr &&
         api.library_module != nullptr && api.library_kernel != nullptr &&
         api.kernel_function != nullptr;
}

}  // namespace gufunc::cuda
