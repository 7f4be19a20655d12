// SPDX-License-Identifier: Apache-2.0
// The tables of code objects that are linked into the ROC backend,
// with the names that gufcc generates.
#ifndef GUFUNC_BACKENDS_ROC_ROC_MODULES_H
#define GUFUNC_BACKENDS_ROC_ROC_MODULES_H

#include <gufunc/module_table.h>

// NOLINTBEGIN(readability-identifier-naming): the names that gufcc gives every module's table
extern "C" const guf_module_v1 gufunc_module_v1_std;        // standard library, AMD images only
extern "C" const guf_module_v1 gufunc_module_v1_copy_cast;  // contains no functions
// NOLINTEND(readability-identifier-naming)

#endif  // GUFUNC_BACKENDS_ROC_ROC_MODULES_H
