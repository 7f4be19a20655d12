// SPDX-License-Identifier: Apache-2.0
// Compares the complex power with MPFR, in units of the last place of |z^w|. The test is built
// twice: for plain x86-64, and for an ISA level with fused multiply-add.
#include <gufunc/kernel/math.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "fused_level.h"
#include "ulp_oracle.h"

namespace gufunc::test {
namespace {

// An MPFR number that is precise enough for exponents in the thousands.
class Long {
 public:
  explicit Long(double x = 0) {
    mpfr_init2(value_, 300);
    mpfr_set_d(value_, x, MPFR_RNDN);
  }
  Long(const Long &) = delete;
  Long &operator=(const Long &) = delete;
  ~Long() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

// Computes re = a c - b d and im = a d + b c.
void multiply(mpfr_ptr re, mpfr_ptr im, mpfr_ptr a, mpfr_ptr b, mpfr_ptr c, mpfr_ptr d) {
  mpfr_fmms(re, a, c, b, d, MPFR_RNDN);
  mpfr_fmma(im, a, d, b, c, MPFR_RNDN);
}

// Returns |found - z^w| in units of the last place of |z^w|.
template <class T>
double error_of(guf::complex<T> z, guf::complex<T> w) {
  Long zr(z.re), zi(z.im), wr(w.re), wi(w.im), size, angle, re, im, sine, cosine, truth_re,
      truth_im;
  mpfr_hypot(size, zr, zi, MPFR_RNDN);
  mpfr_log(size, size, MPFR_RNDN);
  mpfr_atan2(angle, zi, zr, MPFR_RNDN);
  multiply(re, im, size, angle, wr, wi);
  mpfr_exp(size, re, MPFR_RNDN);
  mpfr_sin_cos(sine, cosine, im, MPFR_RNDN);
  mpfr_mul(truth_re, size, cosine, MPFR_RNDN);
  mpfr_mul(truth_im, size, sine, MPFR_RNDN);
  const guf::complex<T> found = guf::pow(z, w);
  mpfr_sub_d(truth_re, truth_re, static_cast<double>(found.re), MPFR_RNDN);
  mpfr_sub_d(truth_im, truth_im, static_cast<double>(found.im), MPFR_RNDN);
  const mpfr_exp_t place = mpfr_get_exp(size) - std::numeric_limits<T>::digits;
  mpfr_hypot(truth_re, truth_re, truth_im, MPFR_RNDN);
  mpfr_mul_2si(truth_re, truth_re, -place, MPFR_RNDN);
  return mpfr_get_d(truth_re, MPFR_RNDU);
}

struct Row {
  const char *name;
  double z, w;    // bounds of the absolute values of the real and imaginary parts
  bool whole;     // w is an integer
  double growth;  // bound of |Re(w log z)|
  double bar32, bar64;
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}
const Row kRows[] = {
    {"Small", 3, 3, false, 80, 0.8, 2.5},      {"Medium", 3, 11, false, 80, 0.8, 2.5},
    {"Large", 100, 100, false, 700, 0.8, 2.5}, {"NearOne", 1, 1000, false, 700, 0.8, 2.5},
    {"Whole", 3, 99, true, 700, 0.8, 2.5},
};

template <class T>
double worst_of(const Row &row, int count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> base(-row.z, row.z), exponent(-row.w, row.w), turn(-4, 4),
      near(-1e-3, 1e-3);
  const double limit = std::min(row.growth, std::numeric_limits<T>::max_exponent * 0.6);
  double worst = 0;
  for (int i = 0; i < count;) {
    guf::complex<T> z(static_cast<T>(base(random)), static_cast<T>(base(random)));
    guf::complex<T> w(static_cast<T>(exponent(random)), static_cast<T>(exponent(random)));
    if (row.whole) w = guf::complex<T>(std::round(w.re), 0);
    if (row.w > 100) {
      const double angle = turn(random), size = 1 + near(random);
      z = guf::complex<T>(static_cast<T>(size * std::cos(angle)),
                          static_cast<T>(size * std::sin(angle)));
    }
    const double angle = std::atan2(z.im, z.re), size = std::log(std::hypot(z.re, z.im));
    if (std::fabs(w.re * size - w.im * angle) > limit || (w.re == 0 && w.im == 0)) continue;
    ++i;
    worst = std::max(worst, error_of(z, w));
  }
  return worst;
}

using ComplexPower = AtItsLevel<Row>;
constexpr int kPoints = 20000;

TEST_P(ComplexPower, C64StaysWithinItsBar) {
  const double worst = worst_of<float>(GetParam(), kPoints);
  RecordProperty("ulp", std::to_string(worst));
  EXPECT_LE(worst, GetParam().bar32);
}
TEST_P(ComplexPower, C128StaysWithinItsBar) {
  const double worst = worst_of<double>(GetParam(), kPoints);
  RecordProperty("ulp", std::to_string(worst));
  EXPECT_LE(worst, GetParam().bar64);
}
INSTANTIATE_TEST_SUITE_P(Rows, ComplexPower, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(ComplexPower, WholePowersOfGaussianIntegersAreExact) {
  EXPECT_TRUE(guf::pow(guf::c128(1, 1), guf::c128(4, 0)) == guf::c128(-4, 0));
  EXPECT_TRUE(guf::pow(guf::c128(1, 2), guf::c128(5, 0)) == guf::c128(41, -38));
  EXPECT_TRUE(guf::pow(guf::c128(1, -1), guf::c128(40, 0)) == guf::c128(1048576, 0));
  EXPECT_TRUE(guf::pow(guf::c128(0, 2), guf::c128(-4, 0)) == guf::c128(0.0625, 0));
}

TEST(ComplexPower, OverflowAndRealArgumentsMakeNoNaN) {
  const guf::c128 large = guf::pow(guf::c128(1e10, 0), guf::c128(100.5, 0));
  EXPECT_TRUE(std::isinf(large.re) && large.im == 0);
  const guf::c128 none = guf::pow(guf::c128(1e10, 0), guf::c128(-100.5, 0));
  EXPECT_TRUE(none.re == 0 && none.im == 0);
  const guf::c128 root = guf::pow(guf::c128(2, 0), guf::c128(0.5, 0));
  EXPECT_TRUE(root == guf::c128(std::sqrt(2.0), 0));
  const guf::c128 whole = guf::pow(guf::c128(1e300, 1e300), guf::c128(4, 0));
  EXPECT_FALSE(std::isfinite(whole.re) && std::isfinite(whole.im));
}

}  // namespace
}  // namespace gufunc::test
