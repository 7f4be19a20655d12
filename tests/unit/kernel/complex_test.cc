// SPDX-License-Identifier: Apache-2.0
// Compares complex arithmetic with the branching formulas of NumPy's source.
#include <gtest/gtest.h>
#include <gufunc/kernel/types.hpp>

#include <cmath>
#include <random>

namespace {

using guf::c128;

c128 numpy_divide(c128 a, c128 b) {
  const double size_re = std::fabs(b.re), size_im = std::fabs(b.im);
  if (size_re >= size_im) {
    if (size_re == 0 && size_im == 0) return {a.re / size_re, a.im / size_re};
    const double ratio = b.im / b.re;
    const double scale = 1.0 / (b.re + b.im * ratio);
    return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
  }
  const double ratio = b.re / b.im;
  const double scale = 1.0 / (b.im + b.re * ratio);
  return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}

// Expects equal bits, except that every NaN equals every other NaN.
void expect_same(double found, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found));
  } else {
    EXPECT_EQ(found, expected);
    EXPECT_EQ(std::signbit(found), std::signbit(expected));
  }
}

TEST(Complex, DividesAsNumPy) {
  const double inf = HUGE_VAL;
  const double values[] = {0.0, -0.0, 1.0, -3.5, 1e-310, 1e300, inf, -inf, std::nan("")};
  for (const double ar : values)
    for (const double ai : values)
      for (const double br : values)
        for (const double bi : values) {
          SCOPED_TRACE(testing::Message() << ar << " " << ai << " / " << br << " " << bi);
          const c128 found = c128(ar, ai) / c128(br, bi);
          const c128 expected = numpy_divide({ar, ai}, {br, bi});
          expect_same(found.re, expected.re);
          expect_same(found.im, expected.im);
        }
}

TEST(Complex, MultipliesUncontracted) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 10000; ++i) {
    const c128 a(uniform(random), uniform(random)), b(uniform(random), uniform(random));
    const c128 product = a * b;
    const volatile double rr = a.re * b.re, ii = a.im * b.im, ri = a.re * b.im, ir = a.im * b.re;
    EXPECT_EQ(product.re, rr - ii);
    EXPECT_EQ(product.im, ri + ir);
  }
}

TEST(Complex, MixesWithReals) {
  const c128 z(1, 2);
  EXPECT_TRUE(2.0 * z == c128(2, 4));
  EXPECT_TRUE(z - 1.0 == c128(0, 2));
  EXPECT_TRUE(-z == c128(-1, -2));
  c128 w = z;
  w *= w;
  EXPECT_TRUE(w == c128(-3, 4));
  EXPECT_TRUE(w != z);
  EXPECT_EQ(guf::conj(z).im, -2);
}

}  // namespace
