// SPDX-License-Identifier: Apache-2.0
// Opening the driver: whatever cuInit says but "stub", a machine without a usable device is no
// failure. Debian's real driver without a device answers 100, others answer other codes.
#include "backends/cuda/cuda_vendor.h"

#include <cstdio>
#include <new>

#include "backends/cuda/cuda_driver.h"
#include "backends/cuda/cuda_modules.h"
#include "backends/cuda/cuda_target.h"
#include "backends/gpu/gpu_host.h"

namespace gufunc::cuda {
namespace {

alignas(CudaDriver) unsigned char driver_room[sizeof(CudaDriver)];

void write_reason(const char *function, Result code, char *out_reason, size_t size) {
  std::snprintf(out_reason, size, "no device: %s answers %s (%d)", function, meaning_of(code).name,
                code);
}

guf_status open_driver(gpu::Driver **out_driver, int32_t *out_ndevices, char *out_reason,
                       size_t size, guf_error *error) {
  Api api;
  GUF_GPU_TRY(open_library(&api, error));
  *out_driver = new (driver_room) CudaDriver(api);
  *out_ndevices = 0;
  const Result begun = api.init(0);
  if (meaning_of(begun).sense == gpu::Sense::kStub) {
    return gpu::fail_native(error, GUF_E_NO_DRIVER, begun,
                            "libcuda.so.1 is the toolkit's stub, not the driver: install the "
                            "driver, or take the stub's folder off the library path");
  }
  if (begun != kSuccess) {
    write_reason("cuInit", begun, out_reason, size);
    return GUF_OK;
  }
  int count = 0;
  const Result counted = api.device_count(&count);
  if (counted != kSuccess) {
    write_reason("cuDeviceGetCount", counted, out_reason, size);
    return GUF_OK;
  }
  if (count == 0) std::snprintf(out_reason, size, "no device: the driver lists none");
  *out_ndevices = count;
  return GUF_OK;
}

// A build without a CUDA toolkit has no kernels of its own; modules bring theirs.
#if defined(GUFUNC_PLUGIN_KERNELS)
const guf_module_v1 *standard_kernels() {
  return &gufunc_module_v1_std;
}
const guf_module_v1 *moving_kernels() {
  return &gufunc_module_v1_moves;
}
#else
const guf_module_v1 *standard_kernels() {
  return nullptr;
}
const guf_module_v1 *moving_kernels() {
  return nullptr;
}
#endif

constexpr gpu::Vendor kVendor = {"cuda",       GUFUNC_PLUGIN_VERSION, open_driver,
                                 score_target, standard_kernels,      moving_kernels};

}  // namespace

const gpu::Vendor &vendor() {
  return kVendor;
}

}  // namespace gufunc::cuda
