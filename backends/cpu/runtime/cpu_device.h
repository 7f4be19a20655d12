// SPDX-License-Identifier: Apache-2.0
// The functions that implement the slots and extensions of the plugin's table, grouped by source
// file.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_DEVICE_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_DEVICE_H

#include <gufunc/backend.h>
#include <gufunc/backend_kernels.h>

namespace gufunc::cpu {

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

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_DEVICE_H
