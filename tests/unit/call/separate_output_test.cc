// SPDX-License-Identifier: Apache-2.0
// Tests inout operands with separate outputs, which may overlap any operand.
#include <gmock/gmock.h>

#include <cstring>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

// Computes y[k] = x[0] * ... * x[k] in place.
void multiply_up(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    char *const row = args[0] + item * steps[0];
    for (int64_t k = 1; k < dims[1]; ++k) {
      *reinterpret_cast<double *>(row + k * steps[1]) *=
          *reinterpret_cast<double *>(row + (k - 1) * steps[1]);
    }
  }
}

guf_ufunc cumulative() {
  static const guf_ufunc ufunc =
      make_ufunc("cumulative", "(n)", 0, 0, {GUF_ROLE_INOUT}, multiply_up, {GUF_F64});
  return ufunc;
}

TEST(SeparateOutput, InPlace) {
  std::vector<double> x = {1, 2, 3, 4};
  Call call(cumulative());
  call.in(view(GUF_F64, x));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(x, ElementsAre(1, 2, 6, 24));
}

TEST(SeparateOutput, IntoAnotherArray) {
  const std::vector<double> x = {1, 2, 3, 4};
  std::vector<double> y(4);
  Call call(cumulative());
  call.in(view(GUF_F64, x)).out(view(GUF_F64, y));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(y, ElementsAre(1, 2, 6, 24));
}

TEST(SeparateOutput, AllocatedFromReadOnlyIntegers) {
  const std::vector<int32_t> x = {2, 3, 4};
  Call call(cumulative());
  call.in({GUF_I32, x.data(), {3}, {}, GUF_TENSOR_READ_ONLY}).out_missing();
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(elements_of<double>(call.outputs[0]), ElementsAre(2, 6, 24));
  guf_array_release(call.outputs[0].array, nullptr);
}

TEST(SeparateOutput, OfAnotherTypeIsRoundedOnce) {
  const std::vector<double> x = {1e30, 1e30, 1e-30};
  std::vector<float> y(3);
  Call call(cumulative());
  call.in(view(GUF_F64, x)).out(view(GUF_F32, y));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(y[2], 1e30F);  // an intermediate float32 would overflow
}

TEST(SeparateOutput, OverlappingItsOperand) {
  std::vector<double> x = {1, 2, 3, 4, 5};
  Call call(cumulative());
  call.in({GUF_F64, x.data(), {4}, {}, 0}).out({GUF_F64, x.data() + 1, {4}, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(x, ElementsAre(1, 1, 2, 6, 24));
}

// Computes x, y = y, x + z in place. z is only read.
void swap_and_add(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t k = 0; k < dims[0]; ++k) {
    auto *const x = reinterpret_cast<double *>(args[0] + k * steps[0]);
    auto *const y = reinterpret_cast<double *>(args[1] + k * steps[1]);
    const double sum = *x + *reinterpret_cast<double *>(args[2] + k * steps[2]);
    *x = *y;
    *y = sum;
  }
}

guf_ufunc swapping() {
  static const guf_ufunc ufunc =
      make_ufunc("swap_and_add", "(),(),()", 0, 0, {GUF_ROLE_INOUT, GUF_ROLE_INOUT, GUF_ROLE_IN},
                 swap_and_add, {GUF_F64, GUF_F64, GUF_F64});
  return ufunc;
}

// Each output overlaps an input, or the operand of another output. No output may be written before
// the operands that it overlaps are copied.
TEST(SeparateOutput, OverlappingOtherOperands) {
  std::vector<double> x = {1, 2, 3}, y = {10, 20, 30}, z = {100, 200, 300};
  Call overlapping(swapping());
  overlapping.in(view(GUF_F64, x)).in(view(GUF_F64, y)).in(view(GUF_F64, z));
  overlapping.out(view(GUF_F64, y)).out(view(GUF_F64, x));
  ASSERT_EQ(overlapping.run(), GUF_OK) << overlapping.error.message;
  EXPECT_THAT(y, ElementsAre(10, 20, 30));
  EXPECT_THAT(x, ElementsAre(101, 202, 303));
  x = {1, 2, 3};
  Call onto_input(swapping());
  onto_input.in(view(GUF_F64, x)).in(view(GUF_F64, y)).in(view(GUF_F64, z));
  onto_input.out(view(GUF_F64, z)).out(view(GUF_F64, x));
  ASSERT_EQ(onto_input.run(), GUF_OK) << onto_input.error.message;
  EXPECT_THAT(z, ElementsAre(10, 20, 30));
  EXPECT_THAT(x, ElementsAre(101, 202, 303));
  std::vector<double> shared = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> zero(4);
  Call shifted(swapping());
  shifted.in({GUF_F64, shared.data(), {4}, {}, 0}).in({GUF_F64, &shared[4], {4}, {}, 0});
  shifted.in(view(GUF_F64, zero));
  shifted.out({GUF_F64, &shared[2], {4}, {}, 0}).out({GUF_F64, &shared[6], {4}, {}, 0});
  ASSERT_EQ(shifted.run(), GUF_OK) << shifted.error.message;
  EXPECT_THAT(shared, ElementsAre(0, 1, 4, 5, 6, 7, 0, 1, 2, 3));
}

// The call starts with the operand's values in the rows that the mask selects. All other rows of
// the output keep their old values, even if the dtype of the loop cannot represent these values.
TEST(SeparateOutput, UnderAMask) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6};
  const std::vector<uint8_t> mask = {1, 0};
  std::vector<double> y = {7, 7, 7, 8, 8, 8};
  Call call(cumulative());
  call.in({GUF_F64, x.data(), {2, 3}, {}, 0}).out({GUF_F64, y.data(), {2, 3}, {}, 0});
  call.where(view(GUF_BOOL, mask));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(y, ElementsAre(1, 2, 6, 8, 8, 8));
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4, 5, 6));
  constexpr int64_t kOdd = (int64_t{1} << 53) + 1;
  std::vector<int64_t> whole(6, kOdd);
  Call cast(cumulative());
  cast.in({GUF_F64, x.data(), {2, 3}, {}, 0}).out({GUF_I64, whole.data(), {2, 3}, {}, 0});
  cast.where(view(GUF_BOOL, mask));
  cast.args.casting = GUF_CASTING_UNSAFE;
  ASSERT_EQ(cast.run(), GUF_OK) << cast.error.message;
  EXPECT_THAT(whole, ElementsAre(1, 2, 6, kOdd, kOdd, kOdd));
}

// The core axis is the first axis. The operand is broadcast along the loop dimension.
TEST(SeparateOutput, UnderAMaskWithTransposedAxes) {
  const std::vector<float> x = {2, 3};
  const std::vector<uint8_t> mask = {0, 1, 1};
  std::vector<double> y(6, 9);
  const int64_t first = 0;
  const guf_core_axes axes = {&first, 1, 0};
  Call call(cumulative());
  call.in({GUF_F32, x.data(), {2, 1}, {}, 0}).out({GUF_F64, y.data(), {2, 3}, {}, 0});
  call.where(view(GUF_BOOL, mask));
  call.args.axes = &axes;
  call.args.naxes = 1;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(y, ElementsAre(9, 2, 2, 9, 6, 6));
}

// The mask shares memory with the first output, which is written before the second output.
TEST(SeparateOutput, OverTheMask) {
  std::vector<double> x = {1, 2, 3}, y = {10, 20, 30}, z = {100, 200, 300}, a(3), b = {7, 7, 7};
  const uint8_t mask[] = {0, 1, 1};
  std::memcpy(a.data(), mask, sizeof mask);
  const double first = a[0];
  Call call(swapping());
  call.in(view(GUF_F64, x)).in(view(GUF_F64, y)).in(view(GUF_F64, z));
  call.out(view(GUF_F64, a)).out(view(GUF_F64, b)).where({GUF_BOOL, a.data(), {3}, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(a, ElementsAre(first, 20, 30));
  EXPECT_THAT(b, ElementsAre(7, 202, 303));
}

TEST(SeparateOutput, RefusalLeavesItUntouched) {
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> y = {7, 7};
  Call call(cumulative());
  call.in(view(GUF_F64, x)).out(view(GUF_F64, y));
  EXPECT_EQ(call.run(), GUF_E_SHAPE);
  EXPECT_THAT(call.error.message,
              StartsWith("could not broadcast input array from shape (3,) into shape (2,)"));
  EXPECT_THAT(y, ElementsAre(7, 7));
}

TEST(SeparateOutput, ThatOverlapOneAnotherAreRefused) {
  std::vector<double> x = {1, 2, 3}, y = {7, 7, 7, 7};
  const double zero = 0;
  Call call(swapping());
  call.in(view(GUF_F64, x)).in(view(GUF_F64, x)).in({GUF_F64, &zero, {}, {}, 0});
  call.out({GUF_F64, y.data(), {3}, {}, 0}).out({GUF_F64, &y[1], {3}, {}, 0});
  EXPECT_EQ(call.run(), GUF_E_OVERLAP);
  EXPECT_THAT(call.error.message,
              StartsWith("argument 4 shares memory with argument 3: both are written"));
  EXPECT_THAT(y, ElementsAre(7, 7, 7, 7));
}

}  // namespace
}  // namespace gufunc
