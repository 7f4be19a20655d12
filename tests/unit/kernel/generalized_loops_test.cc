// SPDX-License-Identifier: Apache-2.0
// Tests generalized loops: the order of dimensions and strides, views of any stride, roles, storage
// types and groups.
#include <gtest/gtest.h>
#include <gufunc/kernel/host_loops.hpp>

#include <numeric>
#include <vector>

namespace {

using guf::i64;
using guf::role;
using guf::host::generalized;
using guf::host::operand;

struct Product {  // signature (m,n),(n,p)->(m,p)
  template <class A, class B, class C>
  static void call(A a, B b, C c) {
    for (i64 i = 0; i < c.extent(0); ++i)
      for (i64 j = 0; j < c.extent(1); ++j) {
        guf::value_t<typename C::type> sum = 0;
        for (i64 k = 0; k < a.extent(1); ++k) sum += a[i][k] * b(k, j);
        c(i, j) = sum;
      }
  }
};

template <class T>
char *bytes(std::vector<T> &v, size_t first = 0) {
  return reinterpret_cast<char *>(&v[first]);
}

TEST(GeneralizedLoops, MatrixProductForAnyStrides) {
  using Loop = generalized<Product, false, false, operand<double, role::in, 0, 1>,
                           operand<double, role::in, 1, 2>, operand<double, role::out, 0, 2>>;
  std::vector<double> a(2 * 6), b(2 * 12), c(2 * 8);
  std::iota(a.begin(), a.end(), 0.0);
  std::iota(b.begin(), b.end(), -5.0);
  char *args[] = {bytes(a), bytes(b), bytes(c)};
  const i64 dims[] = {2, 2, 3, 4};
  const i64 packed[] = {48, 96, 64, 24, 8, 32, 8, 32, 8};
  Loop::run(args, dims, packed);
  EXPECT_EQ(c[0], 5);  // NumPy's result of arange(6) times (arange(12) - 5)
  EXPECT_EQ((std::vector<double>(c.begin(), c.begin() + 8)),
            (std::vector<double>{5, 8, 11, 14, -4, 8, 20, 32}));
  const std::vector<double> expected = c;

  // Computes the same product with b read through a transposed copy and c written in reverse.
  std::vector<double> bt(2 * 12), reversed(2 * 8);
  for (size_t item = 0; item < 2; ++item)
    for (size_t k = 0; k < 3; ++k)
      for (size_t j = 0; j < 4; ++j) bt[item * 12 + j * 3 + k] = b[item * 12 + k * 4 + j];
  char *other[] = {bytes(a), bytes(bt), bytes(reversed, 15)};
  const i64 strided[] = {48, 96, -64, 24, 8, 8, 24, -32, -8};
  Loop::run(other, dims, strided);
  EXPECT_EQ(reversed, (std::vector<double>(expected.rbegin(), expected.rend())));
}

TEST(GeneralizedLoops, EmptyCoreDimensions) {
  using Loop = generalized<Product, false, false, operand<float, role::in, 0, 1>,
                           operand<float, role::in, 1, 2>, operand<float, role::out, 0, 2>>;
  std::vector<float> a(1), b(1), c(12);
  const i64 dims[] = {2, 2, 0, 3};
  // For an operand without elements, a launch passes stride 0 between items, but does not change
  // the strides of the core dimensions. The test first uses the core strides of a contiguous
  // operand, and then arbitrary core strides.
  constexpr i64 kFar = i64{1} << 62;
  const i64 steps[][9] = {{0, 0, 24, 4, 4, 12, 4, 12, 4}, {0, 0, 24, kFar, -kFar, -kFar, 8, 12, 4}};
  for (const bool are_null : {false, true}) {
    for (const auto &each : steps) {
      c.assign(12, 9.0f);
      char *args[] = {are_null ? nullptr : bytes(a), are_null ? nullptr : bytes(b), bytes(c)};
      Loop::run(args, dims, each);
      EXPECT_EQ(c, std::vector<float>(12, 0.0f));
    }
  }
}

struct Ramp {  // signature (),()->(n); scalars are passed by value
  template <class X, class S, class Y>
  static void call(X x, S step, Y y) {
    static_assert(guf::is_same<X, float>::value && guf::is_same<S, i64>::value, "values");
    for (i64 i = 0; i < y.size(); ++i) y[i] = x + static_cast<float>(i * step);
  }
};

TEST(GeneralizedLoops, ScalarInputsAndBfloatOutput) {
  using Loop = generalized<Ramp, false, false, operand<guf::f16, role::in>, operand<i64, role::in>,
                           operand<guf::bf16, role::out, 0>>;
  std::vector<guf::f16> x = {guf::to_f16(0.5f), guf::to_f16(256)};
  std::vector<i64> step = {1};
  std::vector<guf::bf16> y(6);
  char *args[] = {bytes(x), bytes(step), bytes(y)};
  const i64 dims[] = {2, 3};
  const i64 steps[] = {2, 0, 6, 2};
  Loop::run(args, dims, steps);
  const float expected[] = {0.5f, 1.5f, 2.5f, 256, 256, 258};  // bfloat16 cannot represent 257
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(guf::to_f32(y[i]), expected[i]) << i;
}

struct Accumulate {  // signature (n), with an inout operand
  template <class Row>
  static void call(Row row) {
    for (i64 i = 1; i < row.size(); ++i) row[i] += guf::load(row[i - 1]);
  }
};

template <class T>
class InOut : public testing::Test {};
using Rows = testing::Types<double, guf::f16, guf::bf16, guf::i32>;
TYPED_TEST_SUITE(InOut, Rows);

TYPED_TEST(InOut, ReadsWhatItWrote) {
  using T = TypeParam;
  using Loop = generalized<Accumulate, false, false, operand<T, role::inout, 0>>;
  for (const i64 stride : {1, 2, -1}) {
    std::vector<T> data(24, guf::cast<T>(1));
    const size_t first = stride < 0 ? 3 : 0;
    char *args[] = {bytes(data, first)};
    const i64 size = static_cast<i64>(sizeof(T));
    const i64 dims[] = {3, 4}, steps[] = {8 * size, stride * size};
    Loop::run(args, dims, steps);
    for (size_t item = 0; item < 3; ++item)
      for (i64 i = 0; i < 4; ++i) {
        const auto at = static_cast<size_t>(static_cast<i64>(item * 8 + first) + i * stride);
        EXPECT_EQ(guf::cast<double>(data[at]), static_cast<double>(i + 1));
      }
  }
}

struct Sum {  // signature (n)->(), as a group of threads
  template <class G, class X, class Y>
  static void call(G g, X x, Y y) {
    double *half = g.template shared<double>(2);
    half[0] = g.sum(x.extent(0), [&](i64 i) { return x[i]; });
    g.sync();
    y() = half[0];
  }
};

TEST(GeneralizedLoops, CooperativeFunctionsGetAGroup) {
  using Loop =
      generalized<Sum, true, false, operand<double, role::in, 0>, operand<double, role::out>>;
  std::vector<double> x(1000), y(2);
  std::iota(x.begin(), x.end(), 0.0);
  char *args[] = {bytes(x), bytes(y)};
  const i64 dims[] = {2, 500}, steps[] = {4000, 8, 8};
  Loop::run(args, dims, steps);
  EXPECT_EQ(y[0], 499 * 500 / 2);
  EXPECT_EQ(y[1], 499 * 500 / 2 + 500 * 500);
}

}  // namespace
