// SPDX-License-Identifier: Apache-2.0
// HIP's functions are looked up by name, because the name contains the version
// if a function has several versions.
#include "backends/roc/hip_library.h"

#include <iterator>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/vendor_library.h"

namespace gufunc::roc {

guf_status open_hip(Hip *out_hip, guf_error *error) {
  static constexpr const char *kSonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                             "libamdhip64.so.5"};
  gpu::VendorLibrary runtime;
  GUF_BACKEND_TRY(runtime.open(kSonames, std::size(kSonames), error));
  const char *absent = nullptr;
  const auto find = [&](const char *function, bool needed) {
    void *const address = runtime.symbol(function);
    if (needed && address == nullptr && absent == nullptr) absent = function;
    return address;
  };
  void *const last_error = runtime.symbol("hipGetLastError");
#define GUF_HIP_FIND(function, needed, parameters) \
  out_hip->function.set(find(#function, needed), last_error);
  GUF_HIP_FUNCTIONS(GUF_HIP_FIND)
#undef GUF_HIP_FIND
  if (absent == nullptr) return GUF_OK;
  return gpu::fail(error, GUF_E_DRIVER_OLD, "%s has no %s: expected ROCm 5.2 or later",
                   runtime.name(), absent);
}

bool has_pools(const Hip &hip) {
  return hip.hipMemPoolCreate != nullptr && hip.hipMemPoolDestroy != nullptr &&
         hip.hipMemPoolSetAttribute != nullptr && hip.hipMemPoolTrimTo != nullptr &&
         hip.hipMallocFromPoolAsync != nullptr && hip.hipFreeAsync != nullptr;
}

bool has_graphs(const Hip &hip) {
  return hip.hipStreamBeginCapture != nullptr && hip.hipStreamEndCapture != nullptr &&
         hip.hipStreamIsCapturing != nullptr && hip.hipGraphInstantiate != nullptr &&
         hip.hipGraphLaunch != nullptr && hip.hipGraphDestroy != nullptr &&
         hip.hipGraphExecDestroy != nullptr;
}

}  // namespace gufunc::roc
