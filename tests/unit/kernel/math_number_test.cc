// SPDX-License-Identifier: Apache-2.0
// Compares gcd, lcm, isqrt, factorial, perm, comb and ulp with the standard library, and tests them
// at the limits of their types. Also tests the constants.
#include <gtest/gtest.h>
#include <gufunc/kernel/math.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kMaxUnsigned = std::numeric_limits<std::uint64_t>::max();

TEST(NumberTheory, DivisorsAndMultiples) {
  for (int x = -40; x <= 40; ++x) {
    for (int y = -40; y <= 40; ++y) {
      EXPECT_EQ(guf::gcd(x, y), std::gcd(x, y)) << x << " " << y;
      EXPECT_EQ(guf::lcm(x, y), std::lcm(x, y)) << x << " " << y;
    }
  }
  EXPECT_EQ(guf::gcd(kLeast, kLeast), kMax);  // the exact result, 2^63, does not fit
  EXPECT_EQ(guf::lcm(kMax, kMax - 1), kMax);
  EXPECT_EQ(guf::lcm<std::int8_t>(100, 99), 127);
}

TEST(NumberTheory, RootsOfIntegers) {
  for (std::int64_t x = 0; x < 70000; ++x) {
    const std::int64_t root = guf::isqrt(x);
    EXPECT_TRUE(root * root <= x && x < (root + 1) * (root + 1)) << x;
  }
  EXPECT_EQ(guf::isqrt(kMaxUnsigned), 4294967295u);
  EXPECT_EQ(guf::isqrt(kMax), 3037000499);
  EXPECT_EQ(guf::isqrt(-1), 0);
}

TEST(NumberTheory, FactorialsAndChoices) {
  std::uint64_t product = 1;
  for (std::uint64_t n = 1; n <= 20; ++n) EXPECT_EQ(guf::factorial(n), product *= n);
  EXPECT_EQ(guf::factorial(0), 1);
  EXPECT_EQ(guf::factorial(-1), 0);
  EXPECT_EQ(guf::factorial<std::uint64_t>(21), kMaxUnsigned);
  EXPECT_EQ(guf::factorial<std::int8_t>(6), 127);
  EXPECT_EQ(guf::perm(10, 3), 720);
  EXPECT_EQ(guf::perm(3, 4), 0);
  EXPECT_EQ(guf::perm(kMax, std::int64_t{1}), kMax);
  std::uint64_t row[63] = {1};  // a row of Pascal's triangle; comb(62, 31) fits into 64 bits
  for (std::uint64_t n = 0; n <= 62; ++n) {
    for (std::uint64_t k = n; n > 0 && k > 0; --k) row[k] += row[k - 1];
    for (std::uint64_t k = 0; k <= n; ++k) EXPECT_EQ(guf::comb(n, k), row[k]) << n << " " << k;
  }
  EXPECT_EQ(guf::comb(3, 4), 0);
  EXPECT_EQ(guf::comb(-3, 1), 0);
  EXPECT_EQ(guf::comb(kMax, kMax - 1), kMax);
  EXPECT_EQ(guf::comb<std::uint64_t>(100, 50), kMaxUnsigned);
}

template <class T>
void check_ulp() {
  typedef std::numeric_limits<T> L;
  for (const T x : {T(0), T(1), T(-1), T(1.5), L::min(), L::denorm_min(), T(1e30)}) {
    EXPECT_EQ(guf::ulp(x), std::nextafter(std::fabs(x), L::infinity()) - std::fabs(x)) << x;
  }
  EXPECT_EQ(guf::ulp(L::max()), L::max() - std::nextafter(L::max(), T(0)));
  EXPECT_EQ(guf::ulp(-L::infinity()), L::infinity());
  EXPECT_TRUE(std::isnan(guf::ulp(L::quiet_NaN())));
}
TEST(Ulp, IsTheDistanceToTheNextNumber) {
  check_ulp<float>();
  check_ulp<double>();
}

TEST(Constants, ArePythons) {
  EXPECT_EQ(guf::pi, std::numbers::pi);
  EXPECT_EQ(guf::tau, 2 * std::numbers::pi);
  EXPECT_EQ(guf::e, std::numbers::e);
  EXPECT_EQ(guf::inf, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(guf::nan));
}

}  // namespace
