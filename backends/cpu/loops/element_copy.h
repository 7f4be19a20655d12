// SPDX-License-Identifier: Apache-2.0
// Copies elements between strided arrays of any alignment and byte order.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_COPY_H
#define GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_COPY_H

#include <cstdint>

namespace gufunc::cpu {

// Copies `count` elements of `size` bytes. Steps are signed and in bytes.
// `swap` is 0, or the number of bytes that are reversed as one unit:
// `size`, or half of `size` for complex numbers. If `swap` is not 0, `size` is 1, 2, 4, 8 or 16.
void copy_elements(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                   uint32_t size, uint32_t swap);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_COPY_H
