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
// refuse; nullptr: there is none.
const guf_module_image *best_image(const Device &device, const guf_module_v1 &table,
                                   uint32_t family);

// Loads `image`, the best one, or where the driver refuses it the next: PTX, say.
// Errors  GUF_E_NO_IMAGE <= the driver refuses all of them: list_images has the reasons;  else as
//         load_image
guf_status load_best(Device &device, const guf_module_v1 &table, uint32_t family,
                     const guf_module_image *image, void **out_module, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_IMAGE_CHOICE_H
