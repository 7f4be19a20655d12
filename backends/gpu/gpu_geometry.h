// SPDX-License-Identifier: Apache-2.0
// Every request that geometry makes steps of.
#ifndef GUFUNC_BACKENDS_GPU_GPU_GEOMETRY_H
#define GUFUNC_BACKENDS_GPU_GPU_GEOMETRY_H

#include "backends/gpu/steps.h"

namespace gufunc::gpu {

guf_status queue_launch(const guf_backend_launch &launch, Steps &steps, guf_error *error);
guf_status queue_convert(const guf_launch_block &block, Steps &steps, guf_error *error);
guf_status queue_fill(uint64_t dst, const void *pattern, uint32_t pattern_bytes, uint64_t count,
                      Steps &steps, guf_error *error);
guf_status queue_method(const guf_backend_method &method, Steps &steps, guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GPU_GEOMETRY_H
