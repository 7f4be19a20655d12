// SPDX-License-Identifier: Apache-2.0
// Images that were loaded into devices: one per image and device, shared by all loops of the image.
#ifndef GUFUNC_CORE_BACKEND_IMAGE_CACHE_H
#define GUFUNC_CORE_BACKEND_IMAGE_CACHE_H

#include <gufunc/module_table.h>

#include "core/backend/backend.h"

namespace gufunc::backend {

// The plugin's module for an image; loads it at the first call. Device images are inflated for that
// and given back behind it.
// Errors  GUF_E_BAD_FILE <= the image does not inflate to what its table says
//         GUF_E_NO_IMAGE <= the device's driver refuses it: find_refusal finds it from then on;
//         else as the slot module_load
guf_status load_image(Device &device, const guf_module_image &image, void **out_module,
                      guf_error *error);

// What a device's driver said of an image that it refused.
struct Refusal {
  int32_t native_code = 0;
  char reason[80] = "";
};
// Whether the device's driver has refused the image, and why.
bool find_refusal(const Device &device, const guf_module_image &image, Refusal *out);

// The plugin's kernel around a registered host function; made at the first call and kept: programs
// have few.
// Errors  GUF_E_NO_IMAGE <= the device runs no host functions;  else as the slots
guf_status wrap_host_loop(Device &device, void (*function)(void), const char *name,
                          void **out_kernel, guf_error *error);

// One more module has the table.  Throws std::bad_alloc
void share_images(const guf_module_v1 &table);

// One module less has it. Behind the last one its images are unloaded, as it is about to be
// unmapped: no loop of it may be in use.
void forget_images(const guf_module_v1 &table);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_IMAGE_CACHE_H
