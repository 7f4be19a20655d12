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
std::string nearest_name(std::string_view wanted, const std::vector<std::string> &known);

// Returns the text after "no ufunc named 'x'". It says if `wanted` is a ufunc of NumPy that is
// missing here, or a function of NumPy that is a method of a ufunc. Otherwise it names the nearest
// name, or is "".
std::string name_advice(std::string_view wanted, const std::vector<std::string> &known);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_NEAREST_NAME_H
