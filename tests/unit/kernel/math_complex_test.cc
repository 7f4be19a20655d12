// SPDX-License-Identifier: Apache-2.0
// Tests the complex functions: special values as in the C library (Annex G), and errors in units of
// the last place of |f(z)|. The reference is the same function for long double.
#include <gtest/gtest.h>
#include <gufunc/kernel/math.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

namespace {

typedef std::complex<long double> Wide;

template <class T>
bool alike(T found, T expected) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (expected == 0 || std::isinf(expected)) {
    return found == expected && std::signbit(found) == std::signbit(expected);
  }
  return std::fabs(found - expected) <=
         16 * std::numeric_limits<T>::epsilon() * std::fabs(expected);
}

template <class T>
void special_grid() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T values[] = {T(0), T(-0.0), 1, -1, T(0.5), T(-2.5), inf, -inf, nan};
  for (const T re : values) {
    for (const T im : values) {
      const guf::complex<T> z(re, im);
      const std::complex<T> c(re, im);
#define CHECK_GRID(NAME)                                                                 \
  {                                                                                      \
    const guf::complex<T> found = guf::NAME(z);                                          \
    const std::complex<T> expected = std::NAME(c);                                       \
    EXPECT_TRUE(alike(found.re, expected.real()) && alike(found.im, expected.imag()))    \
        << #NAME << c << " = (" << found.re << "," << found.im << "), not " << expected; \
  }
      // clang-format off
      CHECK_GRID(exp) CHECK_GRID(log) CHECK_GRID(sqrt) CHECK_GRID(sin) CHECK_GRID(cos)
      CHECK_GRID(sinh) CHECK_GRID(cosh)
      // clang-format on
#undef CHECK_GRID
    }
  }
}
TEST(MathComplex, SpecialValuesOfC64) {
  special_grid<float>();
}
TEST(MathComplex, SpecialValuesOfC128) {
  special_grid<double>();
}

TEST(MathComplex, PowerOfZeroAndToZeroAsNumPy) {
  const guf::c128 zero(0, 0), one(1, 0), nan = guf::pow(zero, guf::c128(-1, 0));
  EXPECT_TRUE(guf::pow(zero, zero) == one);
  EXPECT_TRUE(guf::pow(guf::c128(3, -4), zero) == one);
  EXPECT_TRUE(guf::pow(zero, guf::c128(2, 0)) == zero);
  EXPECT_TRUE(std::isnan(nan.re) && std::isnan(nan.im));
  EXPECT_TRUE(guf::pow(guf::c128(1, 2), guf::c128(2, 0)) == guf::c128(-3, 4));
}

struct Row {
  const char *name;
  guf::c64 (*narrow)(guf::c64);
  guf::c128 (*wide)(guf::c128);
  Wide (*oracle)(const Wide &);
  double low, high;  // bounds of the real and imaginary parts; if they are equal, points are near
                     // the unit circle
  double bar;        // error bound in units of the last place of |f(z)|
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

#define GUF_ROW(NAME)                                                                \
  [](guf::c64 z) { return guf::NAME(z); }, [](guf::c128 z) { return guf::NAME(z); }, \
      [](const Wide &z) { return Wide(std::NAME(z)); }

const Row kRows[] = {
    {"exp", GUF_ROW(exp), -80, 80, 3.0},     {"log", GUF_ROW(log), -3, 3, 1.0},
    {"logNearOne", GUF_ROW(log), 0, 0, 1.0}, {"sqrt", GUF_ROW(sqrt), -3, 3, 1.9},
    {"sin", GUF_ROW(sin), -80, 80, 3.0},     {"cos", GUF_ROW(cos), -80, 80, 3.0},
    {"sinh", GUF_ROW(sinh), -3, 3, 3.0},     {"cosh", GUF_ROW(cosh), -3, 3, 3.0},
};

template <class T, class F>
double worst_of(const Row &row, F function) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(row.low, row.high), angle(-4, 4), near(-1e-7, 1e-7);
  double worst = 0;
  for (int i = 0; i < 40000; ++i) {
    T re = static_cast<T>(part(random)), im = static_cast<T>(part(random));
    if (row.low == row.high) {  // the points are near the unit circle
      const double a = angle(random), size = 1 + near(random);
      re = static_cast<T>(size * std::cos(a));
      im = static_cast<T>(size * std::sin(a));
    }
    const guf::complex<T> found = function(guf::complex<T>(re, im));
    const Wide expected = row.oracle(Wide(re, im));
    const long double size = std::abs(expected);
    int exponent = 0;
    std::frexp(size, &exponent);
    const long double place = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
    const Wide error = Wide(found.re, found.im) - expected;
    worst = std::max(worst, static_cast<double>(std::abs(error) / place));
  }
  return worst;
}

class ComplexError : public testing::TestWithParam<Row> {};

TEST_P(ComplexError, C64StaysWithinItsBar) {
  EXPECT_LE(worst_of<float>(GetParam(), GetParam().narrow), GetParam().bar);
}
TEST_P(ComplexError, C128StaysWithinItsBar) {
  EXPECT_LE(worst_of<double>(GetParam(), GetParam().wide), GetParam().bar);
}

INSTANTIATE_TEST_SUITE_P(Functions, ComplexError, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

}  // namespace
