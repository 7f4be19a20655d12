// SPDX-License-Identifier: Apache-2.0
// Images that are loaded on devices. An image is loaded once per device, for all of its loops.
#ifndef GUFUNC_CORE_BACKEND_IMAGE_CACHE_H
#define GUFUNC_CORE_BACKEND_IMAGE_CACHE_H

#include <gufunc/module_table.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

// Returns the plugin's module for an image. The first call loads the image. A device image is
// decompressed to temporary memory for the load.
// Errors  GUF_E_BAD_FILE <= the image does not decompress to the size in its table
//         GUF_E_NO_IMAGE <= the device's driver rejects the image; find_refusal then returns true
//         otherwise as the slot module_load
guf_status load_image(Device &device, const guf_module_image &image, void **out_module,
                      guf_error *error);

// The error with which a device's driver rejected an image.
struct Refusal {
  int32_t native_code = 0;
  char reason[80] = "";
};
// Returns whether the device's driver has rejected the image. Writes the reason to `*out`.
bool find_refusal(const Device &device, const guf_module_image &image, Refusal *out);

// Returns the plugin's kernel for a registered host function. The kernel is created on the first
// call and kept forever, because programs register few functions.
// Errors  GUF_E_NO_IMAGE <= the device cannot run host functions;  otherwise as the slots
guf_status wrap_host_loop(Device &device, void (*function)(void), const char *name,
                          void **out_kernel, guf_error *error);

// Counts one more module that uses the table. Throws std::bad_alloc.
void retain_images(const guf_module_v1 &table);

// Counts one module fewer that uses the table. If no module is left, unloads the images of the
// table, because the table is about to be unmapped. No loop of the table may be in use.
void release_images(const guf_module_v1 &table);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_IMAGE_CACHE_H
