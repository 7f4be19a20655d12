// SPDX-License-Identifier: Apache-2.0
// Tables of kernels: checked before use, searched by function and types. A plugin's standard
// library and a module's file are the same kind of table.
#ifndef GUFUNC_CORE_BACKEND_KERNEL_TABLE_H
#define GUFUNC_CORE_BACKEND_KERNEL_TABLE_H

#include <gufunc/module_table.h>

#include <span>

#include "core/base/error.h"

namespace gufunc::backend {

// Memory that a table's pointers may lead to.
struct Region {
  uint64_t first = 0;
  uint64_t end = 0;
  bool executable = false;
};

// What a table is held against.
struct TableRules {
  std::span<const Region> regions;  // empty: pointers cannot be judged (linked-in tables)
  bool host_code = true;            // false: host images are ignored, as their code will never run
};

// Checks counts, pointers, names, types, signatures, roles, kernel indices and images: every field
// that the library reads afterwards.
// Errors  GUF_E_STRUCT <= struct_size;  GUF_E_ABI <= kernel_abi;  GUF_E_BAD_FILE <= anything else;
//                         the message names
//         the function and field
guf_status check_table(const guf_module_v1 *table, const TableRules &rules, guf_error *error);

// The function of this name; NULL when there is none.
const guf_module_function *find_function(const guf_module_v1 &table, const char *name);

// The function's loop of exactly these types; NULL when there is none.
const guf_module_loop *find_loop(const guf_module_function &function, const guf_dtype *types);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_KERNEL_TABLE_H
