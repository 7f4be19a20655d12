// SPDX-License-Identifier: Apache-2.0
// Checks reductions with a user-defined accumulator, whose registrations name the functions that
// merge and finish accumulators.
#ifndef GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H
#define GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H

#include "registration.h"

namespace gufunc::gufcc {

// Returns 1 + the index of the function `name` of the module, or 0 if the name is empty or unknown.
size_t part_number(const Module &module, const std::string &name);

// Checks that every merge= and finish= names a function with fitting types.
bool check_reductions(const Module &module, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H
