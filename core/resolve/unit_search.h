// SPDX-License-Identifier: Apache-2.0
// The choice of loops for datetime64 and timedelta64: NumPy's rules, and the resulting units.
#ifndef GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
#define GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H

#include "core/resolve/loop_search.h"

namespace gufunc::resolve {

// Returns whether an input, signature= or dtype= has a datetime type, which determines the loop.
bool has_datetime(const TypeQuery &query);

// A loop of the ufunc, and the types with units on which it runs.
struct DatetimeLoop {
  uint32_t index;
  guf_dtype types[GUF_MAX_OPERANDS];
};

// Finds the loop by NumPy's rules for datetime types.
// Errors  GUF_E_NO_LOOP, GUF_E_CASTING <= no loop or a forbidden cast; NumPy's message
//         GUF_E_DTYPE, GUF_E_OVERFLOW <= the units have no common divisor; the message names both
guf_status search_datetime(const TypeQuery &query, const op::LoopList &list, DatetimeLoop *out,
                           guf_error *error);

// Checks that, under the casting rule `equiv`, no Python int is converted to a datetime type.
// Errors  GUF_E_CASTING <= a Python int would be converted
guf_status check_int_to_datetime(const TypeQuery &query, const op::Loop &loop, guf_error *error);

// Checks the permitted casts for conversion factors that overflow and for units that would be lost.
// Errors  as dtype::check_cast
guf_status check_units(const TypeQuery &query, const op::Loop &loop, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
