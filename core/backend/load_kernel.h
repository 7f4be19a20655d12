// SPDX-License-Identifier: Apache-2.0
// Chooses the image of a module from which a device runs a loop or a raw kernel, and loads the code
// of raw kernels. load_kernel, load_fold and describe_kernel are in backend.h.
#ifndef GUFUNC_CORE_BACKEND_LOAD_KERNEL_H
#define GUFUNC_CORE_BACKEND_LOAD_KERNEL_H

#include <gufunc/module_table.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

inline bool has_family(const guf_module_image &image, uint32_t family) {
  return image.family == 0 || image.family == family;
}

// Returns the target of the image, such as "sm_90", or "for any".
inline const char *target_of(const guf_module_image &image) {
  return image.target == nullptr || image.target[0] == '\0' ? "for any" : image.target;
}

// Appends the target of an image to the list, such as "x86-64-v2" or "sm_90 (refused:
// CUDA_ERROR_INVALID_IMAGE (200))". A comma precedes the target unless the list is empty.
void list_image(const Device &device, const guf_module_image &image, base::Text *list);

// Lists the images that contain the kernel family, such as "x86-64-v2, sm_90", or "none".
base::Text list_images(const Device &device, const guf_module_v1 &table, uint32_t family);

// Returns the driver's error code for the first image of the kernel family that the driver
// rejected, or 0.
int32_t refusal_code(const Device &device, const guf_module_v1 &table, uint32_t family);

// Returns the image with the highest score among the images that contain the kernel family and that
// the driver has not rejected, or nullptr if there is none. If `after` is not nullptr, only images
// that rank after `after` are considered.
const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family, const guf_module_image *after = nullptr);

// The position and the name of a kernel in a module's table.
struct KernelName {
  uint32_t family, index;
  const char *name;
};

// Loads the best image and gets the kernel from it. If the driver rejects the image or the code of
// the kernel, tries the next image, for example PTX.
// Errors  GUF_E_NO_IMAGE <= the driver rejects every image: *out_refused is true, and list_images
//         reports the reasons;  or the driver rejects the kernel's code in every image that it
//         loads: *out_refused is false, and the message is that of the best image
//         otherwise as load_image and kernel_get
guf_status load_kernel_from_best_image(Device &device, const guf_module_v1 &table,
                                       const KernelName &kernel, void **out, bool *out_refused,
                                       guf_error *error);

// Returns the plugin's kernel from the image with the highest score. May load images.
// Errors  GUF_E_NO_IMAGE <= no image for this device; the message lists the available targets
guf_status load_raw_kernel(const guf_module_v1 &table, const guf_module_kernel &kernel,
                           Device &device, void **out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_LOAD_KERNEL_H
