// SPDX-License-Identifier: Apache-2.0
// Opens the runtime. Any error of hipInit means that there is no device, because without a device
// hipInit returns 100 or 101, depending on the release.
#include "backends/roc/roc_vendor.h"

#include <cstdio>
#include <new>

#include "backends/gpu/geometry/gpu_host.h"
#include "backends/roc/hip_driver.h"
#include "backends/roc/roc_modules.h"
#include "backends/roc/roc_target.h"

namespace gufunc::roc {
namespace {

alignas(HipDriver) unsigned char driver_bytes[sizeof(HipDriver)];
int runtime_version = 0;  // written once, when the runtime is opened

guf_status open_runtime(gpu::Driver **out_driver, int32_t *out_ndevices, guf_error *error) {
  Hip hip;
  GUF_BACKEND_TRY(open_hip(&hip, error));
  *out_driver = new (driver_bytes) HipDriver(hip);
  *out_ndevices = 0;
  int found = 0;
  const char *function = "hipInit";
  HipError answer = hip.hipInit(0);
  if (answer == kHipSuccess) {
    function = "hipGetDeviceCount";
    answer = hip.hipGetDeviceCount(&found);
  }
  if (answer != kHipSuccess) {
    return gpu::fail_native(error, GUF_E_NO_DEVICE, answer,
                            "backend roc found no device: %s failed with %s (%d)", function,
                            hip_error_info(answer).name, answer);
  }
  if (found == 0) {
    return gpu::fail(error, GUF_E_NO_DEVICE,
                     "backend roc found no device: the runtime reports 0 devices");
  }
  hip.hipRuntimeGetVersion(&runtime_version);
  *out_ndevices = found;
  return GUF_OK;
}

int32_t score(const char *device_target, int32_t format, const char *image_target) {
  return score_code_object(device_target, format, image_target, runtime_version);
}

#if defined(GUFUNC_PLUGIN_KERNELS)
constexpr const guf_module_v1 *kStandard = &gufunc_module_v1_std;
constexpr const guf_module_v1 *kCopyKernels = &gufunc_module_v1_copy_cast;
#else  // built without AMD's device libraries
constexpr const guf_module_v1 *kStandard = nullptr;
constexpr const guf_module_v1 *kCopyKernels = nullptr;
#endif

// The runtime keeps about 140 MB of local memory for each XCC (HSA_SCRATCH_SINGLE_LIMIT). An XCC is
// a group of compute units; on gfx942 it has 38. If a launch needs more local memory, the runtime
// allocates and frees memory for each launch.
constexpr uint64_t kMultiprocessorLocalBytes = 3 << 20;

constexpr gpu::Vendor kRoc = {.name = "roc",
                              .version = GUFUNC_PLUGIN_VERSION,
                              .open = open_runtime,
                              .score = score,
                              .builtins = [] { return kStandard; },
                              .copy_kernels = [] { return kCopyKernels; },
                              .multiprocessor_local_bytes = kMultiprocessorLocalBytes};

}  // namespace

const gpu::Vendor &roc_vendor() {
  return kRoc;
}

}  // namespace gufunc::roc
