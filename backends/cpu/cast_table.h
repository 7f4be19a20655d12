// SPDX-License-Identifier: Apache-2.0
// The loops of guf::cast, one per pair of dtypes, compiled for this machine's ISA level.
#ifndef GUFUNC_BACKENDS_CPU_CAST_TABLE_H
#define GUFUNC_BACKENDS_CPU_CAST_TABLE_H

#include <gufunc/backend.h>

namespace gufunc::cpu {

// Elementwise loop from aligned native `from` to aligned native `to`, any steps. NULL: the dtypes
// are equal, or one is not among the fifteen.
guf_loop_numpy find_cast(guf_dtype from, guf_dtype to);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_CAST_TABLE_H
