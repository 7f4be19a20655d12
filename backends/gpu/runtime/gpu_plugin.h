// SPDX-License-Identifier: Apache-2.0
// The slots of all GPU plugins, and the function that fills a table with them.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_PLUGIN_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_PLUGIN_H

#include <gufunc/backend.h>
#include <gufunc/backend_kernels.h>

#include <type_traits>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;

// Implements gufunc_backend_open_v1 without a call of the driver. `vendor` must never be destroyed.
guf_status open_plugin(const Vendor &vendor, const guf_host_api *host, uint32_t host_minor,
                       guf_backend_api *api);

// Declares a function for each slot, with the type of the slot. The definitions are in
//   gpu_plugin.cc       probe, device_*, shutdown, builtins
//   gpu_memory.cc       memory_*, copy, fill
//   gpu_stream.cc       stream_*, event_*
//   gpu_queue.cc        image_score, module_*, kernel_get, launch, convert, method, describe_*
//   extension_table.cc  extension
#define GUF_REQUIRED_SLOT(slot) std::remove_pointer_t<decltype(guf_backend_api::slot)> slot;
#define GUF_OPTIONAL_SLOT(slot) std::remove_pointer_t<decltype(guf_backend_api::slot)> slot;
#include <gufunc/backend_slots.def>

void set_vendor(const Vendor &vendor);

// Calls `function(Device &)` for every open device until one call fails.
template <class Function>
guf_status for_each_device(Function function);
inline constexpr int32_t kMaxDevices = 64;
Device *open_device(int32_t number);  // NULL: no such device

// Raw kernels, provided through the extension "gufunc.kernels".
extern const guf_kernels_api kKernelsExtension;

// gpu_graph.cc: graphs, which are captured work that can be launched again. Slots of the extension
// "gufunc.gpu", see gufunc/backend_gpu.h.
guf_status capture_begin(void *device, void *stream, int32_t mode, guf_error *error);
guf_status capture_end(void *device, void *stream, void **out_graph, guf_error *error);
guf_status graph_instantiate(void *graph, guf_error *error);
guf_status graph_update(void *graph, void *newer, guf_error *error);
guf_status graph_launch(void *graph, void *stream, guf_error *error);
void graph_destroy(void *graph);

template <class Function>
guf_status for_each_device(Function function) {
  for (int32_t number = 0; number < kMaxDevices; ++number) {
    Device *const device = open_device(number);
    if (device == nullptr) continue;
    if (const guf_status status = function(*device); status != GUF_OK) return status;
  }
  return GUF_OK;
}

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_PLUGIN_H
