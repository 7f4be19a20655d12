// SPDX-License-Identifier: Apache-2.0
// Loads the code of a raw kernel on a device. The image is chosen as for a loop.
#include "core/backend/extension.h"
#include "core/backend/image_choice.h"
#include "core/backend/raw_kernel.h"

namespace gufunc::backend {

guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error) {
  return find_extension(device, device.kernels, "gufunc.kernels", GUF_KERNELS_EXTENSION_VERSION,
                        "raw kernels", out, error);
}

namespace {

guf_status no_image(const guf_module_v1 &table, const guf_module_kernel &kernel,
                    const Device &device, guf_error *error) {
  return base::fail_native(error, GUF_E_NO_IMAGE, base::kNone, base::kNone,
                           refusal_code(device, table, kernel.family),
                           "no code of the kernel '%s:%s' for device %s (%s); available images: %s",
                           table.name, kernel.name, device.spec.c_str(), device.info.target,
                           list_images(device, table, kernel.family).c_str());
}

}  // namespace

guf_status load_raw_kernel(const guf_module_v1 &table, const guf_module_kernel &kernel,
                           Device &device, void **out, guf_error *error) {
  bool refused = false;
  const guf_status status = load_kernel_from_best_image(
      device, table, {kernel.family, kernel.kernel, kernel.symbol}, out, &refused, error);
  return refused && status == GUF_E_NO_IMAGE ? no_image(table, kernel, device, error) : status;
}

}  // namespace gufunc::backend
