// SPDX-License-Identifier: Apache-2.0
// The entry of a module in a context. The context finds the module through the entry, which does
// not keep the module alive.
#ifndef GUFUNC_CORE_OP_MODULE_ENTRY_H
#define GUFUNC_CORE_OP_MODULE_ENTRY_H

#include <memory>
#include <string>
#include <vector>

#include "core/base/fork.h"
#include "core/base/object.h"
#include "core/op/ufunc.h"

namespace gufunc::op {

// Ownership: a ufunc of a module retains the module through its loops. Handles retain ufuncs and
// modules. The entry in the context retains neither. A module is therefore unloaded when its
// handle, the handles of its ufuncs and its plans are gone, even if the context still exists. A
// ufunc is created on request and shared until its last reference is released. Loops that a program
// added to the ufunc are destroyed with the ufunc.
class ModuleEntry {
 public:
  // Parses every signature of a table that was checked before. Throws std::bad_alloc.
  static guf_status make(const guf_module_v1 &table, base::Object *module,
                         std::shared_ptr<ModuleEntry> *out, guf_error *error);

  const std::string &name() const { return name_; }
  uint32_t nfunctions() const { return static_cast<uint32_t>(names_.size()); }
  const std::string &function_name(uint32_t index) const { return names_[index]; }
  std::string full_name(uint32_t index) const { return name_ + ":" + names_[index]; }

  // Returns the module, or an empty reference if the module is destroyed or being destroyed.
  base::Ref<base::Object> module();
  bool open() { return static_cast<bool>(module()); }
  // Returns the ufunc for a function of the module, or an empty reference if the module is gone.
  static base::Ref<Ufunc> ufunc(const std::shared_ptr<ModuleEntry> &entry, uint32_t index);

  void close();                                     // called when the module is destroyed
  void forget(uint32_t index, const Ufunc *ufunc);  // called when the ufunc is destroyed

 private:
  ModuleEntry(const guf_module_v1 &table, base::Object *module)
      : name_(table.name), table_(table), module_(module), alive_(table.nfunctions, nullptr) {}
  static base::Ref<Ufunc> build(const std::shared_ptr<ModuleEntry> &entry, uint32_t index,
                                const base::Ref<base::Object> &owner);

  const std::string name_;
  const guf_module_v1 &table_;      // owned by the module; valid while the module is retained
  std::vector<std::string> names_;  // copied, because they are also read when the module is gone
  std::vector<Signature> signatures_;
  base::ForkLock lock_;  // guards module_ and alive_; held for a few instructions
  base::Object *module_;
  std::vector<Ufunc *> alive_;
};

// The registration of a module, which the module owns. Its destructor closes the entry.
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
