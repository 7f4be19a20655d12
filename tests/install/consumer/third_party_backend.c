// SPDX-License-Identifier: Apache-2.0
// The smallest plugin of an external project: it reports its identity, and that it is unavailable.
#define GUFUNC_BACKEND_IMPLEMENTATION
#include <gufunc/backend.h>

GUF_BACKEND_NOTE("name=stranger;abi=0-0;priority=1;isa=x86-64");

guf_status gufunc_backend_open_v1(const guf_host_api *host, uint32_t host_minor,
                                  guf_backend_api *api, guf_error *error) {
  (void)host, (void)host_minor, (void)api, (void)error;
  return GUF_E_ABI;
}
