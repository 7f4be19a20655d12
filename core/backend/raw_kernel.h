// SPDX-License-Identifier: Apache-2.0
// Raw kernels of tables: checked, found, and their code on a device.
#ifndef GUFUNC_CORE_BACKEND_RAW_KERNEL_H
#define GUFUNC_CORE_BACKEND_RAW_KERNEL_H

#include <gufunc/backend_kernels.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "core/backend/backend.h"
#include "core/backend/kernel_table.h"

namespace gufunc::backend {

class TableReader;

// struct_size of tables from before raw kernels.
inline constexpr uint32_t kTableWithoutRaw = offsetof(guf_module_v1, raw_kernels);

inline std::span<const guf_module_kernel> raw_kernels_of(const guf_module_v1 &table) {
  if (table.struct_size < sizeof(guf_module_v1)) return {};
  return {table.raw_kernels, table.nraw_kernels};
}

// Of a table whose header and images hold. NULL: all is well; else what was wanted, with the field
// and the kernel at fault.
const char *check_raw_kernels(const guf_module_v1 &table, const TableReader &reader,
                              std::string_view *out_where, const char **out_field);

// The words that a parameter takes in a launch's block.
uint32_t parameter_words(const guf_module_parameter &parameter);

// What the device's backend has for raw kernels; one load when it was asked for before.
// Errors  GUF_E_UNSUPPORTED <= it has none
guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error);

// The plugin's kernel of the image that it likes best. Loads modules.
// Errors  GUF_E_NO_IMAGE <= none for this device; the message lists the targets there are
guf_status raw_kernel_of(const guf_module_v1 &table, const guf_module_kernel &kernel,
                         Device &device, void **out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_RAW_KERNEL_H
