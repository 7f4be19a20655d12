// SPDX-License-Identifier: Apache-2.0
// The slots of all GPU plugins, and the function that fills a table with them.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_PLUGIN_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_PLUGIN_H

#include <gufunc/backend.h>
#include <gufunc/backend_kernels.h>

#include "backends/gpu/runtime/driver.h"

namespace gufunc::gpu {

class Device;

// Implements gufunc_backend_open_v1 without a call of the driver. `vendor` must never be destroyed.
guf_status open_plugin(const Vendor &vendor, const guf_host_api *host, uint32_t host_minor,
                       guf_backend_api *api);

// gpu_plugin.cc: the driver and its devices
void set_vendor(const Vendor &vendor);
guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *error);
guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error);
void device_close(void *device);
guf_status shutdown(uint64_t timeout_ns, guf_error *error);
const guf_module_v1 *builtins();

// Calls `function(Device &)` for every open device until one call fails.
template <class Function>
guf_status for_each_device(Function function);
inline constexpr int32_t kMaxDevices = 64;
Device *open_device(int32_t number);  // NULL: no such device

// gpu_memory.cc: memory
guf_status memory_alloc(void *device, uint64_t size, int32_t kind, void *stream,
                        uint64_t *out_address, guf_error *error);
guf_status memory_free(void *device, uint64_t address, uint64_t size, int32_t kind, void *stream,
                       guf_error *error);
guf_status copy(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t size, int32_t kind,
                guf_error *error);
guf_status fill(void *device, void *stream, uint64_t dst, const void *pattern,
                uint32_t pattern_size, uint64_t count, guf_error *error);

// gpu_stream.cc: streams and events
guf_status stream_open(void *device, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error);
void stream_close(void *stream);
guf_status stream_query(void *stream, guf_error *error);
guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error);
guf_status stream_wait_event(void *stream, void *event, guf_error *error);
guf_status event_open(void *device, void **out_event, guf_error *error);
void event_close(void *event);
guf_status event_record(void *event, void *stream, guf_error *error);
guf_status event_query(void *event, guf_error *error);
guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error);

// gpu_queue.cc: images, kernels, and the slots that run them
int32_t image_score(void *device, const guf_module_image *image);
guf_status module_load(void *device, const guf_module_image *image, void **out_module,
                       guf_error *error);
void module_unload(void *module);
guf_status kernel_get(void *module, uint32_t index, const char *name, void **out_kernel,
                      guf_error *error);
guf_status launch(void *device, const guf_backend_launch *launch, guf_error *error);
guf_status convert(void *device, void *stream, const guf_launch_block *block, guf_error *error);
guf_status method(void *device, const guf_backend_method *method, guf_error *error);
guf_status describe_launch(void *device, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error);
guf_status describe_method(void *device, const guf_backend_method *method, char *out_text,
                           size_t text_size, guf_error *error);
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

// extension_table.cc: extensions
guf_status extension(const char *name, uint32_t version, const void **out_table, guf_error *error);

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
