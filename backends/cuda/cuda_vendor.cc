// SPDX-License-Identifier: Apache-2.0
// Opens the driver. Any error of cuInit except "stub" means that the machine has no usable device,
// because drivers return different codes without a device; Debian's driver returns 100.
#include "backends/cuda/cuda_vendor.h"

#include <new>

#include "backends/cuda/cuda_driver.h"
#include "backends/cuda/cuda_modules.h"
#include "backends/cuda/cuda_target.h"
#include "backends/gpu/geometry/gpu_host.h"

namespace gufunc::cuda {
namespace {

alignas(CudaDriver) unsigned char driver_buffer[sizeof(CudaDriver)];

guf_status fail_without(const char *function, Result code, guf_error *error) {
  return gpu::fail_native(error, GUF_E_NO_DEVICE, code,
                          "backend cuda found no device: %s failed with %s (%d)", function,
                          error_info(code).name, code);
}

guf_status open_driver(gpu::Driver **out_driver, int32_t *out_ndevices, guf_error *error) {
  Api api;
  GUF_BACKEND_TRY(open_library(&api, error));
  *out_driver = new (driver_buffer) CudaDriver(api);
  *out_ndevices = 0;
  const Result begun = api.init(0);
  if (error_info(begun).kind == gpu::ErrorKind::kStub) {
    return gpu::fail_native(error, GUF_E_NO_DRIVER, begun,
                            "libcuda.so.1 is the toolkit's stub, not the driver: install the "
                            "driver, or take the stub's folder off the library path");
  }
  if (begun != kSuccess) return fail_without("cuInit", begun, error);
  int count = 0;
  const Result counted = api.device_count(&count);
  if (counted != kSuccess) return fail_without("cuDeviceGetCount", counted, error);
  if (count == 0) {
    return gpu::fail(error, GUF_E_NO_DEVICE,
                     "backend cuda found no device: the driver reports 0 devices");
  }
  *out_ndevices = count;
  return GUF_OK;
}

// If the plugin was built without a CUDA toolkit, it has no kernels of the standard library.
// Modules contain their own kernels.
#if defined(GUFUNC_PLUGIN_KERNELS)
const guf_module_v1 *standard_kernels() {
  return &gufunc_module_v1_std;
}
const guf_module_v1 *copy_cast_kernels() {
  return &gufunc_module_v1_copy_cast;
}
#else
const guf_module_v1 *standard_kernels() {
  return nullptr;
}
const guf_module_v1 *copy_cast_kernels() {
  return nullptr;
}
#endif

constexpr gpu::Vendor kVendor = {.name = "cuda",
                                 .version = GUFUNC_PLUGIN_VERSION,
                                 .open = open_driver,
                                 .score = score_target,
                                 .builtins = standard_kernels,
                                 .copy_kernels = copy_cast_kernels,
                                 .multiprocessor_local_bytes = 0};

}  // namespace

const gpu::Vendor &vendor() {
  return kVendor;
}

}  // namespace gufunc::cuda
