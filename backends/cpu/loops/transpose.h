// SPDX-License-Identifier: Apache-2.0
// Transposes a small block of elements.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_TRANSPOSE_H
#define GUFUNC_BACKENDS_CPU_LOOPS_TRANSPOSE_H

#include <cstdint>

namespace gufunc::cpu {

// Element j of line i becomes element i of line j. There are `lines` lines
// of `length` contiguous elements, which have `size` bytes (1, 2, 4, 8 or 16).
// Lines are `from_step` and `to_step` bytes apart.
void transpose(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t lines,
               int64_t length, uint32_t size);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_TRANSPOSE_H
