// SPDX-License-Identifier: Apache-2.0
// Measures the distance of a number from the exact value of a function with MPFR, in units of the
// last place.
#ifndef GUFUNC_TESTS_UNIT_KERNEL_ULP_ORACLE_H
#define GUFUNC_TESTS_UNIT_KERNEL_ULP_ORACLE_H

#include <mpfr.h>

#include <cmath>
#include <limits>

namespace gufunc::test {

class Exact {
 public:
  Exact() { mpfr_init2(value_, 128); }
  explicit Exact(double x) : Exact() { mpfr_set_d(value_, x, MPFR_RNDN); }
  Exact(const Exact &) = delete;
  Exact &operator=(const Exact &) = delete;
  ~Exact() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// Returns the value rounded to T. The result is infinite only if the exact value rounds to
// infinity.
template <class T>
double rounded(Exact &value) {
  return sizeof(T) == 8 ? mpfr_get_d(value.get(), MPFR_RNDN)
                        : static_cast<double>(mpfr_get_flt(value.get(), MPFR_RNDN));
}

constexpr double kWrong = 1e9;  // error of a result that is NaN or infinite by mistake

// Returns |found - truth| in units of the last place of the exact value, which may be subnormal.
template <class T>
double ulp_error(T found, Exact &truth) {
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr int least = std::numeric_limits<T>::min_exponent - digits;
  if (mpfr_nan_p(truth.get())) return std::isnan(found) ? 0 : kWrong;
  if (std::isnan(found)) return kWrong;
  const double nearest = rounded<T>(truth);
  if (std::isinf(found) || std::isinf(nearest)) {
    return static_cast<double>(found) == nearest ? 0 : kWrong;
  }
  const mpfr_exp_t place = mpfr_zero_p(truth.get()) ? least : mpfr_get_exp(truth.get()) - digits;
  Exact distance(static_cast<double>(found));
  mpfr_sub(distance.get(), distance.get(), truth.get(), MPFR_RNDN);
  mpfr_abs(distance.get(), distance.get(), MPFR_RNDN);
  mpfr_mul_2si(distance.get(), distance.get(), -std::max<mpfr_exp_t>(place, least), MPFR_RNDN);
  return mpfr_get_d(distance.get(), MPFR_RNDU);
}

}  // namespace gufunc::test

#endif  // GUFUNC_TESTS_UNIT_KERNEL_ULP_ORACLE_H
