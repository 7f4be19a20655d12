// SPDX-License-Identifier: Apache-2.0
// Classifies the elements of an array as NaN, infinite, zero or tiny.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_VALUE_CLASS_H
#define GUFUNC_BACKENDS_CPU_LOOPS_VALUE_CLASS_H

#include <gufunc/dtype.h>

#include <cstdint>

namespace gufunc::cpu {

enum ValueClass : uint8_t {
  kIsNaN = 1u << 0,
  kIsInfinite = 1u << 1,
  kIsZero = 1u << 2,
  kIsTiny = 1u << 3  // below the smallest normal number, including zero; set only for real types
};

// ORs the class of each of `count` elements into `classes`.
// A complex number is NaN or infinite if one of its parts is, and zero if both parts are zero.
// NaT counts as NaN. Integers and bools have no class.
void classify(guf_dtype dtype, const char *elements, int64_t step, int64_t count, uint8_t *classes);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_VALUE_CLASS_H
