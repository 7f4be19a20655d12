// SPDX-License-Identifier: Apache-2.0
// "did you mean": the known name nearest to one that is not known.
#ifndef GUFUNC_CORE_OP_NEAREST_NAME_H
#define GUFUNC_CORE_OP_NEAREST_NAME_H

#include <string>
#include <string_view>
#include <vector>

namespace gufunc::op {

// The name with the fewest letters to change, insert or drop; empty when it takes more than a
// third of them. A name that equals a known one up to case or a missing "module:" is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string> &known);

// What follows "no ufunc named 'x'": a ufunc of NumPy that is not here is called that, and a
// function of NumPy that is a method of a ufunc is named so; else the nearest name. "" for none.
std::string name_advice(std::string_view wanted, const std::vector<std::string> &known);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_NEAREST_NAME_H
