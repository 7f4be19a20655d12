// SPDX-License-Identifier: Apache-2.0
// A plugin with an undefined symbol, as a programming error would cause.
#define GUFUNC_BACKEND_IMPLEMENTATION
#include <gufunc/backend.h>

extern "C" guf_status defined_nowhere(guf_backend_api *api);

guf_status gufunc_backend_open_v1(const guf_host_api *, uint32_t, guf_backend_api *api,
                                  guf_error *) {
  return defined_nowhere(api);
}
