// SPDX-License-Identifier: Apache-2.0
// How the library opens the cpu backend that it was linked with.
#ifndef GUFUNC_BACKENDS_CPU_CPU_TABLE_H
#define GUFUNC_BACKENDS_CPU_CPU_TABLE_H

#include <gufunc/backend.h>

// A guf_backend_open_fn. The plugin's exported symbol calls it too.
extern "C" guf_status gufunc_backend_cpu_open(const guf_host_api *host, uint32_t host_minor,
                                              guf_backend_api *api, guf_error *error);

#endif  // GUFUNC_BACKENDS_CPU_CPU_TABLE_H
