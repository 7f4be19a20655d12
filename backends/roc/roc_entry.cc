// SPDX-License-Identifier: Apache-2.0
// The ELF note of the ROC plugin and its only exported symbol.
#define GUFUNC_BACKEND_IMPLEMENTATION 1
#include "backends/gpu/runtime/gpu_plugin.h"
#include "backends/roc/hip_driver.h"

GUF_BACKEND_NOTE("name=roc;abi=0-1;priority=20;isa=x86-64;dlpack=10-11-0");

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                  guf_backend_api *api, guf_error *) {
  return gufunc::gpu::open_plugin(gufunc::roc::roc_vendor(), host, host_minor, api);
}
