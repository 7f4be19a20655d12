// SPDX-License-Identifier: Apache-2.0
// The ELF note of the CUDA plugin and its only exported symbol.
#define GUFUNC_BACKEND_IMPLEMENTATION 1
#include "backends/cuda/cuda_driver.h"
#include "backends/gpu/runtime/gpu_plugin.h"

GUF_BACKEND_NOTE("name=cuda;abi=0-1;priority=30;isa=x86-64;dlpack=2-3-13");

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                  guf_backend_api *api, guf_error *) {
  return gufunc::gpu::open_plugin(gufunc::cuda::vendor(), host, host_minor, api);
}
