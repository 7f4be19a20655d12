// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers as decimal text: the shortest that reads back, laid out as NumPy does.
#ifndef GUFUNC_CORE_ARRAY_FLOAT_TEXT_H
#define GUFUNC_CORE_ARRAY_FLOAT_TEXT_H

#include <cstdint>
#include <string>

namespace gufunc::array {

// The format whose neighbours decide how many digits are needed. Values travel as double, exactly.
enum class FloatFormat : uint8_t { kF16, kBf16, kF32, kF64 };

// Rounds to the nearest value of the format, ties to even.
double round_to(double value, FloatFormat format);

// From this magnitude on NumPy writes an exponent: in arrays (at most 1e8), and in scalars.
double exponent_cutoff(FloatFormat format);
double scalar_exponent_cutoff(FloatFormat format);

// A decimal number d.ddd * 10^exponent. No trailing zeros in `digits`.
struct Decimal {
  bool negative;
  int count;
  int exponent;
  char digits[24];
};

// The shortest decimal that reads back as `value` (finite).
Decimal shortest(double value, FloatFormat format);

// Positional, at most `precision` digits after the point, no trailing zeros but the point: "1.",
// "0.1".
std::string positional_text(double value, FloatFormat format, int precision);

// Scientific, at most `precision` digits after the point, no trailing zeros: "1.e+10", "1.5e-05".
std::string scientific_text(double value, FloatFormat format, int precision);

// Scientific with exactly these digits after the point and at least two in the exponent, correctly
// rounded.
std::string exact_scientific_text(double value, int precision);

// As a scalar prints: "1.0", "1e-05", "nan". `bare`: "1" instead of "1.0", as in complex numbers.
std::string scalar_text(double value, FloatFormat format, bool bare);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_FLOAT_TEXT_H
