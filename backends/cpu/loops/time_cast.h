// SPDX-License-Identifier: Apache-2.0
// Casts to datetime64 and timedelta64: from other units and from floating-point types.
// All other casts of datetime types use the loops of int64.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_TIME_CAST_H
#define GUFUNC_BACKENDS_CPU_LOOPS_TIME_CAST_H

#include <gufunc/backend.h>
#include <gufunc/kernel/time.hpp>

namespace gufunc::cpu {

// Chooses the cast between two datetime types. If `*out_cast` is NULL, the elements are copied;
// otherwise `*out_cast` is a loop whose user pointer must be `out_units`. NaT stays NaT. A cast
// between datetime64 and timedelta64 keeps the number of steps. Returns false if the units have no
// conversion factor.
bool choose_time_cast(guf_dtype from, guf_dtype to, guf_loop_numpy *out_cast,
                      guf::time::conversion *out_units);

// Returns the cast from a floating-point or complex type, or NULL for other types.
// The cast rounds towards 0. NaN and values outside the range of int64 become NaT.
guf_loop_numpy find_cast_to_time(guf_dtype from);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_TIME_CAST_H
