// SPDX-License-Identifier: Apache-2.0
// Contexts: names to ufuncs, over a standard library of their own.
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

// The ufuncs of ops.def with their loops; no kernels.  Throws std::bad_alloc.
struct StandardName {
  std::string name;
  base::Ref<Ufunc> ufunc;
  bool alias;
};
std::vector<StandardName> make_standard_ufuncs();

// Whether `name` is [A-Za-z_][A-Za-z0-9_]* of at most GUF_MAX_NAME characters.
bool is_plain_name(std::string_view name);

class Context final : public base::Object {
 public:
  static constexpr base::Kind kKind = base::Kind::kContext;
  Context() : Object(kKind) {}

  // The default context of the process; immortal.
  static Context &process();

  // The standard library, and ufuncs that programs registered, by plain name or alias; a module's
  // by "module:name" or, while only one module has it and no plain name is equal, by the short
  // name.
  // Errors  GUF_E_NOT_FOUND <= none, with the nearest name; or a short name of several modules
  guf_status find(std::string_view name, base::Ref<Ufunc> *out, guf_error *error);

  // Registers a ufunc under its full name and keeps it.  Errors  GUF_E_EXISTS <= the name is taken
  guf_status add(const base::Ref<Ufunc> &ufunc, guf_error *error);

  // Registers all functions of a module, or none; see ModuleEntry for who keeps whom. `table` was
  // checked and lives as long as `module`, which keeps the registration and ends it when it dies.
  // Errors  GUF_E_EXISTS <= a live module of this name, or a function's name twice;
  // GUF_E_SIGNATURE, GUF_E_ARG
  guf_status add_module(const guf_module_v1 &table, base::Object *module, ModuleRegistration *out,
                        guf_error *error);

  // The live module of this name, or empty.
  base::Ref<base::Object> find_module(std::string_view name);

  // Full names without aliases, sorted.
  std::vector<std::string> names();

  // What "auto" means here; null until it was asked for.
  std::atomic<backend::Device *> auto_device{nullptr};

 private:
  struct NameTable {
    std::vector<StandardName> plain;  // sorted by name
    std::vector<std::shared_ptr<ModuleEntry>> modules;
    const StandardName *find(std::string_view name) const;
  };
  using Snapshot = std::shared_ptr<const NameTable>;

  Snapshot snapshot();
  // Puts `next` in the place of `seen`; false when another thread was first.
  bool replace(const Snapshot &seen, Snapshot next);
  static guf_status find_short(const NameTable &table, std::string_view name, base::Ref<Ufunc> *out,
                               guf_error *error);

  // A table is never changed: writers make the next one and swap it in, so the lock is held for a
  // few instructions and a child forked at any moment sees a whole table.
  base::ForkLock lock_;
  Snapshot table_;  // empty until first use
};

// The context of a handle; NULL is the process's.  Errors  GUF_E_HANDLE
guf_status context_of(guf_context handle, Context **out, guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_UFUNC_REGISTRY_H
