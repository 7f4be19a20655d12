// SPDX-License-Identifier: Apache-2.0
// Compares host loops with a simple loop over addresses: every combination of contiguous, scalar,
// strided and reversed operands, operands in place, several outputs, and loops that can fail.
#include <gtest/gtest.h>
#include <gufunc/kernel/host_loops.hpp>

#include <cstring>
#include <vector>

namespace {

using guf::i64;
using guf::types;

struct Fused {
  template <class T>
  static T call(T a, T b, T c) {
    return static_cast<T>(a * T(3) + b * b - c);
  }
};
struct Difference {
  template <class T>
  static T call(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct Less {
  template <class T>
  static bool call(T a, T b) {
    return a < b;
  }
};
struct SumAndProduct {
  template <class T>
  static void call(T a, T b, guf::out<T> sum, guf::out<T> product) {
    sum = a + b;
    product = a * b;
  }
};
struct Halve {
  static int call(int a, bool &failed) {
    failed = a % 2 != 0;
    return a / 2;
  }
};

// An operand of n elements in the middle of its own buffer. Its stride is in elements.
template <class T>
struct LoopOperand {
  std::vector<T> buffer;
  i64 step = 0;
  size_t first = 0;

  LoopOperand(i64 n, i64 step_in, T seed) : step(step_in) {
    const auto span = static_cast<size_t>(1 + (step < 0 ? -step : step) * n);
    for (size_t i = 0; i < span + 8; ++i)
      buffer.push_back(static_cast<T>(seed + static_cast<T>(i % 23)));
    first = step < 0 ? span : 4;
  }
  char *base() { return reinterpret_cast<char *>(&buffer[first]); }
  i64 bytes() const { return step * static_cast<i64>(sizeof(T)); }
  T &at(i64 i) { return buffer[static_cast<size_t>(static_cast<i64>(first) + i * step)]; }
};

constexpr i64 kSteps[] = {1, 0, 2, -1, 5, -3};
constexpr i64 kSizes[] = {0, 1, 2, 7, 64, 255, 256, 257, 1000};

template <class T>
class Ternary : public testing::Test {};
using Numbers = testing::Types<guf::i8, guf::u16, guf::i32, guf::u64, float, double>;
TYPED_TEST_SUITE(Ternary, Numbers);

TYPED_TEST(Ternary, EveryMixOfSteps) {
  using T = TypeParam;
  for (const i64 n : kSizes)
    for (const i64 sa : kSteps)
      for (const i64 sb : kSteps)
        for (const i64 sc : kSteps)
          for (const i64 so : {1, 2, -1, -3}) {
            LoopOperand<T> a(n, sa, 1), b(n, sb, 2), c(n, sc, 3), out(n, so, 9);
            auto expected = out;
            for (i64 i = 0; i < n; ++i) expected.at(i) = Fused::call(a.at(i), b.at(i), c.at(i));
            char *args[] = {a.base(), b.base(), c.base(), out.base()};
            const i64 steps[] = {a.bytes(), b.bytes(), c.bytes(), out.bytes()};
            EXPECT_FALSE(
                (guf::host::elementwise<Fused, types<T, T, T>, types<T>>::run(args, &n, steps)));
            ASSERT_EQ(out.buffer, expected.buffer)
                << n << " " << sa << " " << sb << " " << sc << " " << so;
          }
}

TYPED_TEST(Ternary, InPlaceOnEitherInput) {
  using T = TypeParam;
  for (const i64 n : kSizes)
    for (const i64 step : {1, 2, -1})
      for (const bool first : {true, false}) {
        LoopOperand<T> a(n, step, 1), b(n, step, 7);
        LoopOperand<T> &out = first ? a : b;
        auto expected = out;
        for (i64 i = 0; i < n; ++i) expected.at(i) = Difference::call(a.at(i), b.at(i));
        char *args[] = {a.base(), b.base(), out.base()};
        const i64 steps[] = {a.bytes(), b.bytes(), out.bytes()};
        guf::host::elementwise<Difference, types<T, T>, types<T>>::run(args, &n, steps);
        ASSERT_EQ(out.buffer, expected.buffer) << n << " " << step;
      }
}

TEST(HostLoops, ComparisonsWriteOneByte) {
  std::vector<double> a = {1, 2, 3, 0.0 / 0.0, 5}, b = {2, 2, 2, 2, 9};
  std::vector<guf::u8> out(5, 77);
  char *args[] = {reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(b.data()),
                  reinterpret_cast<char *>(out.data())};
  const i64 n = 5, steps[] = {8, 8, 1};
  guf::host::elementwise<Less, types<double, double>, types<guf::b8>>::run(args, &n, steps);
  EXPECT_EQ(out, (std::vector<guf::u8>{1, 0, 0, 0, 1}));
}

TEST(HostLoops, StorageTypesAreRoundedOnce) {
  // Computing a * 3 + b * b - c in float16 would round three times, because float16 cannot
  // represent 2049.
  std::vector<guf::f16> a = {guf::to_f16(683)}, b = {guf::to_f16(1)}, c = {guf::to_f16(1)}, out(1);
  char *args[] = {reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(b.data()),
                  reinterpret_cast<char *>(c.data()), reinterpret_cast<char *>(out.data())};
  const i64 n = 1, steps[] = {2, 2, 2, 2};
  guf::host::elementwise<Fused, types<guf::f16, guf::f16, guf::f16>, types<guf::f16>>::run(args, &n,
                                                                                           steps);
  EXPECT_EQ(out[0].bits, guf::to_f16(2049.0f).bits);
  EXPECT_EQ(guf::to_f32(out[0]), 2048.0f);
}

TEST(HostLoops, SeveralOutputs) {
  for (const i64 n : kSizes)
    for (const i64 step : {1, 2, -1}) {
      LoopOperand<float> a(n, step, 1), b(n, 0, 7), sum(n, step, 0), product(n, 1, 0);
      auto expected_sum = sum, expected_product = product;
      for (i64 i = 0; i < n; ++i) {
        SumAndProduct::call<float>(a.at(i), b.at(i), expected_sum.at(i), expected_product.at(i));
      }
      char *args[] = {a.base(), b.base(), sum.base(), product.base()};
      const i64 steps[] = {a.bytes(), b.bytes(), sum.bytes(), product.bytes()};
      guf::host::elementwise<SumAndProduct, types<float, float>, types<float, float>>::run(args, &n,
                                                                                           steps);
      ASSERT_EQ(sum.buffer, expected_sum.buffer);
      ASSERT_EQ(product.buffer, expected_product.buffer);
    }
}

TEST(HostLoops, OneFailingElementFailsTheLoop) {
  for (const i64 step : {1, 2})
    for (i64 odd = -1; odd < 600; odd += 67) {
      const i64 n = 600;
      std::vector<int> in(static_cast<size_t>(n * step), 4), out(static_cast<size_t>(n * step), 0);
      if (odd >= 0) in[static_cast<size_t>(odd * step)] = 3;
      char *args[] = {reinterpret_cast<char *>(in.data()), reinterpret_cast<char *>(out.data())};
      const i64 steps[] = {4 * step, 4 * step};
      EXPECT_EQ((guf::host::elementwise<Halve, types<int>, types<int>, true>::run(args, &n, steps)),
                odd >= 0);
    }
}

TEST(HostLoops, UnalignedOperands) {
  std::vector<char> bytes(4 * 64 + 3);
  char *base = bytes.data() + 3;
  for (int i = 0; i < 64; ++i) {
    const auto x = static_cast<float>(i);
    std::memcpy(base + 4 * i, &x, 4);
  }
  char *args[] = {base, base, base};
  const i64 n = 64, steps[] = {4, 0, 4};
  guf::host::elementwise<Difference, types<float, float>, types<float>>::run(args, &n, steps);
  float last = 0;
  std::memcpy(&last, base + 4 * 63, 4);
  EXPECT_EQ(last, 63.0f);
}

}  // namespace
