// SPDX-License-Identifier: Apache-2.0
// Which image of a module a device takes the code of a loop or of a raw kernel from.
#ifndef GUFUNC_CORE_BACKEND_IMAGE_CHOICE_H
#define GUFUNC_CORE_BACKEND_IMAGE_CHOICE_H

#include <gufunc/module_table.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

inline bool serves(const guf_module_image &image, uint32_t family) {
  return image.family == 0 || image.family == family;
}

// "sm_90", or "for any".
inline const char *target_of(const guf_module_image &image) {
  return image.target == nullptr || image.target[0] == '\0' ? "for any" : image.target;
}

// Adds ", x86-64-v2" or, of the first, "x86-64-v2"; where the driver refused it,
// "sm_90 (refused: CUDA_ERROR_INVALID_IMAGE (200))".
void list_image(const Device &device, const guf_module_image &image, base::Text *list);

// Those that have the family: "x86-64-v2, sm_90", or "none".
base::Text list_images(const Device &device, const guf_module_v1 &table, uint32_t family);

// The driver's code of the first of them that it refused; 0: it refused none.
int32_t refusal_code(const Device &device, const guf_module_v1 &table, uint32_t family);

// The one that the plugin likes best, of those that have the family and that the driver did not
// refuse; nullptr: there is none. With `behind`, an image of the table, only those that are less
// liked than it.
const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family, const guf_module_image *behind = nullptr);

// A kernel as a module's table names it.
struct KernelName {
  uint32_t family, index;
  const char *name;
};

// Loads the best image and gets the kernel from it, or where the driver refuses the image or the
// kernel's code, from the next: PTX, say.
// Errors  GUF_E_NO_IMAGE <= the driver refuses all images: *out_refused is true, and list_images
//         has the reasons;  or no loaded image has code of the kernel that the driver accepts:
//         *out_refused is false, and the message is that of the best one;
//         else as load_image and kernel_get
guf_status kernel_of_best(Device &device, const guf_module_v1 &table, const KernelName &kernel,
                          void **out, bool *out_refused, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_IMAGE_CHOICE_H
