// SPDX-License-Identifier: Apache-2.0
// A module in memory: mapped by the dynamic loader to run, or copied as data that never runs.
#ifndef GUFUNC_CORE_MODULE_MODULE_IMAGE_H
#define GUFUNC_CORE_MODULE_MODULE_IMAGE_H

#include <gufunc/module_table.h>

#include <memory>
#include <vector>

#include "core/backend/kernel_table.h"
#include "core/module/read_module.h"

namespace gufunc::module {

// What a module's file exports: its guf_module_v1.
inline constexpr char kTableSymbol[] = "gufunc_module_v1";

// Owns the memory that a table lies in.
class ModuleImage {
 public:
  virtual ~ModuleImage() = default;
  const guf_module_v1 *table() const { return table_; }  // checked

 protected:
  const guf_module_v1 *table_ = nullptr;
};

using ImageRef = std::shared_ptr<const ModuleImage>;

// Maps the file's copy to run its host code. Constructors of the module run here, not before.
// Content that is mapped already is not mapped again: `*out` shares the image, and so the table.
// Errors  GUF_E_BAD_FILE <= the dynamic loader refuses it, no table, or one that breaks the rules;
//                           GUF_E_ABI;  GUF_E_IO;  GUF_E_NO_MEMORY
guf_status map_to_run(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error);

// Copies the file's segments and relocates the copy; no code of it runs. Host images are left out
// of the table.
// Errors  GUF_E_BAD_FILE <= malformed dynamic section or table;  GUF_E_ABI;
//         GUF_E_UNSUPPORTED <= it needs relocations that this version does not read
guf_status copy_as_data(const char *path, const ModuleFile &file, ImageRef *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_IMAGE_H
