// SPDX-License-Identifier: Apache-2.0
// Raw kernels of the cpu backend, provided through the extension "gufunc.kernels".
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_CPU_KERNELS_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_CPU_KERNELS_H

#include <gufunc/backend_kernels.h>

namespace gufunc::cpu {

extern const guf_kernels_api kKernelsExtension;

// Frees the worker stacks that were kept for reuse after earlier launches.
void free_kernel_workers();

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_CPU_KERNELS_H
