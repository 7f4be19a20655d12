// SPDX-License-Identifier: Apache-2.0
// The entry point of the cpu backend for programs that link it statically.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H

#include <gufunc/backend.h>

// A guf_backend_open_fn, which the plugin's exported symbol also calls. The function has default
// visibility, so that the weak reference in libgufunc resolves to this function in a program that
// links this archive. The plugin's version script hides the function.
extern "C" [[gnu::visibility("default")]] guf_status gufunc_backend_cpu_open(
    const guf_host_api *host, uint32_t host_minor, guf_backend_api *api, guf_error *error);

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
