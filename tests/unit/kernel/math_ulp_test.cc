// SPDX-License-Identifier: Apache-2.0
// Tests that every mathematical function of the dialect stays within its error bound relative to
// MPFR. The test is built twice: for plain x86-64, and for an ISA level with fused multiply-add,
// which uses different code.
#include "fused_level.h"
#include "math_points.h"

namespace gufunc::test {
namespace {

using MathUlp = AtItsLevel<MathRow>;

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
