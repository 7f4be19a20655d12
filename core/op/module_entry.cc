// SPDX-License-Identifier: Apache-2.0
// The entry of a module in a context. It creates ufuncs from the module's table. Its pointers to
// the module and to the ufuncs own nothing and are cleared before their targets are destroyed.
#include "core/op/module_entry.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace gufunc::op {
namespace {

using Hold = std::lock_guard<base::ForkLock>;

guf_status parse(const guf_module_function &function, Signature *out, guf_error *error) {
  const int32_t nroles = function.roles == nullptr ? 0 : function.nin + function.nout;
  if (function.signature == nullptr) {
    return make_elementwise(function.nin, function.nout, function.roles, nroles, out, error);
  }
  return parse_signature(function.signature, function.rules == nullptr ? "" : function.rules,
                         function.roles, nroles, out, error);
}

std::vector<std::unique_ptr<Loop>> loops_of(const guf_module_v1 &table,
                                            const guf_module_function &function,
                                            const base::Ref<base::Object> &owner) {
  std::vector<std::unique_ptr<Loop>> loops;
  loops.reserve(function.nloops);
  for (uint32_t i = 0; i < function.nloops; ++i) {
    const guf_module_loop &from = function.loops[i];
    auto loop = std::make_unique<Loop>();
    std::copy_n(from.types, function.nin + function.nout, loop->types.begin());
    loop->kind = from.kind;
    loop->flags = GUF_LOOP_ANY_THREAD;  // compiled kernels do not depend on the thread
    loop->table = &table;
    loop->function = &function;
    loop->kernel = from.kernel;
    loop->owner = owner;
    loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace

guf_status ModuleEntry::make(const guf_module_v1 &table, base::Object *module,
                             std::shared_ptr<ModuleEntry> *out, guf_error *error) {
  std::shared_ptr<ModuleEntry> entry(new ModuleEntry(table, module));
  entry->signatures_.resize(table.nfunctions);
  for (uint32_t i = 0; i < table.nfunctions; ++i) {
    entry->names_.emplace_back(table.functions[i].name);
    GUF_TRY(parse(table.functions[i], &entry->signatures_[i], error));
  }
  *out = std::move(entry);
  return GUF_OK;
}

base::Ref<base::Object> ModuleEntry::module() {
  const Hold hold(lock_);
  if (module_ == nullptr || !module_->try_retain()) return {};
  return base::Ref<base::Object>::adopt(module_);
}

base::Ref<Ufunc> ModuleEntry::build(const std::shared_ptr<ModuleEntry> &entry, uint32_t index,
                                    const base::Ref<base::Object> &owner) {
  const guf_module_function &function = entry->table_.functions[index];
  auto made = base::Ref<Ufunc>::adopt(new Ufunc);
  made->name = entry->function_name(index);
  made->full_name = entry->full_name(index);
  made->doc = function.doc == nullptr ? "" : function.doc;
  made->signature = entry->signatures_[index];
  made->identity = function.identity;
  made->flags = function.flags;
  if (made->add_loops(loops_of(entry->table_, function, owner), nullptr) != GUF_OK) return {};
  if (function.merge == 0) return made;
  StateReduction reduction;  // the check of the table rejects nested reductions
  reduction.merge = ufunc(entry, function.merge - 1U);
  if (function.finish != 0) reduction.finish = ufunc(entry, function.finish - 1U);
  if (!reduction.merge || (function.finish != 0 && !reduction.finish)) return {};
  if (made->set_state_reduction(std::move(reduction), nullptr) != GUF_OK) return {};
  return made;
}

base::Ref<Ufunc> ModuleEntry::ufunc(const std::shared_ptr<ModuleEntry> &entry, uint32_t index) {
  base::Ref<Ufunc> made;
  for (;;) {
    const base::Ref<base::Object> owner = entry->module();
    if (!owner) return {};
    {
      const Hold hold(entry->lock_);
      Ufunc *const known = entry->alive_[index];
      if (known != nullptr && known->try_retain()) return base::Ref<Ufunc>::adopt(known);
      if (made) {
        made->module_entry = entry;
        made->function_index = index;
        entry->alive_[index] = made.get();
        return made;
      }
    }
    made = build(entry, index, owner);
    if (!made) return {};
  }
}

void ModuleEntry::close() {
  const Hold hold(lock_);
  module_ = nullptr;
}

void ModuleEntry::forget(uint32_t index, const Ufunc *ufunc) {
  const Hold hold(lock_);
  if (alive_[index] == ufunc) alive_[index] = nullptr;
}

}  // namespace gufunc::op
