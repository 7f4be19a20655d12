// SPDX-License-Identifier: Apache-2.0
// Kernel modules: tables of kernels from a file or from the program itself, and
// the ufuncs that a module adds to a context.
#ifndef GUFUNC_CORE_MODULE_MODULE_H
#define GUFUNC_CORE_MODULE_MODULE_H

#include <gufunc/modules.h>

#include <memory>
#include <string>

#include "core/base/object.h"
#include "core/module/module_image.h"
#include "core/op/ufunc_registry.h"

namespace gufunc::module {

// A kernel module. Its loops retain it. The destructor unloads its images; the destructor of the
// last module with the same content also unmaps the file.
class Module final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kModule;

  // Creates a module from a file.
  Module(std::string path, uint32_t flags, const Digest &digest, ImageRef image);
  // Creates a module from a table that is linked into the program. `table` must
  // have been checked and must never be freed.
  explicit Module(const guf_module_v1 &table);
  ~Module() override;

  const guf_module_v1 &table() const { return *table_; }
  const std::string &path() const { return path_; }  // empty if linked into the program
  uint32_t flags() const { return flags_; }          // bits of guf_module_flag

  // Stores a registration, which ends when the module is destroyed.
  void hold(op::ModuleRegistration registration) { registration_ = std::move(registration); }

  // Returns whether both modules have the same content and were opened with the same flags.
  bool is_same_as(const Module &other) const;

 private:
  const std::string path_;
  const uint32_t flags_ = 0;
  const Digest digest_ = {};
  const ImageRef image_;
  const guf_module_v1 *const table_;
  op::ModuleRegistration registration_;
};

// Reads, checks and maps a file. Registers nothing.
// Errors  as guf_module_load
guf_status open_module(const char *path, uint32_t flags, base::Ref<Module> *out, guf_error *error);

// Checks a table that is linked into the program. Registers nothing.
// Errors  as guf_module_register
guf_status wrap_table(const guf_module_v1 *table, base::Ref<Module> *out, guf_error *error);

// Registers the module's functions in a context. If the same module is already registered, `*out`
// becomes the registered module; otherwise it becomes `module`.
// Errors  GUF_E_EXISTS <= the context contains a different module of this name
guf_status register_module(op::Context &context, const base::Ref<Module> &module,
                           base::Ref<Module> *out, guf_error *error);

// Makes a loop of `ufunc` from a kernel of the module's function `function`. The signatures of the
// ufunc and the function must be equal, except for the names of core dimensions. `types` selects
// the kernel. The loop retains the module.
// Errors  GUF_E_NOT_FOUND <= no such function or types;  GUF_E_SIGNATURE <= the signatures differ
guf_status make_loop(const base::Ref<Module> &module, const op::Ufunc &ufunc, const char *function,
                     const guf_dtype *types, std::unique_ptr<op::Loop> *out, guf_error *error);

}  // namespace gufunc::module

#endif  // GUFUNC_CORE_MODULE_MODULE_H
