// SPDX-License-Identifier: Apache-2.0
// Loops over datetime64 and timedelta64: NumPy's rules, ufunc by ufunc, and the units they settle.
#ifndef GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
#define GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H

#include "core/resolve/loop_search.h"

namespace gufunc::resolve {

// Whether times decide the loop: an input's type is one, or signature= or dtype= names one.
bool is_timed(const TypeQuery &query);

// A loop of the ufunc, and the types it is run on.
struct TimedLoop {
  uint32_t index;
  guf_dtype types[GUF_MAX_OPERANDS];
};

// Errors  GUF_E_NO_LOOP, GUF_E_CASTING <= with NumPy's text for the case
//         GUF_E_DTYPE, GUF_E_OVERFLOW <= the units have no common divisor; the text names both
guf_status search_timed(const TypeQuery &query, const op::LoopList &list, TimedLoop *out,
                        guf_error *error);

// `equiv` lets no Python int count steps.  Errors  GUF_E_CASTING
guf_status check_steps(const TypeQuery &query, const op::Loop &loop, guf_error *error);

// What the permitted casts still fail for.  Errors  those of dtype::check_cast
guf_status check_units(const TypeQuery &query, const op::Loop &loop, guf_error *error);

}  // namespace gufunc::resolve

#endif  // GUFUNC_CORE_RESOLVE_UNIT_SEARCH_H
