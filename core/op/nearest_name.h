// SPDX-License-Identifier: Apache-2.0
// Suggestions for unknown names, as in "did you mean 'add'?".
#ifndef GUFUNC_CORE_OP_NEAREST_NAME_H
#define GUFUNC_CORE_OP_NEAREST_NAME_H

#include <string>
#include <string_view>
#include <vector>

namespace gufunc::op {

// Returns the known name with the smallest edit distance, or "" if every distance exceeds both 1
// and a third of the length of `requested`. Ignores case, and the "module:" prefix of known names
// if `requested` has none.
std::string nearest_name(std::string_view requested, const std::vector<std::string> &known);

// Returns the text that follows "no ufunc named 'x'" in a message. The text reports that
// `requested` is a NumPy ufunc that this library does not provide, or a NumPy function that is a
// method of a ufunc. Otherwise it suggests the nearest name. The text is "" if no name is near.
std::string name_advice(std::string_view requested, const std::vector<std::string> &known);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_NEAREST_NAME_H
