// SPDX-License-Identifier: Apache-2.0
// Tests that the results of special values, namely zeros, infinities, NaN, signs and exact results,
// equal the results of the C library. Annexes F and G of the C standard define these results.
#include <gtest/gtest.h>
#include <gufunc/kernel/math.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace {

template <class T>
std::vector<T> special_values() {
  typedef std::numeric_limits<T> L;
  std::vector<T> values = {0,
                           1,
                           2,
                           3,
                           T(0.5),
                           T(2.5),
                           T(-2.75),
                           L::min(),
                           L::max(),
                           L::infinity(),
                           L::denorm_min(),
                           1 + L::epsilon(),
                           1 - L::epsilon() / 2,
                           T(4503599627370497.5),
                           T(9007199254740991),
                           T(9007199254740992),
                           T(16777215)};
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(L::quiet_NaN());
  return values;
}

// Compares zeros and infinities exactly, and treats all NaNs as equal. Other values need only be
// near each other, because math_ulp_test measures their error.
template <class T>
bool alike(T found, T expected) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == 0 || std::isinf(expected) || found == 0 || std::isinf(found)) {
    return found == expected && std::signbit(found) == std::signbit(expected);
  }
  return std::fabs(found - expected) <=
         16 * std::numeric_limits<T>::epsilon() * std::fabs(expected) +
             2 * std::numeric_limits<T>::denorm_min();
}

template <class T>
void one_argument() {
  for (const T x : special_values<T>()) {
#define CHECK_ONE(NAME) \
  EXPECT_TRUE(alike<T>(guf::NAME(x), std::NAME(x))) << #NAME "(" << x << ") = " << guf::NAME(x);
    // clang-format off
    CHECK_ONE(exp) CHECK_ONE(exp2) CHECK_ONE(expm1) CHECK_ONE(log) CHECK_ONE(log2) CHECK_ONE(log10)
    CHECK_ONE(log1p) CHECK_ONE(sin) CHECK_ONE(cos) CHECK_ONE(tan) CHECK_ONE(asin) CHECK_ONE(acos)
    CHECK_ONE(atan) CHECK_ONE(sinh) CHECK_ONE(cosh) CHECK_ONE(tanh) CHECK_ONE(asinh)
    CHECK_ONE(acosh) CHECK_ONE(atanh) CHECK_ONE(sqrt) CHECK_ONE(cbrt) CHECK_ONE(erf)
    CHECK_ONE(erfc) CHECK_ONE(tgamma) CHECK_ONE(lgamma) CHECK_ONE(floor) CHECK_ONE(ceil)
    CHECK_ONE(trunc) CHECK_ONE(rint) CHECK_ONE(fabs)
    // clang-format on
#undef CHECK_ONE
                            EXPECT_EQ(guf::isnan(x), std::isnan(x));
    EXPECT_EQ(guf::isinf(x), std::isinf(x));
    EXPECT_EQ(guf::isfinite(x), std::isfinite(x));
    EXPECT_EQ(guf::signbit(x), std::signbit(x));
    int exponent = 0;
    const T fraction = std::frexp(x, &exponent);
    if (!std::isfinite(x)) exponent = 0;  // C does not specify this exponent
    EXPECT_TRUE(alike<T>(guf::frexp(x).fraction, fraction)) << x;
    EXPECT_EQ(guf::frexp(x).exponent, exponent) << x;
    T whole = 0;
    const T rest = std::modf(x, &whole);
    EXPECT_TRUE(alike<T>(guf::modf(x).fraction, rest)) << x;
    EXPECT_TRUE(alike<T>(guf::modf(x).whole, whole)) << x;
    for (const int n : {0, 1, -1, 30, -30, 1000, -1000, 1074, -1074, 2100, -2100, 2000000000}) {
      EXPECT_EQ(guf::ldexp(x, n) == std::ldexp(x, n), !std::isnan(x)) << x << " 2^" << n;
    }
  }
}
TEST(MathSpecial, F32OneArgument) {
  one_argument<float>();
}
TEST(MathSpecial, F64OneArgument) {
  one_argument<double>();
}

template <class T>
void two_arguments() {
  for (const T x : special_values<T>()) {
    for (const T y : special_values<T>()) {
#define CHECK_TWO(NAME)                                   \
  EXPECT_TRUE(alike<T>(guf::NAME(x, y), std::NAME(x, y))) \
      << #NAME "(" << x << ", " << y << ") = " << guf::NAME(x, y);
      // clang-format off
      CHECK_TWO(pow) CHECK_TWO(atan2) CHECK_TWO(hypot) CHECK_TWO(fmod) CHECK_TWO(remainder)
      CHECK_TWO(copysign) CHECK_TWO(nextafter)
      // clang-format on
#undef CHECK_TWO
          // C does not specify which of two zeros fmin and fmax return.
          if (x != T(0) || y != T(0)) {
        EXPECT_TRUE(alike<T>(guf::fmin(x, y), std::fmin(x, y))) << x << ", " << y;
        EXPECT_TRUE(alike<T>(guf::fmax(x, y), std::fmax(x, y))) << x << ", " << y;
      }
      for (const T z : special_values<T>()) {
        const T found = guf::fma(x, y, z);
        EXPECT_TRUE(alike<T>(found, std::fma(x, y, z))) << x << " * " << y << " + " << z;
      }
    }
  }
}
TEST(MathSpecial, F32TwoArguments) {
  two_arguments<float>();
}
TEST(MathSpecial, F64TwoArguments) {
  two_arguments<double>();
}

TEST(MathSpecial, WholePowersAreExact) {
  for (int n = -1074; n < 1024; ++n) {
    const double power = std::ldexp(1.0, n);
    EXPECT_EQ(guf::exp2(static_cast<double>(n)), power);
    EXPECT_EQ(guf::log2(power), n);
  }
  double power = 1;
  for (int n = 0; n <= 22; ++n, power *= 10) {
    EXPECT_EQ(guf::log10(power), n);
    EXPECT_EQ(guf::pow(10.0, static_cast<double>(n)), power);
  }
  for (int n = 1; n < 200; ++n) EXPECT_EQ(guf::cbrt(static_cast<double>(n) * n * n), n);
}

TEST(MathSpecial, PythonDivisionHasTheDivisorsSign) {
  EXPECT_EQ(guf::floor_modulo(-7.0, 3.0), 2.0);
  EXPECT_EQ(guf::floor_divide(-7.0, 3.0), -3.0);
  EXPECT_EQ(guf::floor_modulo(7.0f, -3.0f), -2.0f);
  EXPECT_EQ(guf::floor_divide(7.0f, -3.0f), -3.0f);
  EXPECT_TRUE(std::signbit(guf::floor_modulo(6.0, -3.0)));
  EXPECT_TRUE(std::isnan(guf::floor_modulo(1.0, 0.0)));
  EXPECT_TRUE(std::isinf(guf::floor_divide(1.0, 0.0)));
}

TEST(MathSpecial, IsCloseAsInPython) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(guf::isclose(1.0, 1.0 + 1e-10));
  EXPECT_FALSE(guf::isclose(1.0, 1.0 + 1e-8));
  EXPECT_TRUE(guf::isclose(inf, inf));
  EXPECT_FALSE(guf::isclose(inf, 1e300));
  EXPECT_FALSE(guf::isclose(0.0, 1e-300));
  EXPECT_TRUE(guf::isclose(0.0, 1e-300, 1e-9, 1e-299));
}

}  // namespace
