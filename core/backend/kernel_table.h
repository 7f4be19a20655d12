// SPDX-License-Identifier: Apache-2.0
// Kernel tables, which are checked before use and searched by function and dtypes. A plugin's
// standard library and a module file use the same kind of table.
#ifndef GUFUNC_CORE_BACKEND_KERNEL_TABLE_H
#define GUFUNC_CORE_BACKEND_KERNEL_TABLE_H

#include <gufunc/module_table.h>

#include <cstddef>
#include <span>

#include "core/base/error.h"

namespace gufunc::backend {

// A range of memory to which pointers of a table may refer.
struct Region {
  uint64_t first = 0;
  uint64_t end = 0;
  bool executable = false;
};

// The rules for the check of a table.
struct TableRules {
  std::span<const Region> regions;  // if empty, pointers are not checked (linked-in tables)
  bool host_code = true;            // if false, host images are not checked, because they never run
};

// Checks every field that the library reads later: counts, pointers, names, dtypes, signatures,
// roles, kernel indices and images.
// Errors  GUF_E_STRUCT <= wrong struct_size;  GUF_E_ABI <= wrong kernel_abi
//         GUF_E_BAD_FILE <= any other error; the message names the function and the field
guf_status check_table(const guf_module_v1 *table, const TableRules &rules, guf_error *error);

// Returns the function of this name, or nullptr.
const guf_module_function *find_function(const guf_module_v1 &table, const char *name);

// Returns the function's loop with exactly these dtypes, or nullptr.
const guf_module_loop *find_loop(const guf_module_function &function, const guf_dtype *types);

// The struct_size of tables that were compiled for a library version without raw kernels.
inline constexpr uint32_t kTableWithoutRaw = offsetof(guf_module_v1, raw_kernels);

inline std::span<const guf_module_kernel> raw_kernels_of(const guf_module_v1 &table) {
  if (table.struct_size < sizeof(guf_module_v1)) return {};
  return {table.raw_kernels, table.nraw_kernels};
}

// Returns the number of 8-byte words that a parameter occupies in the block of a launch.
uint32_t parameter_words(const guf_module_parameter &parameter);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_KERNEL_TABLE_H
