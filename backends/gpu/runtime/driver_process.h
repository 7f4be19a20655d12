// SPDX-License-Identifier: Apache-2.0
// The process that opened the driver. In a forked child of this process, the driver does not work.
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_PROCESS_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_PROCESS_H

#include <gufunc/status.h>

namespace gufunc::gpu {

// Records that this process uses the driver. Must be called when the driver is opened.
void note_driver_process();

// Returns whether this process is a child of the process that opened the driver. Costs one load.
bool forked();

// Reports GUF_E_FORKED.
[[gnu::cold]] guf_status fail_forked(guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_DRIVER_PROCESS_H
