// SPDX-License-Identifier: Apache-2.0
// Graphs: captured work that can be launched again.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_GRAPH_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_GRAPH_H

#include <gufunc/backend.h>

namespace gufunc::gpu {

// Slots of the extension "gufunc.gpu", see gufunc/backend_gpu.h.
guf_status capture_begin(void *device, void *stream, int32_t mode, guf_error *error);
guf_status capture_end(void *device, void *stream, void **out_graph, guf_error *error);
guf_status graph_instantiate(void *graph, guf_error *error);
guf_status graph_update(void *graph, void *newer, guf_error *error);
guf_status graph_launch(void *graph, void *stream, guf_error *error);
void graph_destroy(void *graph);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_GRAPH_H
