// SPDX-License-Identifier: Apache-2.0
// Contains the table for math_ulp_test and docs/accuracy.md: each function of the dialect, its MPFR
// counterpart, the ranges with the most points, and the largest allowed error.
#ifndef GUFUNC_TESTS_UNIT_KERNEL_MATH_ROWS_H
#define GUFUNC_TESTS_UNIT_KERNEL_MATH_ROWS_H

#include <mpfr.h>
#include <gufunc/kernel/math.hpp>

#include <ostream>
#include <vector>

namespace gufunc::test {

struct Range {
  double low, high;
};

// A function of one or two arguments. A function of one argument has an empty `second`.
struct MathRow {
  const char *name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  int (*oracle)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);
  double bar32, bar64;
  std::vector<Range> first;         // ranges of the first argument
  std::vector<Range> second;        // range of the second argument for each range of the first
  int divisor = 1;                  // divides the number of points if the oracle is slow
  double least = -__builtin_inf();  // points below this number are skipped
};

inline void PrintTo(const MathRow &row, std::ostream *out) {
  *out << row.name;
}

inline int mpfr_degrees(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) {
  mpfr_t pi;
  mpfr_init2(pi, 300);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul_ui(r, x, 180, MPFR_RNDN);
  const int inexact = mpfr_div(r, r, pi, round);
  mpfr_clear(pi);
  return inexact;
}
inline int mpfr_radians(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) {
  mpfr_t pi;
  mpfr_init2(pi, 300);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(r, x, pi, MPFR_RNDN);
  const int inexact = mpfr_div_ui(r, r, 180, round);
  mpfr_clear(pi);
  return inexact;
}
inline int mpfr_lgamma_size(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t round) {
  int sign = 0;
  return mpfr_lgamma(r, &sign, x, round);
}

#define GUF_ONE(NAME, ORACLE)                         \
  #NAME, [](float x, float) { return guf::NAME(x); }, \
      [](double x, double) { return guf::NAME(x); },  \
      [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { return ORACLE(r, x, MPFR_RNDN); }
#define GUF_TWO(NAME, ORACLE)                              \
  #NAME, [](float x, float y) { return guf::NAME(x, y); }, \
      [](double x, double y) { return guf::NAME(x, y); },  \
      [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) { return ORACLE(r, x, y, MPFR_RNDN); }

// clang-format off
inline std::vector<MathRow> math_rows() {
  return {
      {GUF_ONE(sqrt, mpfr_sqrt), 0.5, 0.5, {{0, 4}}, {}},
      {GUF_ONE(exp, mpfr_exp), 1.0, 0.9, {{-1, 1}, {-105, 90}, {-746, 710}}, {}},
      {GUF_ONE(exp2, mpfr_exp2), 0.9, 0.8, {{-1, 1}, {-150, 128}, {-1075, 1024}}, {}},
      {GUF_ONE(expm1, mpfr_expm1), 1.0, 0.8, {{-0.1, 0.1}, {-3, 3}, {-40, 710}}, {}},
      {GUF_ONE(log, mpfr_log), 1.0, 0.9, {{0.4, 2.1}, {0.99, 1.01}}, {}},
      {GUF_ONE(log2, mpfr_log2), 0.9, 1.0, {{0.4, 2.1}, {0.99, 1.01}}, {}},
      {GUF_ONE(log10, mpfr_log10), 0.9, 0.95, {{0.4, 2.1}, {0.99, 1.01}}, {}},
      {GUF_ONE(log1p, mpfr_log1p), 0.9, 0.95, {{-1, 3}, {-0.1, 0.1}}, {}},
      {GUF_ONE(sin, mpfr_sin), 0.85, 0.9, {{-7, 7}, {-1e5, 1e5}, {0, 1e9}}, {}},
      {GUF_ONE(cos, mpfr_cos), 0.85, 0.9, {{-7, 7}, {-1e5, 1e5}, {0, 1e9}}, {}},
      {GUF_ONE(tan, mpfr_tan), 0.9, 0.95, {{-7, 7}, {-1e5, 1e5}, {0, 1e9}}, {}},
      {GUF_ONE(asin, mpfr_asin), 0.8, 0.8, {{-1, 1}, {0.49, 0.51}}, {}},
      {GUF_ONE(acos, mpfr_acos), 0.8, 0.8, {{-1, 1}, {0.99, 1}}, {}},
      {GUF_ONE(atan, mpfr_atan), 0.95, 0.7, {{-3, 3}, {-0.1, 0.1}}, {}},
      {GUF_TWO(atan2, mpfr_atan2), 1.0, 0.7, {{-3, 3}, {-3, 3}}, {{-3, 3}, {-30, -20}}},
      {GUF_ONE(sinh, mpfr_sinh), 0.8, 0.8, {{-3, 3}, {-20, 20}, {-711, 711}}, {}},
      {GUF_ONE(cosh, mpfr_cosh), 0.8, 0.8, {{-3, 3}, {-20, 20}, {-711, 711}}, {}},
      {GUF_ONE(tanh, mpfr_tanh), 0.8, 0.8, {{-3, 3}, {-20, 20}}, {}},
      {GUF_ONE(asinh, mpfr_asinh), 0.8, 0.9, {{-3, 3}, {-0.1, 0.1}}, {}},
      {GUF_ONE(acosh, mpfr_acosh), 0.8, 0.9, {{1, 3}, {1, 1.01}}, {}},
      {GUF_ONE(atanh, mpfr_atanh), 0.8, 0.95, {{-1, 1}, {-0.1, 0.1}}, {}},
      {GUF_TWO(pow, mpfr_pow), 0.95, 0.8, {{0.1, 10}, {0.99, 1.01}, {0, 1e3}, {-10, 0}},
       {{-30, 30}, {-1e4, 1e4}, {-100, 100}, {-9, 9}}},
      {GUF_TWO(hypot, mpfr_hypot), 0.9, 0.7, {{-3, 3}, {-1e-308, 1e-308}},
       {{-3, 3}, {-1e-310, 1e-310}}},
      {GUF_ONE(cbrt, mpfr_cbrt), 0.6, 0.6, {{-8, 8}}, {}},
      {GUF_ONE(erf, mpfr_erf), 0.9, 1.0, {{-3, 3}, {-0.1, 0.1}}, {}},
      {GUF_ONE(erfc, mpfr_erfc), 0.95, 0.95, {{-3, 3}, {3, 27.3}}, {}},
      {GUF_ONE(tgamma, mpfr_gamma), 0.6, 0.95, {{-3, 3}, {3, 36}, {30, 171.7}, {-185, 0}}, {}, 20},
      {GUF_ONE(lgamma, mpfr_lgamma_size), 0.6, 0.99, {{0, 3}, {3, 300}}, {}, 20, 0.0},
      {GUF_TWO(fmod, mpfr_fmod), 0.0, 0.0, {{-100, 100}, {0, 1e300}}, {{-3, 3}, {0, 1e-300}}},
      {GUF_TWO(remainder, mpfr_remainder), 0.0, 0.0, {{-100, 100}, {0, 1e300}},
       {{-3, 3}, {0, 1e-300}}},
      {GUF_ONE(floor, mpfr_rint_floor), 0.0, 0.0, {{-9, 9}}, {}},
      {GUF_ONE(ceil, mpfr_rint_ceil), 0.0, 0.0, {{-9, 9}}, {}},
      {GUF_ONE(trunc, mpfr_rint_trunc), 0.0, 0.0, {{-9, 9}}, {}},
      {GUF_ONE(rint, mpfr_rint_roundeven), 0.0, 0.0, {{-9, 9}}, {}},
      {GUF_ONE(degrees, mpfr_degrees), 0.6, 1.0, {{-9, 9}}, {}},
      {GUF_ONE(radians, mpfr_radians), 0.6, 1.0, {{-400, 400}}, {}},
  };
}
// clang-format on

#undef GUF_ONE
#undef GUF_TWO

}  // namespace gufunc::test

#endif  // GUFUNC_TESTS_UNIT_KERNEL_MATH_ROWS_H
