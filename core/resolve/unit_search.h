// SPDX-License-Identifier: Apache-2.0
// The choice of loops for datetime64 and timedelta64: NumPy's rules for each ufunc, and the units
// that result.
#ifndef GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
#define GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H

#include "core/resolve/loop_search.h"

namespace gufunc::resolve {

// Whether datetime types determine the loop: an input has one, or signature= or dtype= names one.
bool is_timed(const TypeQuery &query);

// A loop of the ufunc and the types, with units, that it runs on.
struct TimedLoop {
  uint32_t index;
  guf_dtype types[GUF_MAX_OPERANDS];
};

// Errors  GUF_E_NO_LOOP, GUF_E_CASTING <= no loop or a forbidden cast, with NumPy's text
//         GUF_E_DTYPE, GUF_E_OVERFLOW <= the units have no common divisor; the text names both
guf_status search_timed(const TypeQuery &query, const op::LoopList &list, TimedLoop *out,
                        guf_error *error);

// Under `equiv`, a Python int must not become a datetime type.
// Errors  GUF_E_CASTING <= a Python int would become one
guf_status check_steps(const TypeQuery &query, const op::Loop &loop, guf_error *error);

// Checks the casts that the casting rule permits for conversion factors that overflow or units that
// get lost.
// Errors  those of dtype::check_cast
guf_status check_units(const TypeQuery &query, const op::Loop &loop, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
