// SPDX-License-Identifier: Apache-2.0
// A module's place in a context: found by name, never kept alive by it.
#ifndef GUFUNC_CORE_OP_MODULE_ENTRY_H
#define GUFUNC_CORE_OP_MODULE_ENTRY_H

#include <memory>
#include <string>
#include <vector>

#include "core/base/fork.h"
#include "core/base/object.h"
#include "core/op/ufunc.h"

namespace gufunc::op {

// Who keeps whom: a ufunc of a module keeps the module (by its loops); handles keep ufuncs and
// modules; the context's entry keeps neither, it only points. So a module is unloaded when its
// handle, its ufuncs' handles and its plans are gone, although the context lives. A ufunc is made
// when it is asked for and shared while somebody keeps it; loops that a program added to it go
// with it.
class ModuleEntry {
 public:
  // Parses every signature; the table was checked.  Throws std::bad_alloc.
  static guf_status make(const guf_module_v1 &table, base::Object *module,
                         std::shared_ptr<ModuleEntry> *out, guf_error *error);

  const std::string &name() const { return name_; }
  uint32_t nfunctions() const { return static_cast<uint32_t>(names_.size()); }
  const std::string &function_name(uint32_t index) const { return names_[index]; }
  std::string full_name(uint32_t index) const { return name_ + ":" + names_[index]; }

  // The module, or empty when it is dying or dead.
  base::Ref<base::Object> module();
  bool open() { return static_cast<bool>(module()); }
  // The ufunc of a function; empty when the module is dead.
  static base::Ref<Ufunc> ufunc(const std::shared_ptr<ModuleEntry> &entry, uint32_t index);

  void close();                                     // the module dies
  void forget(uint32_t index, const Ufunc *ufunc);  // the ufunc dies

 private:
  ModuleEntry(const guf_module_v1 &table, base::Object *module)
      : name_(table.name), table_(table), module_(module), alive_(table.nfunctions, nullptr) {}
  static base::Ref<Ufunc> build(const std::shared_ptr<ModuleEntry> &entry, uint32_t index,
                                const base::Ref<base::Object> &owner);

  const std::string name_;
  const guf_module_v1 &table_;      // the module's: valid while it is kept
  std::vector<std::string> names_;  // copies: read when the module may be gone
  std::vector<Signature> signatures_;
  base::ForkLock lock_;  // guards the two below, a few instructions at a time
  base::Object *module_;
  std::vector<Ufunc *> alive_;
};

// Held by the module: its end closes the entry.
class ModuleRegistration {
 public:
  ModuleRegistration() = default;
  explicit ModuleRegistration(std::shared_ptr<ModuleEntry> entry) : entry_(std::move(entry)) {}
  ModuleRegistration(ModuleRegistration &&) noexcept = default;
  ModuleRegistration &operator=(ModuleRegistration &&other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~ModuleRegistration() {
    if (entry_ != nullptr) entry_->close();
  }

 private:
  std::shared_ptr<ModuleEntry> entry_;
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_MODULE_ENTRY_H
