// SPDX-License-Identifier: Apache-2.0
// The table of slots.
#include <algorithm>
#include <cstring>

#include "backends/gpu/gpu_host.h"
#include "backends/gpu/gpu_plugin.h"

namespace gufunc::gpu {
namespace {

guf_backend_api make_table(const Vendor &vendor, uint32_t host_minor) {
  guf_backend_api api = {};
  api.struct_size = sizeof(api);
  api.abi_minor = std::min<uint32_t>(host_minor, GUF_BACKEND_ABI_MINOR);
  api.name = vendor.name;
  api.version = vendor.version;
  api.features = GUF_BACKEND_FP_FLAGS | GUF_BACKEND_METHOD_FP_FLAGS;
  api.probe = probe;
  api.device_open = device_open;
  api.device_close = device_close;
  api.memory_alloc = memory_alloc;
  api.memory_free = memory_free;
  api.copy = copy;
  api.fill = fill;
  api.stream_open = stream_open;
  api.stream_close = stream_close;
  api.stream_query = stream_query;
  api.stream_synchronize = stream_synchronize;
  api.stream_wait_event = stream_wait_event;
  api.event_open = event_open;
  api.event_close = event_close;
  api.event_record = event_record;
  api.event_query = event_query;
  api.event_synchronize = event_synchronize;
  api.builtins = builtins;
  api.image_score = image_score;
  api.module_load = module_load;
  api.module_unload = module_unload;
  api.kernel_get = kernel_get;
  api.launch = launch;
  api.convert = convert;
  api.method = method;
  api.shutdown = shutdown;
  api.extension = extension;
  api.describe_launch = describe_launch;
  api.describe_method = describe_method;
  return api;
}

}  // namespace

guf_status open_plugin(const Vendor &vendor, const guf_host_api *host, uint32_t host_minor,
                       guf_backend_api *api) {
  set_host(host);
  set_vendor(vendor);
  const guf_backend_api table = make_table(vendor, host_minor);
  // An older host gets the prefix that it knows; struct_size is the size of the host's table.
  std::memcpy(api, &table, std::min<size_t>(api->struct_size, sizeof(table)));
  return GUF_OK;
}

}  // namespace gufunc::gpu
