// SPDX-License-Identifier: Apache-2.0
// Raw kernels of kernel tables: their checks, their lookup, and their code on a device.
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

// The struct_size of tables that were compiled for a library version without raw kernels.
inline constexpr uint32_t kTableWithoutRaw = offsetof(guf_module_v1, raw_kernels);

inline std::span<const guf_module_kernel> raw_kernels_of(const guf_module_v1 &table) {
  if (table.struct_size < sizeof(guf_module_v1)) return {};
  return {table.raw_kernels, table.nraw_kernels};
}

// Checks the raw kernels of a table whose header and images are valid. Returns nullptr if the raw
// kernels are valid. Otherwise returns a description of the expected value, and writes the names of
// the invalid field and of its kernel.
const char *check_raw_kernels(const guf_module_v1 &table, const TableReader &reader,
                              std::string_view *out_where, const char **out_field);

// Returns the number of 8-byte words that a parameter occupies in the block of a launch.
uint32_t parameter_words(const guf_module_parameter &parameter);

// Returns the extension of the device's backend for raw kernels. A repeated call costs one atomic
// load.
// Errors  GUF_E_UNSUPPORTED <= the backend has no such extension
guf_status kernels_extension(Device &device, const guf_kernels_api **out, guf_error *error);

// Returns the plugin's kernel from the image with the highest score. May load images.
// Errors  GUF_E_NO_IMAGE <= no image for this device; the message lists the available targets
guf_status load_raw_kernel(const guf_module_v1 &table, const guf_module_kernel &kernel,
                           Device &device, void **out, guf_error *error);

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_RAW_KERNEL_H
