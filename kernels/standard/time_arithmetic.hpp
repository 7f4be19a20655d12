// SPDX-License-Identifier: Apache-2.0
// Arithmetic of datetime64 and timedelta64. The result is NaT if an operand is NaT,
// after a division by zero, and if a floating-point result does not fit in int64.
// Sums and products of integers wrap.
#ifndef GUFUNC_KERNELS_STANDARD_TIME_ARITHMETIC_HPP
#define GUFUNC_KERNELS_STANDARD_TIME_ARITHMETIC_HPP

#include <gufunc/kernel.hpp>

namespace standard {

// Returns the value `any`, or NaT if an operand is NaT.
template <class Out, class A, class B>
GUF_DEVICE Out unless_nat(A x, B y, guf::i64 any) {
  return Out{guf::is_nat(x) || guf::is_nat(y) ? guf::nat : any};
}

GUF_DEVICE guf::timedelta add(guf::timedelta x, guf::timedelta y) {
  return unless_nat<guf::timedelta>(x, y, guf::time::wrapping_add(x.value, y.value));
}
GUF_DEVICE guf::datetime add(guf::datetime x, guf::timedelta y) {
  return unless_nat<guf::datetime>(x, y, guf::time::wrapping_add(x.value, y.value));
}
GUF_DEVICE guf::datetime add(guf::timedelta x, guf::datetime y) {
  return unless_nat<guf::datetime>(x, y, guf::time::wrapping_add(x.value, y.value));
}

GUF_DEVICE guf::timedelta subtract(guf::timedelta x, guf::timedelta y) {
  return unless_nat<guf::timedelta>(x, y, guf::time::wrapping_sub(x.value, y.value));
}
GUF_DEVICE guf::datetime subtract(guf::datetime x, guf::timedelta y) {
  return unless_nat<guf::datetime>(x, y, guf::time::wrapping_sub(x.value, y.value));
}
GUF_DEVICE guf::timedelta subtract(guf::datetime x, guf::datetime y) {
  return unless_nat<guf::timedelta>(x, y, guf::time::wrapping_sub(x.value, y.value));
}

// Rounds towards zero. NaN and values outside the range of int64 become NaT.
GUF_DEVICE guf::timedelta steps_of(guf::f64 count) {
  const bool inside = count >= -0x1p63 && count < 0x1p63;  // false for NaN
  return guf::timedelta{inside ? (guf::i64)count : guf::nat};
}

GUF_DEVICE guf::timedelta multiply(guf::timedelta x, guf::i64 y) {
  return guf::timedelta{guf::is_nat(x) ? guf::nat : guf::time::wrapping_mul(x.value, y)};
}
GUF_DEVICE guf::timedelta multiply(guf::i64 x, guf::timedelta y) {
  return multiply(y, x);
}
GUF_DEVICE guf::timedelta multiply(guf::timedelta x, guf::f64 y) {
  if (guf::is_nat(x)) return x;
  return steps_of((guf::f64)x.value * y);
}
GUF_DEVICE guf::timedelta multiply(guf::f64 x, guf::timedelta y) {
  return multiply(y, x);
}

// A division by a number rounds towards zero even in floor_divide, as in NumPy.
GUF_DEVICE guf::timedelta divide(guf::timedelta x, guf::i64 y) {
  if (guf::is_nat(x) || y == 0) return guf::timedelta{guf::nat};
  return guf::timedelta{y == -1 ? -x.value : x.value / y};
}
GUF_DEVICE guf::timedelta divide(guf::timedelta x, guf::f64 y) {
  if (guf::is_nat(x)) return x;
  return steps_of((guf::f64)x.value / y);
}
GUF_DEVICE guf::f64 divide(guf::timedelta x, guf::timedelta y) {
  const bool any = guf::is_nat(x) || guf::is_nat(y);
  return any ? guf::limits<guf::f64>::nan : (guf::f64)x.value / (guf::f64)y.value;
}

GUF_DEVICE guf::timedelta floor_divide(guf::timedelta x, guf::i64 y) {
  return divide(x, y);
}
GUF_DEVICE guf::timedelta floor_divide(guf::timedelta x, guf::f64 y) {
  return divide(x, y);
}
GUF_DEVICE guf::i64 floor_divide(guf::timedelta x, guf::timedelta y) {
  if (guf::is_nat(x) || guf::is_nat(y) || y.value == 0) return 0;
  if (y.value == -1) return -x.value;
  const guf::i64 quotient = x.value / y.value;
  const bool signs_differ = (x.value < 0) != (y.value < 0);
  return signs_differ && quotient * y.value != x.value ? quotient - 1 : quotient;
}
GUF_DEVICE guf::timedelta remainder(guf::timedelta x, guf::timedelta y) {
  if (guf::is_nat(x) || guf::is_nat(y) || y.value == 0) return guf::timedelta{guf::nat};
  if (y.value == -1) return guf::timedelta{0};
  const guf::i64 rest = x.value % y.value;
  const bool signs_differ = (rest < 0) != (y.value < 0);
  return guf::timedelta{rest != 0 && signs_differ ? rest + y.value : rest};
}

// NaT is the smallest int64, which is its own negative.
GUF_DEVICE guf::timedelta negative(guf::timedelta x) {
  return guf::timedelta{guf::time::wrapping_sub(0, x.value)};
}
GUF_DEVICE guf::timedelta absolute(guf::timedelta x) {
  if (x.value < 0) return negative(x);
  return x;
}
// The sign of NaT is -1, as in NumPy.
GUF_DEVICE guf::timedelta sign(guf::timedelta x) {
  return guf::timedelta{(guf::i64)((x.value > 0 ? 1 : 0) - (x.value < 0 ? 1 : 0))};
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_TIME_ARITHMETIC_HPP
