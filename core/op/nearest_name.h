// SPDX-License-Identifier: Apache-2.0
// Advice for unknown names: "did you mean".
#ifndef GUFUNC_CORE_OP_NEAREST_NAME_H
#define GUFUNC_CORE_OP_NEAREST_NAME_H

#include <string>
#include <string_view>
#include <vector>

namespace gufunc::op {

// Returns the known name with the smallest edit distance, or "" if the distance exceeds a third of
// the letters. Case and a missing "module:" are ignored.
std::string nearest_name(std::string_view requested, const std::vector<std::string> &known);

// Returns the text after "no ufunc named 'x'". The text states if `requested` is a NumPy ufunc that
// is missing here, or a NumPy function that is a method of a ufunc here. Otherwise it suggests the
// nearest name, or is "" if no name is near.
std::string name_advice(std::string_view requested, const std::vector<std::string> &known);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_NEAREST_NAME_H
