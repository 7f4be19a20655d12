// SPDX-License-Identifier: Apache-2.0
// The signature of a generalized function, as far as gufcc needs it: operands and their dimensions.
#ifndef GUFUNC_TOOLS_GUFCC_CORE_SIGNATURE_H
#define GUFUNC_TOOLS_GUFCC_CORE_SIGNATURE_H

#include <string>
#include <string_view>
#include <vector>

namespace gufunc::gufcc {

struct CoreSignature {
  std::vector<std::string>
      names;  // distinct dimensions in order of first use; "3" for a frozen one
  std::vector<std::vector<int>> core_dims;  // per operand, inputs first
  int nin = 0, nout = 0;
  bool arrow = false;
};

// Reads NumPy's gufunc grammar plus `|1` and a missing arrow. False with a reason in `*why`.
bool parse_core_signature(std::string_view text, CoreSignature *out, std::string *why);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_CORE_SIGNATURE_H
