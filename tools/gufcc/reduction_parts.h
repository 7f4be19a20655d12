// SPDX-License-Identifier: Apache-2.0
// Reductions with a state: a leaf names the functions that merge and finish its states.
#ifndef GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H
#define GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H

#include "registration.h"

namespace gufunc::gufcc {

// 1 + the index of a module's function; 0 when the name is empty or unknown.
size_t part_number(const Module &module, const std::string &name);

// Whether every merge= and finish= names a function that fits its leaf.
bool check_reductions(const Module &module, Diagnostics *diagnostics);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REDUCTION_PARTS_H
