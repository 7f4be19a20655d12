// SPDX-License-Identifier: Apache-2.0
// Finds a device by its spec, such as "cuda:1", and opens it.
#ifndef GUFUNC_CORE_PLUGIN_FIND_DEVICE_H
#define GUFUNC_CORE_PLUGIN_FIND_DEVICE_H

#include "core/backend/backend.h"

namespace gufunc::plugin {

// Returns the cpu device. Opens it on first use; later calls cost one atomic load.
// Errors  any 9xx <= the cpu plugin cannot be found or opened
guf_status cpu_device(backend::Device **out, guf_error *error);

// Finds a device by its spec, like guf_device_get.
guf_status find_device(const char *spec, backend::Device **out, guf_error *error);

// Chooses the device for "auto". Each call makes a new choice; a context stores the result.
guf_status choose_device(backend::Device **out, guf_error *error);

// Opens a device with a context of the program, like guf_device_adopt.
guf_status adopt_device(const char *spec, uint64_t native, backend::Device **out, guf_error *error);

}  // namespace gufunc::plugin

#endif  // GUFUNC_CORE_PLUGIN_FIND_DEVICE_H
