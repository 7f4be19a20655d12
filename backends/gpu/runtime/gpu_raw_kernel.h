// SPDX-License-Identifier: Apache-2.0
// Raw kernels of the GPU backends, provided through the extension "gufunc.kernels".
#ifndef GUFUNC_BACKENDS_GPU_RUNTIME_GPU_RAW_KERNEL_H
#define GUFUNC_BACKENDS_GPU_RUNTIME_GPU_RAW_KERNEL_H

#include <gufunc/backend_kernels.h>

namespace gufunc::gpu {

extern const guf_kernels_api kKernelsExtension;

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_RUNTIME_GPU_RAW_KERNEL_H
