// SPDX-License-Identifier: Apache-2.0
// logaddexp and logaddexp2. With the greater argument h, the difference d <= 0 to the other one,
// and the base b (e or 2), the result is h + log_b(1 + b^d). f32 is computed in f64. If h is
// between -1 and 0, the sum cancels. The logarithm of f64 is therefore a sum of two numbers with a
// relative error of about 2^-63 if h is near 0.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

using guf::f32;
using guf::f64;

// log2(e).
constexpr f64 kLog2E = 0x1.71547652b82fep+0;

struct natural {
  static GUF_DEVICE f64 power(f64 d) { return guf::exp(d); }
  static GUF_DEVICE f64 logarithm(f64 x) { return x; }
  static constexpr f64 of_two = 0x1.62e42fefa39efp-1;  // log(2)
};
struct binary {
  static GUF_DEVICE f64 power(f64 d) { return guf::exp2(d); }
  static GUF_DEVICE f64 logarithm(f64 x) { return kLog2E * x; }
  static constexpr f64 of_two = 1.0;
};

// The greater argument and the difference between the other argument and it. If the arguments are
// equal, the difference is 0, also for infinities.
struct ordered {
  f64 high, difference;
};
GUF_DEVICE ordered in_order(f64 x, f64 y) {
  const f64 high = x > y ? x : y, low = x > y ? y : x;
  return {high, x == y ? 0.0 : low - high};
}

// NaN arguments are handled by the callers.
template <class Base>
GUF_DEVICE f64 log_of_powers(ordered o) {
  const f64 rest = Base::logarithm(guf::log1p(Base::power(o.difference)));
  return o.high + (o.difference == 0.0 ? Base::of_two : rest);
}

namespace math = guf::detail;
typedef guf::detail::pair<f64> pair;

// c + x p, in which the product is not greater than c.
GUF_DEVICE pair step(f64 c, f64 c_low, pair x, pair p) {
  const pair product = math::two_product(x.hi, p.hi);
  const f64 low = product.lo + math::mad(x.hi, p.lo, x.lo * p.hi);
  const pair sum = math::fast_two_sum(c, product.hi);
  return math::fast_two_sum(sum.hi, sum.lo + (low + c_low));
}

// The terms of the power series of exp from 1/5! on.
GUF_TABLE f64 kExpTerms[12] = {0x1.1111111111111p-7,  0x1.6c16c16c16c17p-10, 0x1.a01a01a01a01ap-13,
                               0x1.a01a01a01a01ap-16, 0x1.71de3a556c734p-19, 0x1.27e4fb7789f5cp-22,
                               0x1.ae64567f544e4p-26, 0x1.1eed8eff8d898p-29, 0x1.6124613a86d09p-33,
                               0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45};

// exp(r) for |r| <= ln2 / 2, with a relative error of about 2^-66.
GUF_DEVICE pair exp_reduced(pair r) {
  constexpr f64 third = 0x1.5555555555555p-3, third_low = 0x1.5555555555555p-57;    // 1/3!
  constexpr f64 fourth = 0x1.5555555555555p-5, fourth_low = 0x1.5555555555555p-59;  // 1/4!
  const f64 tail = math::polynomial(r.hi, kExpTerms);
  const pair p4 = step(fourth, fourth_low, r, pair{tail, 0.0});
  const pair p3 = step(third, third_low, r, p4);
  return step(1.0, 0.0, r, step(1.0, 0.0, r, step(0.5, 0.0, r, p3)));
}

// 2^n times the pair, for the integer n in the low bits of `rounded`.
GUF_DEVICE pair scaled(pair x, f64 rounded) {
  return {math::scale_by_power(x.hi, rounded), math::scale_by_power(x.lo, rounded)};
}

GUF_DEVICE pair power_pair(natural, pair d) {
  typedef math::exp_constants<f64> C;
  const f64 rounded = math::mad(d.hi, C::log2_e, math::bits_of<f64>::rounder);
  const f64 n = rounded - math::bits_of<f64>::rounder;
  const pair low = math::two_product(-n, C::ln2_lo);
  const pair r = math::two_sum(math::mad(-n, C::ln2_hi, d.hi), low.hi);
  return scaled(exp_reduced({r.hi, r.lo + (low.lo + d.lo)}), rounded);
}
GUF_DEVICE pair power_pair(binary, pair d) {
  constexpr f64 ln2 = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
  const f64 rounded = d.hi + math::bits_of<f64>::rounder;
  const f64 r = d.hi - (rounded - math::bits_of<f64>::rounder);
  const pair product = math::two_product(r, ln2);
  const f64 low = product.lo + math::mad(r, ln2_low, d.lo * ln2);
  return scaled(exp_reduced(math::fast_two_sum(product.hi, low)), rounded);
}

GUF_DEVICE pair logarithm_pair(natural, pair x) {
  return x;
}
GUF_DEVICE pair logarithm_pair(binary, pair x) {
  constexpr f64 low = 0x1.777d0ffda0d24p-56;
  const pair product = math::two_product(x.hi, kLog2E);
  return {product.hi, product.lo + math::mad(x.hi, low, x.lo * kLog2E)};
}

// log(1 + t) for 0 <= t <= 1.
GUF_DEVICE pair log_of_one_more(pair t) {
  const f64 rest = t.hi * t.hi * math::mad(t.hi, math::mad(t.hi, -0.25, 1.0 / 3.0), -0.5);
  const pair sum = math::fast_two_sum(1.0, t.hi);
  const pair exact = math::fast_two_sum(sum.hi, sum.lo + t.lo);
  const pair logarithm = math::log_pair(math::split_normal(exact.hi, 0.0));
  const bool small = t.hi < 0x1p-20;  // the first terms of the power series suffice
  return {small ? t.hi : logarithm.hi, small ? t.lo + rest : logarithm.lo + exact.lo / exact.hi};
}

// Where the greater argument is not near 0, nothing cancels, and one number suffices for the
// logarithm.
template <class Base>
struct log_sum {
  template <class T>
  static GUF_DEVICE bool in_fast_range(T x, T y) {
    const T high = x > y ? x : y;
    return !(high > T(-3) && high < T(2));
  }
  template <class T>
  static GUF_DEVICE T fast_path(T x, T y) {
    const f64 result = log_of_powers<Base>(in_order(f64(x), f64(y)));
    return x != x || y != y ? x + y : T(result);
  }
  static GUF_DEVICE f32 full_path(f32 x, f32 y) { return fast_path(x, y); }
  static GUF_DEVICE f64 full_path(f64 x, f64 y) {
    const ordered o = in_order(x, y);
    const f64 low = x > y ? y : x;
    const bool tiny = !(o.difference > -1100.0);  // the power underflows
    const pair d = math::two_sum(tiny ? -1100.0 : low, tiny ? 0.0 : -o.high);
    const pair rest = logarithm_pair(Base(), log_of_one_more(power_pair(Base(), d)));
    const pair sum = math::two_sum(o.high, rest.hi);
    const f64 near = tiny ? o.high + 0.0 : sum.hi + (sum.lo + rest.lo);
    const bool exact = o.difference == 0.0 && Base::of_two == 1.0;
    const f64 result = exact ? o.high + 1.0 : near;
    return in_fast_range(x, y) ? fast_path(x, y) : (x != x || y != y ? x + y : result);
  }
};

template <class T>
GUF_DEVICE auto logaddexp(T x, T y) {
  return guf::select_path<log_sum<natural>>(x, y);
}
template <class T>
GUF_DEVICE auto logaddexp2(T x, T y) {
  return guf::select_path<log_sum<binary>>(x, y);
}

}  // namespace standard

GUF_UFUNC(standard::logaddexp, GUF_LOOPS_logaddexp, "commutative", "associative");
GUF_UFUNC(standard::logaddexp2, GUF_LOOPS_logaddexp2, "commutative", "associative");
