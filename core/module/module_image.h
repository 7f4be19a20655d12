// SPDX-License-Identifier: Apache-2.0
// A module in memory: mapped by the dynamic loader to run, or copied as data whose code never runs.
#ifndef GUFUNC_CORE_MODULE_MODULE_IMAGE_H
#define GUFUNC_CORE_MODULE_MODULE_IMAGE_H

#include <gufunc/module_table.h>

#include <memory>
#include <vector>

#include "core/backend/kernel_table.h"
#include "core/module/read_module.h"

namespace gufunc::module {

// The only symbol that a module file exports. The symbol is the guf_module_v1 of the file.
inline constexpr char kTableSymbol[] = "gufunc_module_v1";

// Owns the memory of a module's table.
class ModuleImage {
 public:
  virtual ~ModuleImage() = default;
  const guf_module_v1 *table() const { return table_; }  // the checked table

 protected:
  const guf_module_v1 *table_ = nullptr;
};

using ImageRef = std::shared_ptr<const ModuleImage>;

// Maps the copy of the file so that its host code can run. The module's static
// constructors run during the call. Content that is already mapped is not mapped again:
// `*out` then shares the image and its table.
// Errors  GUF_E_BAD_FILE <= the dynamic loader rejects the file, or no table or a malformed table
//         GUF_E_ABI;  GUF_E_IO;  GUF_E_NO_MEMORY
guf_status map_to_run(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error);

// Copies the segments of the file and relocates the copy. No code of the module
// runs. Host images are removed from the table.
// Errors  GUF_E_BAD_FILE <= a malformed dynamic section or table;  GUF_E_ABI
//         GUF_E_UNSUPPORTED <= the file needs relocations that this version does not support
guf_status copy_as_data(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_IMAGE_H
