// SPDX-License-Identifier: Apache-2.0
// Contexts: maps from names to ufuncs. Each context has its own copy of the standard ufuncs.
#ifndef GUFUNC_CORE_OP_UFUNC_REGISTRY_H
#define GUFUNC_CORE_OP_UFUNC_REGISTRY_H

#include <gufunc/context.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fork.h"
#include "core/op/module_entry.h"
#include "core/op/ufunc.h"

namespace gufunc::backend {
class Device;
}

namespace gufunc::op {

// A plain name and its ufunc, which belongs to the standard library or to a program.
// make_standard_ufuncs creates all ufuncs of ops.def with their loops, but without kernels. Throws
// std::bad_alloc.
struct StandardName {
  std::string name;
  base::Ref<Ufunc> ufunc;
  bool alias;
};
std::vector<StandardName> make_standard_ufuncs();

// Returns whether `name` matches [A-Za-z_][A-Za-z0-9_]* and has at most GUF_MAX_NAME characters.
bool is_plain_name(std::string_view name);

class Context final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kContext;
  Context() : Object(kKind) {}

  // Returns the default context of the process, which is never destroyed.
  static Context &process();

  // Finds a ufunc. A ufunc of the standard library or of a program has a plain name and possibly
  // aliases. A ufunc of a module is found by "module:name". It is also found by its short name if
  // no other module has a ufunc of this name and no plain name is equal.
  // Errors  GUF_E_NOT_FOUND <= no such ufunc (the message suggests the nearest name), or a short
  //         name that several modules use
  guf_status find(std::string_view name, base::Ref<Ufunc> *out, guf_error *error);

  // Registers a ufunc under its full name and retains it.
  // Errors  GUF_E_EXISTS <= the name is taken
  guf_status add(const base::Ref<Ufunc> &ufunc, guf_error *error);

  // Registers all functions of a module, or none. See ModuleEntry for the ownership. `table` must
  // have been checked and must live as long as `module`. The module owns the registration, which
  // ends when the module is destroyed.
  // Errors  GUF_E_EXISTS <= a live module has this name, or two functions have the same name
  //         GUF_E_SIGNATURE, GUF_E_ARG <= an invalid signature or invalid roles
  guf_status add_module(const guf_module_v1 &table, base::Object *module, ModuleRegistration *out,
                        guf_error *error);

  // Returns the live module of this name, or an empty reference.
  base::Ref<base::Object> find_module(std::string_view name);

  // Returns the full names of all ufuncs, sorted. Aliases are not included.
  std::vector<std::string> names();

  // The device that "auto" selects in this context; nullptr until it is first requested.
  std::atomic<backend::Device *> auto_device{nullptr};

 private:
  struct NameTable {
    std::vector<StandardName> plain;  // sorted by name
    std::vector<std::shared_ptr<ModuleEntry>> modules;
    const StandardName *find(std::string_view name) const;
  };
  using Snapshot = std::shared_ptr<const NameTable>;

  Snapshot snapshot();
  // Replaces the table `seen` by `next`. Returns false if another thread has already replaced
  // `seen`.
  bool replace(const Snapshot &seen, Snapshot next);
  static guf_status find_short(const NameTable &table, std::string_view name, base::Ref<Ufunc> *out,
                               guf_error *error);

  // Tables are immutable. A writer builds a new table and swaps it in, so the lock is held for a
  // few instructions only, and a child process that is forked at any moment finds a complete table.
  base::ForkLock lock_;
  Snapshot table_;  // empty until the first use of the context
};

// Finds the context of a handle. NULL selects the default context of the process.
// Errors  GUF_E_HANDLE <= not a context
guf_status context_of(guf_context handle, Context **out, guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UFUNC_REGISTRY_H
