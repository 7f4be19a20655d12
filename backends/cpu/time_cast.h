// SPDX-License-Identifier: Apache-2.0
// Casts to datetime64 and timedelta64: between units, and from floating point. All others are
// int64's.
#ifndef GUFUNC_BACKENDS_CPU_TIME_CAST_H
#define GUFUNC_BACKENDS_CPU_TIME_CAST_H

#include <gufunc/backend.h>
#include <gufunc/kernel/time.hpp>

namespace gufunc::cpu {

// Between two times. `*out_cast` NULL: the bits stay; else a loop whose user pointer is
// `*out_units`. Not-a-times stay what they are; the two classes exchange numbers of steps.
// False when there is no factor between the units.
bool choose_time_cast(guf_dtype from, guf_dtype to, guf_loop_numpy *out_cast,
                      guf::time::conversion *out_units);

// From a floating-point or complex type: towards 0; NaN and what int64 does not hold become
// not-a-time. NULL for other types.
guf_loop_numpy find_cast_to_time(guf_dtype from);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_TIME_CAST_H
