// SPDX-License-Identifier: Apache-2.0
// Makes the same checks as the library when it loads a module with a reduction, and reports an
// error at the line of the registration.
#include "reduction_parts.h"

#include <algorithm>

#include "core/op/state_fold.h"
#include "registration_form.h"

namespace gufunc::gufcc {
namespace {

bool find_part(const Function &leaf, const Module &module, const char *key, const std::string &name,
               op::Signature *out, Diagnostics *diagnostics) {
  const size_t number = part_number(module, name);
  if (number == 0) {
    return diagnostics->error(leaf.place, "{}={}: the sources register no such function", key,
                              name);
  }
  *out = form_of(module.functions[number - 1]);
  return true;
}

bool check_reduction(const Function &leaf, const Module &module, Diagnostics *diagnostics) {
  if (leaf.merge.empty()) return diagnostics->error(leaf.place, "finish= needs merge=");
  op::Signature merge;
  op::Signature finish;
  if (!find_part(leaf, module, "merge", leaf.merge, &merge, diagnostics)) return false;
  const bool finishes = !leaf.finish.empty();
  if (finishes && !find_part(leaf, module, "finish", leaf.finish, &finish, diagnostics))
    return false;
  guf_error error = {};
  error.struct_size = sizeof error;
  if (op::check_state_fold(form_of(leaf), merge, finishes ? &finish : nullptr, &error) == GUF_OK)
    return true;
  return diagnostics->error(leaf.place, "{}", error.message);
}

}  // namespace

size_t part_number(const Module &module, const std::string &name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &function) { return function.name == name; });
  if (name.empty() || found == module.functions.end()) return 0;
  return static_cast<size_t>(found - module.functions.begin()) + 1;
}

bool check_reductions(const Module &module, Diagnostics *diagnostics) {
  return std::all_of(module.functions.begin(), module.functions.end(), [&](const Function &leaf) {
    if (leaf.merge.empty() && leaf.finish.empty()) return true;
    return check_reduction(leaf, module, diagnostics);
  });
}

}  // namespace gufunc::gufcc
