// SPDX-License-Identifier: Apache-2.0
// The function table of a GPU plugin.
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/runtime/gpu_plugin.h"

namespace gufunc::gpu {
namespace {

guf_backend_api make_table(const Vendor &vendor) {
  guf_backend_api api = {};
  api.name = vendor.name;
  api.version = vendor.version;
  api.features = GUF_BACKEND_FP_FLAGS | GUF_BACKEND_METHOD_FP_FLAGS;
#define GUF_REQUIRED_SLOT(slot) api.slot = slot;
#define GUF_OPTIONAL_SLOT(slot) api.slot = slot;
#include <gufunc/backend_slots.def>
  return api;
}

}  // namespace

guf_status open_plugin(const Vendor &vendor, const guf_host_api *host, uint32_t host_minor,
                       guf_backend_api *api) {
  set_host(host);
  set_vendor(vendor);
  copy_table(make_table(vendor), host_minor, api);
  return GUF_OK;
}

}  // namespace gufunc::gpu
