// SPDX-License-Identifier: Apache-2.0
// Every function of the dialect's mathematics stays within its bar of MPFR's value. Built twice:
// for plain x86-64 and for a level with fused multiply-add, whose code differs.
#include <gtest/gtest.h>

#include "math_points.h"

namespace gufunc::test {
namespace {

class MathUlp : public testing::TestWithParam<MathRow> {
 protected:
  void SetUp() override {
#if defined(__AVX2__)
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "this processor has no AVX2 and FMA";
    }
#endif
  }
};

constexpr int kPoints = 4000;

TEST_P(MathUlp, F32StaysWithinItsBar) {
  const Worst worst = measure<float>(GetParam(), kPoints);
  EXPECT_LE(worst.error, GetParam().bar32) << std::hexfloat << "at " << worst.x << ", " << worst.y;
}

TEST_P(MathUlp, F64StaysWithinItsBar) {
  const Worst worst = measure<double>(GetParam(), kPoints);
  EXPECT_LE(worst.error, GetParam().bar64) << std::hexfloat << "at " << worst.x << ", " << worst.y;
}

INSTANTIATE_TEST_SUITE_P(Functions, MathUlp, testing::ValuesIn(math_rows()),
                         [](const auto &row) { return row.param.name; });

}  // namespace
}  // namespace gufunc::test
