// SPDX-License-Identifier: Apache-2.0
// The module tables that gufcc generates from kernels/standard. They are linked into the plugin.
#ifndef GUFUNC_BACKENDS_CPU_RUNTIME_BUILTIN_MODULES_H
#define GUFUNC_BACKENDS_CPU_RUNTIME_BUILTIN_MODULES_H

#include <gufunc/module_table.h>

// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" {
// The module of the standard library, which the `builtins` slot returns.
extern const guf_module_v1 gufunc_module_v1_std;
// The module of casts. Its only function, "cast", has a loop for each pair of dtypes.
extern const guf_module_v1 gufunc_module_v1_cast;
}
// NOLINTEND(readability-identifier-naming)

#endif  // GUFUNC_BACKENDS_CPU_RUNTIME_BUILTIN_MODULES_H
