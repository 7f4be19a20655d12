// SPDX-License-Identifier: Apache-2.0
// Tests the complex functions: special values as in the C library (Annex G), and as in NumPy for
// functions that C does not define, and errors in units of the last place of |f(z)|. The reference
// is the same function for long double.
#include <gtest/gtest.h>
#include <gufunc/kernel/math.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>

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

// The functions that C does not define for complex numbers, with NumPy's formulas.
template <class T>
std::complex<T> scaled(const std::complex<T> &z, T factor) {
  return std::complex<T>(z.real() * factor, z.imag() * factor);
}
template <class T>
const T kLn2 = static_cast<T>(0.693147180559945309417232121458176568L);
template <class T>
const T kLn10 = static_cast<T>(2.302585092994045684017991454684364208L);
namespace numpy {
template <class T>
std::complex<T> exp2(const std::complex<T> &z) {
  return std::exp(scaled(z, kLn2<T>));
}
template <class T>
std::complex<T> expm1(const std::complex<T> &z) {
  const T x = z.real(), y = z.imag(), sine = std::sin(y / 2);
  return std::complex<T>(std::expm1(x) * std::cos(y) - 2 * sine * sine, std::exp(x) * std::sin(y));
}
template <class T>
std::complex<T> log1p(const std::complex<T> &z) {
  const T x = z.real(), y = z.imag();
  // NumPy computes the logarithm of |1 + z|, which loses the digits of a small z.
  const bool small = std::fabs(x) < T(0.5) && std::fabs(y) < T(0.5);
  return std::complex<T>(
      small ? std::log1p(x * (2 + x) + y * y) / 2 : std::log(std::hypot(x + 1, y)),
      std::atan2(y, x + 1));
}
template <class T>
std::complex<T> log2(const std::complex<T> &z) {
  return scaled(std::log(z), 1 / kLn2<T>);
}
template <class T>
std::complex<T> log10(const std::complex<T> &z) {
  return scaled(std::log(z), 1 / kLn10<T>);
}
}  // namespace numpy

template <class T>
void special_grid() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T values[] = {T(0), T(-0.0), 1, -1, T(0.5), T(-2.5), T(4), T(1e30), inf, -inf, nan};
  for (const T re : values) {
    for (const T im : values) {
      const guf::complex<T> z(re, im);
      const std::complex<T> c(re, im);
#define CHECK_GRID(SCOPE, NAME)                                                          \
  {                                                                                      \
    const guf::complex<T> found = guf::NAME(z);                                          \
    const std::complex<T> expected = SCOPE::NAME(c);                                     \
    EXPECT_TRUE(alike(found.re, expected.real()) && alike(found.im, expected.imag()))    \
        << #NAME << c << " = (" << found.re << "," << found.im << "), not " << expected; \
  }
      // clang-format off
      CHECK_GRID(std, exp) CHECK_GRID(std, log) CHECK_GRID(std, sqrt) CHECK_GRID(std, sin)
      CHECK_GRID(std, cos) CHECK_GRID(std, sinh) CHECK_GRID(std, cosh) CHECK_GRID(std, tan)
      CHECK_GRID(std, tanh) CHECK_GRID(std, asin) CHECK_GRID(std, acos) CHECK_GRID(std, atan)
      CHECK_GRID(std, asinh) CHECK_GRID(std, acosh) CHECK_GRID(std, atanh)
      CHECK_GRID(numpy, log1p) CHECK_GRID(numpy, log2) CHECK_GRID(numpy, log10)
      // NumPy's angle of exp2 is not accurate, and its expm1 multiplies infinity by 0.
      if (re == T(1e30) || im == T(1e30)) continue;
      CHECK_GRID(numpy, exp2) CHECK_GRID(numpy, expm1)
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

// The imaginary parts are far below the last place of the real parts.
TEST(MathComplex, TinyPartsAreAccurate) {
  for (const double y : {0.75, -2.0, 1e-300}) {
    const std::complex<double> tangent = std::tanh(std::complex<double>(-30, y));
    EXPECT_TRUE(alike(guf::tanh(guf::c128(-30, y)).im, tangent.imag())) << y;
    EXPECT_TRUE(alike(guf::tan(guf::c128(y, 30)).re, tangent.imag())) << y;
    const std::complex<double> arc = std::atanh(std::complex<double>(1e25, y));
    EXPECT_TRUE(alike(guf::atanh(guf::c128(1e25, y)).re, arc.real())) << y;
  }
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

#define GUF_ROW(SCOPE, NAME)                                                         \
  [](guf::c64 z) { return guf::NAME(z); }, [](guf::c128 z) { return guf::NAME(z); }, \
      [](const Wide &z) { return Wide(SCOPE::NAME(z)); }

const Row kRows[] = {
    {"exp", GUF_ROW(std, exp), -80, 80, 3.0},     {"log", GUF_ROW(std, log), -3, 3, 1.0},
    {"logNearOne", GUF_ROW(std, log), 0, 0, 1.0}, {"sqrt", GUF_ROW(std, sqrt), -3, 3, 1.9},
    {"sin", GUF_ROW(std, sin), -80, 80, 3.0},     {"cos", GUF_ROW(std, cos), -80, 80, 3.0},
    {"sinh", GUF_ROW(std, sinh), -3, 3, 3.0},     {"cosh", GUF_ROW(std, cosh), -3, 3, 3.0},
};

// exp2, with ln2 as a sum of two numbers.
Wide exp2_of(const Wide &z) {
  const long double low = -0x1.b0e2633fe0685p-67L;  // ln2 - kLn2<long double>
  const long double product = z.imag() * kLn2<long double>;
  const long double rest = std::fma(z.imag(), kLn2<long double>, -product) + z.imag() * low;
  return std::exp2(z.real()) * std::polar(1.0L, product) * std::polar(1.0L, rest);
}

// The distance of `found` from `expected` in units of the last place of |expected|. The place of a
// subnormal number is the smallest subnormal.
template <class T>
double error_of(guf::complex<T> found, const Wide &expected) {
  typedef std::numeric_limits<T> L;
  int exponent = 0;
  std::frexp(std::abs(expected), &exponent);
  const int place = std::max(exponent, L::min_exponent) - L::digits;
  const long double error = std::abs(Wide(found.re, found.im) - expected);
  return static_cast<double>(std::ldexp(error, -place));
}

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
    worst = std::max(worst, error_of(function(guf::complex<T>(re, im)), row.oracle(Wide(re, im))));
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

// Functions that are compared at points of every size, near their zeros and branch points, and near
// the circles |z| = 1 and |1 + z| = 1. C64 is computed in f64.
const Row kEverywhere[] = {
    {"exp2", [](guf::c64 z) { return guf::exp2(z); }, [](guf::c128 z) { return guf::exp2(z); },
     [](const Wide &z) { return exp2_of(z); }, -80, 80, 2.6},
    {"expm1", GUF_ROW(numpy, expm1), -80, 80, 2.6},
    {"log1p", GUF_ROW(numpy, log1p), -3, 3, 1.7},
    {"log2", GUF_ROW(numpy, log2), -3, 3, 1.7},
    {"log10", GUF_ROW(numpy, log10), -3, 3, 1.9},
    {"tan", GUF_ROW(std, tan), -80, 80, 1.0},
    {"tanh", GUF_ROW(std, tanh), -80, 80, 1.0},
    {"asin", GUF_ROW(std, asin), -3, 3, 1.6},
    {"acos", GUF_ROW(std, acos), -3, 3, 1.9},
    {"atan", GUF_ROW(std, atan), -3, 3, 1.2},
    {"asinh", GUF_ROW(std, asinh), -3, 3, 1.6},
    {"acosh", GUF_ROW(std, acosh), -3, 3, 1.9},
    {"atanh", GUF_ROW(std, atanh), -3, 3, 1.2},
};

template <class T>
class Points {
 public:
  explicit Points(const Row &row) : part_(row.low, row.high) {}

  // Points of four kinds, one after the other.
  guf::complex<T> next() {
    switch (count_++ % 4) {
      case 0:
        return point(part_(random_), part_(random_));
      case 1:
        return point(any_size(), any_size());
      case 2:
        return near_point();
      default:
        return near_circle();
    }
  }

 private:
  typedef std::numeric_limits<T> L;

  static guf::complex<T> point(double re, double im) {
    return guf::complex<T>(static_cast<T>(re), static_cast<T>(im));
  }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  // A number of random sign, whose exponent is distributed uniformly.
  double sized(double low, double high) {
    const double size = std::exp2(between(low, high));
    return (random_() & 1) != 0 ? size : -size;
  }
  double any_size() { return sized(L::min_exponent - L::digits + 1, L::max_exponent); }
  double offset() { return sized((random_() & 1) != 0 ? -60 : L::min_exponent - L::digits, 0); }
  guf::complex<T> near_point() {
    const double half_pi = 1.5707963267948966;
    // At the last two points, e^x and 2^x overflow, but the results are in range.
    const double points[][2] = {{0, 0},        {1, 0},       {-1, 0},        {0, 1},
                                {0, -1},       {half_pi, 0}, {-half_pi, 0},  {0, half_pi},
                                {0, -half_pi}, {-2, 0},      {709.9, 0.785}, {1024.2, 1.133}};
    const double *p = points[random_() % 12];
    return point(p[0] + offset(), p[1] + offset());
  }
  guf::complex<T> near_circle() {
    const double angle = sized(-30, 2), radius = 1 + sized(-50, -3);
    const double centre = (random_() & 1) != 0 ? 0 : -1;
    return point(centre + radius * std::cos(angle), radius * std::sin(angle));
  }

  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> part_;
  int count_ = 0;
};

template <class T>
void stays_within(const Row &row, guf::complex<T> (*function)(guf::complex<T>), double bar) {
  const long double largest = std::numeric_limits<T>::max();
  Points<T> points(row);
  double worst = 0;
  guf::complex<T> at(0);
  for (int i = 0; i < 40000; ++i) {
    const guf::complex<T> z = points.next();
    // Beyond 2^43, the angle of 2^z is rounded to f64 (docs/accuracy.md).
    if (std::string(row.name) == "exp2" && std::fabs(z.im) > 0x1p43) continue;
    const Wide expected = row.oracle(Wide(z.re, z.im));
    // NaN, or not representable
    if (!(std::fabs(expected.real()) <= largest && std::fabs(expected.imag()) <= largest)) continue;
    const double error = error_of(function(z), expected);
    if (error <= worst) continue;
    worst = std::isnan(error) ? HUGE_VAL : error;
    at = z;
  }
  EXPECT_LE(worst, bar) << row.name << "(" << at.re << ", " << at.im << ")";
}

class ComplexErrorEverywhere : public testing::TestWithParam<Row> {};

TEST_P(ComplexErrorEverywhere, C64StaysWithinItsBar) {
  stays_within<float>(GetParam(), GetParam().narrow, 0.8);
}
TEST_P(ComplexErrorEverywhere, C128StaysWithinItsBar) {
  stays_within<double>(GetParam(), GetParam().wide, GetParam().bar);
}

INSTANTIATE_TEST_SUITE_P(Functions, ComplexErrorEverywhere, testing::ValuesIn(kEverywhere),
                         [](const auto &row) { return row.param.name; });

}  // namespace
