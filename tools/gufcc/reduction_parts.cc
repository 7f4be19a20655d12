// SPDX-License-Identifier: Apache-2.0
// What the library checks of a reduction when it loads a module, told at the leaf's line.
#include "reduction_parts.h"

#include <algorithm>

namespace gufunc::gufcc {
namespace {

// (n)->(),... with (): the first element's number, and (n): the mask.
bool is_leaf(const Function &function) {
  if (!function.generalized() || function.nin < 1 || function.nin > 3 || function.nout < 1 ||
      !function.rules.empty() || function.signature.find_first_of("?|") != std::string::npos) {
    return false;
  }
  for (int i = 0; i < function.nin + function.nout; ++i) {
    const size_t wanted = i < function.nin && i != 1 ? 1 : 0;
    const std::vector<int> &dims = function.core_dims[static_cast<size_t>(i)];
    if (dims.size() != wanted || (wanted == 1 && dims[0] != 0)) return false;
  }
  return true;
}

bool check_part(const Function &leaf, const Module &module, const char *key,
                const std::string &name, int nin, int nout, Diagnostics *diagnostics) {
  const size_t number = part_number(module, name);
  if (number == 0) {
    return diagnostics->error(leaf.place, "{}={}: the sources register no such function", key,
                              name);
  }
  const Function &part = module.functions[number - 1];
  if (!part.generalized() && part.nin == nin && (nout == 0 || part.nout == nout)) return true;
  return diagnostics->error(leaf.place,
                            "{}={}: found {} inputs and {} outputs, wanted a GUF_UFUNC with {} "
                            "inputs{}",
                            key, name, part.nin, part.nout, nin,
                            nout == 0 ? "" : fmt::format(" and {} outputs", nout));
}

}  // namespace

size_t part_number(const Module &module, const std::string &name) {
  const auto found = std::find_if(module.functions.begin(), module.functions.end(),
                                  [&](const Function &function) { return function.name == name; });
  if (name.empty() || found == module.functions.end()) return 0;
  return static_cast<size_t>(found - module.functions.begin()) + 1;
}

bool check_reductions(const Module &module, Diagnostics *diagnostics) {
  for (const Function &leaf : module.functions) {
    if (leaf.merge.empty() && leaf.finish.empty()) continue;
    if (leaf.merge.empty()) return diagnostics->error(leaf.place, "finish= needs merge=");
    if (!is_leaf(leaf)) {
      return diagnostics->error(leaf.place,
                                "merge= belongs to a GUF_GUFUNC with the signature (n)->(),... or "
                                "(n),()->(),... or (n),(),(n)->(),... without rules");
    }
    if (!check_part(leaf, module, "merge", leaf.merge, 2 * leaf.nout, leaf.nout, diagnostics))
      return false;
    if (!leaf.finish.empty() &&
        !check_part(leaf, module, "finish", leaf.finish, leaf.nout, 0, diagnostics)) {
      return false;
    }
  }
  return true;
}

}  // namespace gufunc::gufcc
