// SPDX-License-Identifier: Apache-2.0
// The function table of the cpu backend: the function that fills it, and the functions that
// implement its slots and extensions, grouped by source file.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H

#include <gufunc/backend.h>
#include <gufunc/backend_kernels.h>

#include <type_traits>

// A guf_backend_open_fn, which the plugin's exported symbol also calls. The function has default
// visibility, so that the weak reference in libgufunc resolves to this function in a program that
// links this archive. The plugin's version script hides the function.
extern "C" [[gnu::visibility("default")]] guf_status gufunc_backend_cpu_open(
    const guf_host_api *host, uint32_t host_minor, guf_backend_api *api, guf_error *error);

namespace gufunc::cpu {

// Declares a function for each slot, with the type of the slot. The definitions are in
//   cpu_table.cc     shutdown, extension
//   cpu_device.cc    probe, device_*, memory_alloc
//   cpu_image.cc     builtins, image_score, module_*, kernel_get
//   cpu_stream.cc    stream_open, _close, _query, _synchronize; event_open, _close, _query,
//                    _synchronize
//   cpu_queue.cc     everything that runs on a stream: memory_free, copy, fill, launch, convert,
//                    method, stream_wait_event, event_record
//   cpu_describe.cc  describe_*
#define GUF_REQUIRED_SLOT(slot) std::remove_pointer_t<decltype(guf_backend_api::slot)> slot;
#define GUF_OPTIONAL_SLOT(slot) std::remove_pointer_t<decltype(guf_backend_api::slot)> slot;
#include <gufunc/backend_slots.def>

// cpu_device.cc: immediately frees memory that memory_alloc returned
void memory_release(uint64_t address, uint64_t size);

// cpu_kernels.cc: raw kernels, provided through the extension "gufunc.kernels"
extern const guf_kernels_api kKernelsExtension;
// Frees the worker stacks that were kept for reuse after earlier launches.
void free_kernel_workers();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_TABLE_H
