// SPDX-License-Identifier: Apache-2.0
// The mathematical functions of the dialect, such as guf::exp. Most are branch-free, so that loops
// over them vectorise. docs/accuracy.md lists the largest errors.
#ifndef GUFUNC_KERNEL_MATH_HPP
#define GUFUNC_KERNEL_MATH_HPP

#include "math_complex.hpp"
#include "math_complex_arc.hpp"
#include "math_complex_exp.hpp"
#include "math_complex_pow.hpp"
#include "math_complex_tan.hpp"
#include "math_fma.hpp"
#include "math_functions.hpp"
#include "math_modulo.hpp"
#include "math_number.hpp"
#include "math_parts.hpp"

namespace guf {

// Python's constants, in f64. guf::limits<T> has infinity and nan of each type.
GUF_TABLE f64 pi = 0x1.921fb54442d18p+1;
GUF_TABLE f64 tau = 0x1.921fb54442d18p+2;
GUF_TABLE f64 e = 0x1.5bf0a8b145769p+1;
GUF_TABLE f64 inf = __builtin_huge_val();
GUF_TABLE f64 nan = __builtin_nan("");

// The distance from |x| to the next larger number. For the largest finite number, it is the
// distance to the next smaller number.
template <class T>
GUF_FN T ulp(T x) {
  static_assert(is_float<T>::value, "ulp accepts f32 or f64");
  const T size = fabs(x);
  if (!(size < limits<T>::infinity)) return size;
  return size == limits<T>::max ? size - nextafter(size, T(0))
                                : nextafter(size, limits<T>::infinity) - size;
}

// The function tgamma, under its name in Python's math module.
GUF_FN f32 gamma(f32 x) {
  return tgamma(x);
}
GUF_FN f64 gamma(f64 x) {
  return tgamma(x);
}

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_HPP
