// SPDX-License-Identifier: Apache-2.0
// Declares two module tables that are linked into the test. Each has a function "plus" and a raw
// kernel "work".
#ifndef GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODULE_H
#define GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODULE_H

#include <gufunc/gufunc.h>

namespace misuse {

void add_loop(char **args, const int64_t *dims, const int64_t *steps, void *user);

extern const guf_dtype kFloatTypes[3];
extern const guf_module_v1 kMisuseTable, kOtherMisuseTable;

}  // namespace misuse

#endif  // GUFUNC_TESTS_ABI_MISUSE_MISUSE_MODULE_H
