// SPDX-License-Identifier: Apache-2.0
// The function table of the cpu backend: the function that fills it, and the functions that
// implement its slots and extensions, grouped by source file.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H

#include <gufunc/backend.h>
#include <gufunc/backend_kernels.h>

// A guf_backend_open_fn, which the plugin's exported symbol also calls. The function has default
// visibility, so that the weak reference in libgufunc resolves to this function in a program that
// links this archive. The plugin's version script hides the function.
extern "C" [[gnu::visibility("default")]] guf_status gufunc_backend_cpu_open(
    const guf_host_api *host, uint32_t host_minor, guf_backend_api *api, guf_error *error);

namespace gufunc::cpu {

// cpu_table.cc: slots of the whole plugin
guf_status shutdown(uint64_t timeout_ns, guf_error *error);
guf_status extension(const char *name, uint32_t version, const void **out_table, guf_error *error);

// cpu_device.cc: the device and its memory
guf_status probe(int32_t *out_ndevices, char *out_driver, size_t driver_size, guf_error *error);
guf_status device_open(int32_t index, uint64_t native, void **out_device,
                       guf_backend_device_info *out_info, guf_error *error);
void device_close(void *device);
guf_status memory_alloc(void *device, uint64_t size, int32_t kind, void *stream,
                        uint64_t *out_address, guf_error *error);
void memory_release(uint64_t address, uint64_t size);

// cpu_image.cc: host images and the table of the standard library
const guf_module_v1 *builtins();
int32_t image_score(void *device, const guf_module_image *image);
guf_status module_load(void *device, const guf_module_image *image, void **out_module,
                       guf_error *error);
void module_unload(void *module);
guf_status kernel_get(void *module, uint32_t index, const char *name, void **out_kernel,
                      guf_error *error);

// cpu_describe.cc: the texts of the slots `describe_launch` and `describe_method`
guf_status describe_launch(void *device, const guf_backend_launch *launch, char *out_text,
                           size_t text_size, guf_error *error);
guf_status describe_method(void *device, const guf_backend_method *method, char *out_text,
                           size_t text_size, guf_error *error);

// cpu_stream.cc: streams and events
guf_status stream_open(void *device, uint64_t native, uint32_t flags, void **out_stream,
                       guf_error *error);
void stream_close(void *stream);
guf_status stream_query(void *stream, guf_error *error);
guf_status stream_synchronize(void *stream, uint64_t timeout_ns, guf_error *error);
guf_status event_open(void *device, void **out_event, guf_error *error);
void event_close(void *event);
guf_status event_query(void *event, guf_error *error);
guf_status event_synchronize(void *event, uint64_t timeout_ns, guf_error *error);

// cpu_queue.cc: all operations that run on a stream
guf_status memory_free(void *device, uint64_t address, uint64_t size, int32_t kind, void *stream,
                       guf_error *error);
guf_status copy(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t size, int32_t kind,
                guf_error *error);
guf_status fill(void *device, void *stream, uint64_t dst, const void *pattern,
                uint32_t pattern_size, uint64_t count, guf_error *error);
guf_status launch(void *device, const guf_backend_launch *launch, guf_error *error);
guf_status convert(void *device, void *stream, const guf_launch_block *block, guf_error *error);
guf_status method(void *device, const guf_backend_method *method, guf_error *error);
guf_status stream_wait_event(void *stream, void *event, guf_error *error);
guf_status event_record(void *event, void *stream, guf_error *error);

// cpu_kernels.cc: raw kernels, provided through the extension "gufunc.kernels"
extern const guf_kernels_api kKernelsExtension;
// Frees the worker stacks that were kept for reuse after earlier launches.
void free_kernel_workers();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
