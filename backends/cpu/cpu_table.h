// SPDX-License-Identifier: Apache-2.0
// How the library opens the cpu backend that it or the program was linked with.
#ifndef GUFUNC_BACKENDS_CPU_CPU_TABLE_H
#define GUFUNC_BACKENDS_CPU_CPU_TABLE_H

#include <gufunc/backend.h>

// A guf_backend_open_fn. The plugin's exported symbol calls it too. Visible, so that libgufunc's
// weak reference meets that of a program which has it linked; the plugin's version script hides it.
extern "C" [[gnu::visibility("default")]] guf_status gufunc_backend_cpu_open(
    const guf_host_api *host, uint32_t host_minor, guf_backend_api *api, guf_error *error);

#endif  // GUFUNC_BACKENDS_CPU_CPU_TABLE_H
