// SPDX-License-Identifier: Apache-2.0
// Decimal text of floating-point numbers: the shortest text that converts back to the same value.
#ifndef GUFUNC_CORE_ARRAY_FLOAT_TEXT_H
#define GUFUNC_CORE_ARRAY_FLOAT_TEXT_H

#include <cmath>
#include <string>

namespace gufunc::array {

// The binary format of an element type, which determines how many decimal digits its numbers need.
// The default is binary64. All functions accept values as double, which represents every value of
// every format exactly.
struct FloatFormat {
  int precision = 53;           // bits
  int lowest = -1074;           // exponent of the smallest subnormal number
  double limit = HUGE_VAL;      // the power of two above the largest number
  double scalar_cutoff = 1e16;  // 10 to the power of the number of exact decimal digits
};

// Rounds to the nearest value of the format, ties to even.
double round_to(double value, FloatFormat format);

// Returns the smallest magnitude that NumPy writes with an exponent in arrays. The result is at
// most 1e8. In scalars, this magnitude is `scalar_cutoff`.
double exponent_cutoff(FloatFormat format);

// A decimal number d.ddd * 10^exponent. `digits` has no trailing zeros.
struct Decimal {
  bool negative;
  int count;
  int exponent;
  char digits[24];
};

// Returns the shortest decimal number that converts back to `value`, which must be finite.
Decimal shortest(double value, FloatFormat format);

// Returns the value in positional notation with at most `precision` digits after the decimal point
// and no trailing zeros. The decimal point is always written: "1.", "0.1".
std::string positional_text(double value, FloatFormat format, int precision);

// Returns the value in scientific notation with at most `precision` digits after the decimal point
// and no trailing zeros, such as "1.e+10" or "1.5e-05".
std::string scientific_text(double value, FloatFormat format, int precision);

// Returns the value in correctly rounded scientific notation with exactly `precision` digits after
// the decimal point and at least two digits in the exponent.
std::string exact_scientific_text(double value, int precision);

// Returns the text of a scalar, such as "1.0", "1e-05" or "nan". If `bare` is set, the text is "1"
// instead of "1.0", as NumPy writes the parts of complex numbers.
std::string scalar_text(double value, FloatFormat format, bool bare);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_FLOAT_TEXT_H
