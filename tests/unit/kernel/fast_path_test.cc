// SPDX-License-Identifier: Apache-2.0
// Tests that the fast path of a function returns the same bits as the full path for random
// arguments that the fast path accepts, and that a host loop computes the same bits for an element
// regardless of the neighbouring elements.
#include <gtest/gtest.h>
#include <gufunc/kernel/host_loops.hpp>
#include <gufunc/kernel/math_ranges.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

template <class T>
guf::detail::bits_t<T> bits(T x) {
  return x != x ? 0 : guf::detail::to_bits(x);
}

template <class T>
T random_number(std::mt19937_64 &random) {
  const std::uint64_t word = random() >> (64 - 8 * sizeof(T));
  T x;
  std::memcpy(&x, &word, sizeof x);
  const double part = static_cast<double>(word) * std::ldexp(1.0, -8 * static_cast<int>(sizeof x));
  return random() % 4 == 0 ? x : static_cast<T>(200 * part - 100);
}

template <class F, class T, class... More>
void expect_alike(int *served, T x, More... more) {
  if (!F::in_fast_range(x, more...)) return;
  ++*served;
  EXPECT_EQ(bits(F::fast_path(x, more...)), bits(F::full_path(x, more...))) << x;
}

template <class T>
void compare_formulas() {
  std::mt19937_64 random(11);
  int served[7] = {};
  for (int i = 0; i < 200000; ++i) {
    const T x = random_number<T>(random), y = random_number<T>(random);
    expect_alike<guf::ranges::sin>(&served[0], x);
    expect_alike<guf::ranges::cos>(&served[1], x);
    expect_alike<guf::ranges::log>(&served[2], x);
    expect_alike<guf::ranges::pow>(&served[3], x, y);
    expect_alike<guf::ranges::tan>(&served[4], x);
    expect_alike<guf::ranges::log2>(&served[5], x);
    expect_alike<guf::ranges::log10>(&served[6], x);
  }
  for (const int count : served) EXPECT_GT(count, 50000);
}
TEST(FastPath, BothFormulasAgreeInF32) {
  compare_formulas<float>();
}
TEST(FastPath, BothFormulasAgreeInF64) {
  compare_formulas<double>();
}

template <class T>
void expect_served(T x, bool sine, bool logarithm) {
  EXPECT_EQ(guf::ranges::sin::in_fast_range(x), sine) << x;
  EXPECT_EQ(guf::ranges::cos::in_fast_range(x), sine) << x;
  EXPECT_EQ(guf::ranges::tan::in_fast_range(x), sine) << x;
  EXPECT_EQ(guf::ranges::log::in_fast_range(x), logarithm) << x;
  EXPECT_EQ(guf::ranges::log2::in_fast_range(x), logarithm) << x;
  EXPECT_EQ(guf::ranges::log10::in_fast_range(x), logarithm) << x;
  EXPECT_EQ(guf::ranges::pow::in_fast_range(x, T(2)), logarithm) << x;
  EXPECT_EQ(guf::ranges::pow::in_fast_range(T(2), x), std::isfinite(x)) << x;
}
template <class T>
void edges_of_ranges() {
  typedef guf::limits<T> limits;
  const T huge = sizeof(T) == 4 ? T(0x1p13) : T(0x1p25);
  expect_served(T(0), true, false);
  expect_served(T(-1), true, false);
  expect_served(limits::min_normal, true, true);
  expect_served(std::nextafter(limits::min_normal, T(0)), true, false);
  expect_served(huge, true, true);
  expect_served(std::nextafter(huge, limits::infinity), false, true);
  expect_served(limits::max, false, true);
  expect_served(limits::infinity, false, false);
  expect_served(-limits::infinity, false, false);
  expect_served(limits::nan, false, false);
}
TEST(FastPath, RangesEndAtTheLimitOfTheFastFormula) {
  edges_of_ranges<float>();
  edges_of_ranges<double>();
}

struct Sine {
  template <class T>
  static auto call(T x) {
    return guf::select_path<guf::ranges::sin>(x);
  }
};
typedef guf::host::elementwise<Sine, guf::types<float>, guf::types<float>> SineLoop;

TEST(FastPath, NeighboursDoNotMatter) {
  constexpr int kCount = 700;
  for (const int rare : {-1, 0, 255, 256, 511, 512, 699}) {
    std::vector<float> x(kCount), out(kCount);
    for (int i = 0; i < kCount; ++i) x[static_cast<std::size_t>(i)] = 0.37F * static_cast<float>(i);
    if (rare >= 0) x[static_cast<std::size_t>(rare)] = 1e30F;
    char *args[] = {reinterpret_cast<char *>(x.data()), reinterpret_cast<char *>(out.data())};
    const guf::i64 count = kCount, steps[] = {sizeof(float), sizeof(float)};
    SineLoop::run(args, &count, steps);
    for (std::size_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(bits(out[i]), bits(guf::sin(x[i]))) << i << ", rare at " << rare;
    }
    args[1] = args[0];  // in place
    SineLoop::run(args, &count, steps);
    for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(bits(x[i]), bits(out[i])) << i;
  }
}

}  // namespace
