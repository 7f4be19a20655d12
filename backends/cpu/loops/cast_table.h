// SPDX-License-Identifier: Apache-2.0
// The loops of guf::cast, one for each pair of dtypes, compiled for this machine's ISA level.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_CAST_TABLE_H
#define GUFUNC_BACKENDS_CPU_LOOPS_CAST_TABLE_H

#include <gufunc/backend.h>

namespace gufunc::cpu {

// Returns the elementwise loop that casts from `from` to `to`,
// or NULL if the dtypes are equal or one of them is not among the fifteen builtin dtypes.
// Elements must be aligned and in native byte order; steps are arbitrary.
guf_loop_numpy find_cast(guf_dtype from, guf_dtype to);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_CAST_TABLE_H
