// SPDX-License-Identifier: Apache-2.0
// The registry of names. A change replaces the whole table of names.
#include "core/op/ufunc_registry.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "core/base/utf8.h"
#include "core/op/nearest_name.h"
#include "core/op/text_scanner.h"

namespace gufunc::op {
namespace {

using Hold = std::lock_guard<base::ForkLock>;

int32_t index_of(const ModuleEntry &entry, std::string_view name) {
  for (uint32_t i = 0; i < entry.nfunctions(); ++i) {
    if (entry.function_name(i) == name) return static_cast<int32_t>(i);
  }
  return -1;
}

// Returns a name that two functions of the module share, or "".
std::string find_duplicate(const ModuleEntry &entry) {
  std::vector<std::string_view> names;
  names.reserve(entry.nfunctions());
  for (uint32_t i = 0; i < entry.nfunctions(); ++i) names.push_back(entry.function_name(i));
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  return twice == names.end() ? std::string() : std::string(*twice);
}

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= GUF_MAX_NAME && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_word);
}

Context &Context::process() {
  alignas(Context) static char place[sizeof(Context)];
  static Context *const instance = new (place) Context;  // never destroyed: it may be used at exit
  return *instance;
}

const StandardName *Context::NameTable::find(std::string_view name) const {
  const auto at = std::lower_bound(
      plain.begin(), plain.end(), name,
      [](const StandardName &entry, std::string_view requested) { return entry.name < requested; });
  return at != plain.end() && at->name == name ? &*at : nullptr;
}

Context::Snapshot Context::snapshot() {
  for (;;) {
    Snapshot seen;
    {
      const Hold hold(lock_);
      seen = table_;
    }
    if (seen != nullptr) return seen;
    auto first = std::make_shared<NameTable>();
    first->plain = make_standard_ufuncs();
    replace(seen, std::move(first));
  }
}

bool Context::replace(const Snapshot &seen, Snapshot next) {
  const Hold hold(lock_);
  if (table_ != seen) return false;
  table_.swap(next);  // the caller's copy frees the old table after the unlock
  return true;
}

guf_status Context::find(std::string_view name, base::Ref<Ufunc> *out, guf_error *error) {
  const Snapshot table = snapshot();
  if (const StandardName *const entry = table->find(name)) {
    *out = entry->ufunc;
    return GUF_OK;
  }
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) {
    GUF_TRY(find_short(*table, name, out, error));
    if (*out) return GUF_OK;
  } else {
    for (const std::shared_ptr<ModuleEntry> &entry : table->modules) {
      if (entry->name() != name.substr(0, colon)) continue;
      const int32_t index = index_of(*entry, name.substr(colon + 1));
      if (index < 0) continue;
      *out = ModuleEntry::ufunc(entry, static_cast<uint32_t>(index));
      if (*out) return GUF_OK;
    }
  }
  return base::fail(error, GUF_E_NOT_FOUND, base::kNone, base::kNone, "no ufunc named '%.*s'%s",
                    base::utf8_prefix(name, 2 * GUF_MAX_NAME), name.data(),
                    name_advice(name, names()).c_str());
}

guf_status Context::find_short(const NameTable &table, std::string_view name, base::Ref<Ufunc> *out,
                               guf_error *error) {
  base::Ref<Ufunc> found;
  for (const std::shared_ptr<ModuleEntry> &entry : table.modules) {
    const int32_t index = index_of(*entry, name);
    if (index < 0) continue;
    base::Ref<Ufunc> ufunc = ModuleEntry::ufunc(entry, static_cast<uint32_t>(index));
    if (!ufunc) continue;
    if (found) {
      return base::fail(
          error, GUF_E_NOT_FOUND, base::kNone, base::kNone,
          "'%.*s' is the name of several modules' ufuncs: '%s', '%s'; use the full name",
          static_cast<int>(name.size()), name.data(), found->full_name.c_str(),
          ufunc->full_name.c_str());
    }
    found = std::move(ufunc);
  }
  *out = std::move(found);
  return GUF_OK;
}

guf_status Context::add(const base::Ref<Ufunc> &ufunc, guf_error *error) {
  for (;;) {
    const Snapshot seen = snapshot();
    if (seen->find(ufunc->full_name) != nullptr) {
      return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                        "a ufunc named '%s' exists already", ufunc->full_name.c_str());
    }
    auto next = std::make_shared<NameTable>(*seen);
    const auto at = std::lower_bound(
        next->plain.begin(), next->plain.end(), ufunc->full_name,
        [](const StandardName &entry, const std::string &name) { return entry.name < name; });
    next->plain.insert(at, {ufunc->full_name, ufunc, false});
    if (replace(seen, std::move(next))) return GUF_OK;
  }
}

guf_status Context::add_module(const guf_module_v1 &table, base::Object *module,
                               ModuleRegistration *out, guf_error *error) {
  std::shared_ptr<ModuleEntry> entry;
  GUF_TRY(ModuleEntry::make(table, module, &entry, error));
  if (const std::string twice = find_duplicate(*entry); !twice.empty()) {
    return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                      "module '%s' has two functions named '%s'", table.name, twice.c_str());
  }
  for (;;) {
    const Snapshot seen = snapshot();
    auto next = std::make_shared<NameTable>();
    next->plain = seen->plain;
    for (const std::shared_ptr<ModuleEntry> &known : seen->modules) {
      if (!known->open()) continue;  // drops entries of unloaded modules
      if (known->name() == entry->name()) {
        return base::fail(error, GUF_E_EXISTS, base::kNone, base::kNone,
                          "a module named '%s' is loaded already", table.name);
      }
      next->modules.push_back(known);
    }
    next->modules.push_back(entry);
    if (replace(seen, std::move(next))) break;
  }
  *out = ModuleRegistration(std::move(entry));
  return GUF_OK;
}

base::Ref<base::Object> Context::find_module(std::string_view name) {
  const Snapshot table = snapshot();
  for (const std::shared_ptr<ModuleEntry> &entry : table->modules) {
    if (entry->name() != name) continue;
    if (base::Ref<base::Object> module = entry->module()) return module;
  }
  return {};
}

std::vector<std::string> Context::names() {
  const Snapshot table = snapshot();
  std::vector<std::string> found;
  for (const StandardName &entry : table->plain) {
    if (!entry.alias) found.push_back(entry.name);
  }
  for (const std::shared_ptr<ModuleEntry> &entry : table->modules) {
    if (!entry->open()) continue;
    for (uint32_t i = 0; i < entry->nfunctions(); ++i) found.push_back(entry->full_name(i));
  }
  std::sort(found.begin(), found.end());
  return found;
}

guf_status context_of(guf_context handle, Context **out, guf_error *error) {
  if (handle == nullptr) {
    *out = &Context::process();
    return GUF_OK;
  }
  return base::find_object(handle, "context", out, error);
}

}  // namespace gufunc::op
