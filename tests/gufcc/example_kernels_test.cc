// SPDX-License-Identifier: Apache-2.0
// Calls the example kernels, linked as one object, entry by entry on every ISA level of this
// machine. Compares the results with reference numbers that were computed by Numba and NumPy, and
// compares them bit for bit with the formula, rounded after each operation.
#include <gmock/gmock.h>

#include <cmath>
#include <vector>

#include "tests/gufcc/linked_module.h"

extern "C" const guf_module_v1 gufunc_module_v1_example_kernels;

namespace gufunc::gufcc {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

using ExampleKernels = LinkedModule<gufunc_module_v1_example_kernels>;

TEST_P(ExampleKernels, Discriminant) {
  std::vector<double> a = {0, .25, .5, .75, 1}, b = {10, 10.1, 10.5, 10.7, 11},
                      c = {1, .9, .3, .6, .1}, r(5);
  call("guf_ew_discriminant_ddd_d", {a.data(), b.data(), c.data(), r.data()}, {5}, {8, 8, 8, 8});
  EXPECT_THAT(r, ElementsAre(10, 10.055346836385107, 10.471389592599447, 10.615554625171498,
                             10.981803130633876));
  std::vector<float> fa(a.begin(), a.end()), fb(b.begin(), b.end()), fc(c.begin(), c.end()), fr(5);
  call("guf_ew_discriminant_fff_f", {fa.data(), fb.data(), fc.data(), fr.data()}, {5},
       {4, 4, 4, 4});
  EXPECT_THAT(fr, ElementsAre(10.f, 10.055347f, 10.47139f, 10.615555f, 10.981803f));
  // With a constant that is widened to f64, the result would be 10.098021.
  float x = .1f, y = 10.1f, probe = 0;
  call("guf_ew_discriminant_fff_f", {&x, &y, &x, &probe}, {1}, {4, 4, 4, 4});
  EXPECT_EQ(probe, 10.09802f);
}

TEST_P(ExampleKernels, DiscriminantHasTheBitsOfItsFormula) {
  constexpr size_t kCount = 10000;
  std::vector<float> a(kCount), b(kCount), c(kCount), r(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i % 997) / 997.f;
    b[i] = 10.f + static_cast<float>(i % 613) / 613.f;
    c[i] = static_cast<float>(i % 401) / 401.f;
  }
  call("guf_ew_discriminant_fff_f", {a.data(), b.data(), c.data(), r.data()}, {kCount},
       {4, 4, 4, 4});
  for (size_t i = 0; i < kCount; ++i) {
    const volatile float bb = b[i] * b[i], a4 = 4.f * a[i], ac4 = a4 * c[i], difference = bb - ac4;
    ASSERT_EQ(r[i], std::sqrt(difference)) << i;
  }
}

TEST_P(ExampleKernels, DeviceFunction) {
  std::vector<float> x = {2, 1.5f, .5f, 3, 10}, y = {3, 2.5f, -2, .5f, 0}, z = {4, .3f, 7, .1f, 3},
                     r(5);
  call("guf_ew_power_over_fff_f", {x.data(), y.data(), z.data(), r.data()}, {5}, {4, 4, 4, 4});
  const float expected[] = {2, 9.185586f, .5714286f, 17.320507f, .33333334f};
  // The error bound is the bound of pow, 1 ULP, plus the rounding of the division.
  EXPECT_THAT(r, Pointwise(FloatEq(), expected));
}

TEST_P(ExampleKernels, Matmulcore) {
  std::vector<int64_t> a = {0, 1, 2, 3, 4, 5}, b(12), c(8);
  for (int64_t i = 0; i < 12; ++i) b[static_cast<size_t>(i)] = i - 5;
  call("guf_gu_matmulcore_qq_q", {a.data(), b.data(), c.data()}, {1, 2, 3, 4},
       {0, 0, 0, 24, 8, 32, 8, 32, 8});
  EXPECT_THAT(c, ElementsAre(5, 8, 11, 14, -4, 8, 20, 32));
}

TEST_P(ExampleKernels, Foo) {
  std::vector<double> x = {0, 1, 2, 3, .5}, y(20);
  int64_t n = 4;
  call("guf_gu_foo_dq_d", {x.data(), &n, y.data()}, {5, 4}, {8, 0, 32, 8});
  EXPECT_THAT(y,
              ElementsAre(0, 0, 0, 0, 1, 2, 3, 4, 2, 4, 8, 16, 3, 6, 15, 42, .5, 1, 1.25, 1.375));
}

TEST_P(ExampleKernels, CumulativePower) {
  std::vector<float> rows = {1, 9, 9, 9, 2, 9, 9, 9, 3, 9, 9, 9, 4, 9, 9, 9};
  call("guf_gu_cumulative_power_f", {rows.data()}, {4, 4}, {16, 4});
  EXPECT_THAT(rows, ElementsAre(1, 2, 3, 4, 2, 6, 14, 30, 3, 12, 39, 120, 4, 20, 84, 340));
  std::vector<float> reversed = {9, 9, 9, 2};
  call("guf_gu_cumulative_power_f", {&reversed[3]}, {1, 4}, {0, -4});
  EXPECT_THAT(reversed, ElementsAre(30, 14, 6, 2));
  std::vector<float> columns = {2, 3, 0, 0, 0, 0};  // the columns of a (3,2) array
  call("guf_gu_cumulative_power_f", {columns.data()}, {2, 3}, {4, 8});
  EXPECT_THAT(columns, ElementsAre(2, 3, 6, 12, 14, 39));
  float third[3] = {1.1f, 0, 0};
  call("guf_gu_cumulative_power_f", {third}, {1, 3}, {0, 4});
  EXPECT_EQ(static_cast<double>(third[2]), 3.6410000324249268);  // computed in f32
}

TEST_P(ExampleKernels, Hermite) {
  std::vector<float> rows;
  for (int x = 0; x < 5; ++x) rows.insert(rows.end(), {1, static_cast<float>(x), 7, 7});
  call("guf_gu_hermite_f", {rows.data()}, {5, 4}, {16, 4});
  EXPECT_THAT(rows,
              ElementsAre(1, 0, -.70710677f, 0, 1, 1, 0, -.8164966f, 1, 2, 2.1213202f, .8164966f, 1,
                          3, 5.656854f, 7.3484693f, 1, 4, 10.606602f, 21.22891f));
  EXPECT_TRUE(std::signbit(rows[3]));
  double half[6] = {1, .5}, negative[6] = {1, -1.5};
  call("guf_gu_hermite_d", {half}, {1, 6}, {0, 8});
  EXPECT_THAT(half, ElementsAre(1, .5, -.5303300858899106, -.5613413993878117, .318943976924893,
                                .5733970523882208));
  call("guf_gu_hermite_d", {negative}, {1, 6}, {0, 8});
  EXPECT_THAT(negative, ElementsAre(1, -1.5, .8838834764831843, .4592793267718459,
                                    -1.1099250396986278, .3337684334797106));
}

TEST_P(ExampleKernels, MovingMean) {
  double a[10], means[10];
  for (int i = 0; i < 10; ++i) a[i] = i;
  int64_t window = 3;
  call("guf_gu_moving_mean_dq_d", {a, &window, means}, {1, 10}, {0, 0, 0, 8, 8});
  EXPECT_THAT(means, ElementsAre(0, .5, 1, 2, 3, 4, 5, 6, 7, 8));
  int64_t windows[] = {1, 2};
  double two[6];
  call("guf_gu_moving_mean_dq_d", {a, windows, two}, {2, 3}, {24, 8, 24, 8, 8});
  EXPECT_THAT(two, ElementsAre(0, 1, 2, 3, 3.5, 4.5));
}

TEST_P(ExampleKernels, Stencil) {
  double grid[4 * 5], inner[2 * 3];
  for (int i = 0; i < 20; ++i) grid[i] = i * i;
  for (int row = 0; row < 2; ++row) {
    call("guf_gu_stencil_d_d", {grid + 5 * row, inner + 3 * row}, {3, 3}, {8, 8, 40, 8});
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) {
      const double *at = grid + 5 * (i + 1) + j + 1;
      EXPECT_EQ(inner[3 * i + j], .25 * (at[-5] + at[-1] + at[1] + at[5]));
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, ExampleKernels,
                         testing::Range(0u, gufunc_module_v1_example_kernels.nimages),
                         [](const auto &row) {
                           return target_name(gufunc_module_v1_example_kernels, row.param);
                         });

}  // namespace
}  // namespace gufunc::gufcc
