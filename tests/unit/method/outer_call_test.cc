// SPDX-License-Identifier: Apache-2.0
// Tests outer, which applies an ordinary call to all pairs of elements.
#include <gmock/gmock.h>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;

TEST(OuterCall, PairsEverything) {
  const std::vector<int64_t> a = {1, 2};
  const std::vector<int64_t> b = {1, 10, 100};
  std::vector<int64_t> result(6);
  Call outer("multiply");
  outer.in(view(GUF_I64, a)).in(view(GUF_I64, b)).out(matrix(GUF_I64, result, 2, 3));
  outer.ready();
  ASSERT_EQ(guf_outer(outer.handle, &outer.args, &outer.error), GUF_OK) << outer.error.message;
  EXPECT_THAT(result, ElementsAre(1, 10, 100, 2, 20, 200));
}

TEST(OuterCall, AllocatesWithTheAxesOfBoth) {
  const std::vector<double> a(6, 1.0);
  const std::vector<double> b(4, 2.0);
  Call outer("add");
  outer.in(matrix(GUF_F64, a, 2, 3)).in(matrix(GUF_F64, b, 4, 1)).out_missing();
  outer.ready();
  ASSERT_EQ(guf_outer(outer.handle, &outer.args, &outer.error), GUF_OK) << outer.error.message;
  const guf_array_info info = info_of(outer.outputs[0]);
  ASSERT_EQ(info.ndim, 4);
  EXPECT_THAT(std::vector<int64_t>(info.shape, info.shape + 4), ElementsAre(2, 3, 4, 1));
  EXPECT_EQ(guf_array_release(outer.outputs[0].array, nullptr), GUF_OK);
}

// As in NumPy, a Python int becomes an int64 array first, so the result of int8 with a Python int
// is int64.
TEST(OuterCall, ScalarsAreNotWeak) {
  const std::vector<int8_t> a = {1};
  Call outer("multiply");
  outer.in(view(GUF_I8, a)).in(weak_int_of(300)).out_missing();
  outer.ready();
  ASSERT_EQ(guf_outer(outer.handle, &outer.args, &outer.error), GUF_OK) << outer.error.message;
  EXPECT_EQ(info_of(outer.outputs[0]).dtype, GUF_I64);
  EXPECT_EQ(guf_array_release(outer.outputs[0].array, nullptr), GUF_OK);
}

TEST(OuterCall, RefusesUfuncsThatAreNotBinary) {
  const std::vector<double> a = {1};
  Call unary("sin");
  unary.in(view(GUF_F64, a)).out_missing();
  unary.ready();
  EXPECT_EQ(guf_outer(unary.handle, &unary.args, &unary.error), GUF_E_VALUE);
  EXPECT_STREQ(unary.error.message, "outer product only supported for binary functions");
  Call matmul("matmul");
  matmul.in(view(GUF_F64, a)).in(view(GUF_F64, a)).out_missing();
  matmul.ready();
  EXPECT_EQ(guf_outer(matmul.handle, &matmul.args, &matmul.error), GUF_E_DTYPE);
  Call many("add");
  const View wide = {GUF_F64, a.data(), std::vector<int64_t>(33, 1), {}, 0};
  many.in(wide).in(wide).out_missing();
  many.ready();
  EXPECT_EQ(guf_outer(many.handle, &many.args, &many.error), GUF_E_SHAPE);
}

}  // namespace
}  // namespace gufunc
