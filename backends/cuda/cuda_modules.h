// SPDX-License-Identifier: Apache-2.0
// The kernel tables that are linked into the CUDA backend, with the names that gufcc generates.
#ifndef GUFUNC_BACKENDS_CUDA_CUDA_MODULES_H
#define GUFUNC_BACKENDS_CUDA_CUDA_MODULES_H

#include <gufunc/module_table.h>

// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" {
extern const guf_module_v1 gufunc_module_v1_std;        // contains only images, no functions
extern const guf_module_v1 gufunc_module_v1_copy_cast;  // contains no functions
}
// NOLINTEND(readability-identifier-naming)

#endif  // GUFUNC_BACKENDS_CUDA_CUDA_MODULES_H
