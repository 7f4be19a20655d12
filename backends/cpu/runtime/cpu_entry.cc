// SPDX-License-Identifier: Apache-2.0
// The plugin's ELF note and its only exported symbol.
#define GUFUNC_BACKEND_IMPLEMENTATION 1
#include "backends/cpu/runtime/cpu_table.h"

GUF_BACKEND_NOTE("name=cpu;abi=0-1;priority=10;isa=x86-64");

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                  guf_backend_api *api, guf_error *error) {
  return gufunc_backend_cpu_open(host, host_minor, api, error);
}
