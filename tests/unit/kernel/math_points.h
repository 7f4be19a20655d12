// SPDX-License-Identifier: Apache-2.0
// Generates the points at which accuracy is measured: random bits, random numbers in ranges, and
// neighbours of every critical value. Also finds the largest error of a function over these points.
#ifndef GUFUNC_TESTS_UNIT_KERNEL_MATH_POINTS_H
#define GUFUNC_TESTS_UNIT_KERNEL_MATH_POINTS_H

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "math_rows.h"
#include "ulp_oracle.h"

namespace gufunc::test {

template <class T>
T random_bits(std::mt19937_64 &random) {
  const std::uint64_t bits = random() >> (64 - 8 * sizeof(T));
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
T within(std::mt19937_64 &random, Range range) {
  const double part = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<T>(range.low + (range.high - range.low) * part);
}

// Returns powers of two, multiples of pi/4, ln2/2 and 1/4, and limits, each with its neighbours and
// with both signs.
template <class T>
std::vector<T> edges() {
  typedef std::numeric_limits<T> Limits;
  std::vector<T> centres = {T(0),
                            Limits::denorm_min(),
                            Limits::min(),
                            Limits::max(),
                            Limits::infinity(),
                            T(28),
                            T(12),
                            T(2.5),
                            T(171.6243769),
                            T(709.782712893384),
                            T(88.72283935546875)};
  for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e) {
    centres.push_back(std::ldexp(T(1), e));
  }
  for (int n = 1; n < 400; ++n) {
    centres.push_back(static_cast<T>(n * 0.785398163397448309616L));
    centres.push_back(static_cast<T>(n * 0.346573590279972654709L));
    centres.push_back(static_cast<T>(n * 0.25L));
  }
  // Of all binary64 numbers, the first constant is nearest to a multiple of pi/2. The second
  // constant is the corresponding binary32 number.
  centres.push_back(static_cast<T>(sizeof(T) == 8 ? 0x1.6ac5b262ca1ffp+849 : 0x1.f9cbe2p+7));
  std::vector<T> all;
  for (const T centre : centres) {
    const T below = std::nextafter(centre, T(0));
    const T above = std::nextafter(centre, Limits::infinity());
    for (const T x : {std::nextafter(below, T(0)), below, centre, above}) {
      all.push_back(x);
      all.push_back(-x);
    }
  }
  all.push_back(Limits::quiet_NaN());
  return all;
}

struct Worst {
  double error = 0;
  double x = 0, y = 0;
};

template <class T>
void measure_at(const MathRow &row, T x, T y, Worst *worst) {
  if (static_cast<double>(x) < row.least) return;
  T found;
  if constexpr (sizeof(T) == 8) {
    found = row.f64(x, y);
  } else {
    found = row.f32(x, y);
  }
  Exact truth, first(static_cast<double>(x)), second(static_cast<double>(y));
  row.oracle(truth.get(), first.get(), second.get());
  const double error = ulp_error(found, truth);
  if (error > worst->error) *worst = {error, static_cast<double>(x), static_cast<double>(y)};
}

// Measures the error at the critical values, at `count` points of random bits, and at `count`
// points in each range.
template <class T>
Worst measure(const MathRow &row, int count) {
  std::mt19937_64 random(20240901);
  Worst worst;
  const std::vector<T> places = edges<T>();
  for (std::size_t i = 0; i < places.size(); i += static_cast<std::size_t>(row.divisor)) {
    const T other = places[(i * 7919) % places.size()];
    measure_at<T>(row, places[i], other, &worst);
  }
  for (int i = 0; i < count / row.divisor; ++i) {
    const T x = random_bits<T>(random), y = random_bits<T>(random);
    measure_at<T>(row, x, y, &worst);
    for (std::size_t r = 0; r < row.first.size(); ++r) {
      const T inside = within<T>(random, row.first[r]);
      measure_at<T>(row, inside, row.second.empty() ? y : within<T>(random, row.second[r]), &worst);
    }
  }
  return worst;
}

}  // namespace gufunc::test

#endif  // GUFUNC_TESTS_UNIT_KERNEL_MATH_POINTS_H
