// SPDX-License-Identifier: Apache-2.0
// Tests `at`: unbuffered updates, arbitrary indices, overlapping operands, and loops of mixed
// dtypes.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;

TEST(AtCall, EveryOccurrenceCounts) {
  std::vector<double> data(4, 0.0);
  const std::vector<int64_t> index = {0, 0, -1, 0};
  const double one = 1;
  At at("add", view(GUF_F64, data));
  at.index(view(GUF_I64, index));
  at.with({GUF_F64, &one, {}, {}, 0});
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(3, 0, 0, 1));
}

TEST(AtCall, OrderIsThatOfTheIndices) {
  std::vector<double> data = {1, 1};
  const std::vector<int64_t> index = {0, 0, 1, 0};
  const std::vector<double> operand = {10, 2, 3, 4};
  At at("subtract", view(GUF_F64, data));
  at.index(view(GUF_I64, index));
  at.with(view(GUF_F64, operand));
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(-15, -2));
  std::vector<int64_t> powers = {2};
  const std::vector<int64_t> twice = {0, 0};
  const std::vector<int64_t> exponents = {3, 2};
  At power("power", view(GUF_I64, powers));
  power.index(view(GUF_I64, twice));
  power.with(view(GUF_I64, exponents));
  ASSERT_EQ(power.run(), GUF_OK) << power.error.message;
  EXPECT_THAT(powers, ElementsAre(64));
}

TEST(AtCall, UnaryUfuncsTakeNoOperand) {
  std::vector<int64_t> data = {16, 16, 4};
  const std::vector<int32_t> index = {0, 0, 2};
  At at("sqrt", view(GUF_I64, data));
  at.index(view(GUF_I32, index));
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(2, 16, 2));
}

TEST(AtCall, IndicesBroadcastAndRowsFollow) {
  std::vector<double> data(12, 0.0);
  const std::vector<int64_t> rows = {0, 2};
  const std::vector<double> operand = {1, 2, 3, 4};
  At at("add", matrix(GUF_F64, data, 3, 4));
  at.index(view(GUF_I64, rows));
  at.with(view(GUF_F64, operand));
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4));
  std::vector<double> grid(6, 0.0);
  const std::vector<int64_t> columns = {0, -1, -1};
  const double one = 1;
  At both("add", matrix(GUF_F64, grid, 2, 3));
  both.index({GUF_I64, rows.data(), {1, 1}, {}, 0});
  both.index(view(GUF_I64, columns));
  both.with({GUF_F64, &one, {}, {}, 0});
  ASSERT_EQ(both.run(), GUF_OK) << both.error.message;
  EXPECT_THAT(grid, ElementsAre(1, 0, 2, 0, 0, 0));
}

// The index array selects 2^62 elements, so the list of their offsets would not fit into memory.
// The computation of its size must not overflow.
TEST(AtCall, IndicesThatBroadcastBeyondMemoryAreRefused) {
  std::vector<double> data(4, 1.0);
  const int64_t zero = 0;
  const int64_t wide = int64_t{1} << 31;
  const double one = 1;
  At at("add", matrix(GUF_F64, data, 2, 2));
  at.index({GUF_I64, &zero, {wide, 1}, {0, 0}, 0});
  at.index({GUF_I64, &zero, {1, wide}, {0, 0}, 0});
  at.with({GUF_F64, &one, {}, {}, 0});
  EXPECT_EQ(at.run(), GUF_E_NO_MEMORY) << at.error.message;
  EXPECT_THAT(data, ElementsAre(1, 1, 1, 1));
}

TEST(AtCall, NoIndexMeansTheWholeArray) {
  std::vector<double> data = {1, 2};
  const double one = 1;
  At at("add", view(GUF_F64, data));
  at.with({GUF_F64, &one, {}, {}, 0});
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(2, 3));
}

TEST(AtCall, OperandsAndIndicesMayBeTheArray) {
  std::vector<int64_t> data = {0, 1, 2, 3};
  At at("add", view(GUF_I64, data));
  at.index(view(GUF_I64, data));
  at.with(view(GUF_I64, data));
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(0, 2, 4, 6));
  std::vector<double> shifted = {0, 1, 2, 3};
  const std::vector<int64_t> index = {0, 1, 2};
  At overlap("add", view(GUF_F64, shifted));
  overlap.index(view(GUF_I64, index));
  overlap.with({GUF_F64, shifted.data() + 1, {3}, {}, 0});
  ASSERT_EQ(overlap.run(), GUF_OK) << overlap.error.message;
  EXPECT_THAT(shifted, ElementsAre(1, 3, 5, 3));
}

TEST(AtCall, CastsInAndOutUnsafely) {
  std::vector<uint8_t> data = {0, 0};
  const std::vector<int64_t> index = {0, 1, 1};
  At at("add", view(GUF_U8, data));
  at.index(view(GUF_I64, index));
  at.args.operand = at.weak_int(300);  // `at` has no weak scalars, so the int is converted to int64
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(44, 88));
}

TEST(AtCall, MixedLoopsRunIndexByIndex) {
  std::vector<double> data = {1, 5, 1};
  const std::vector<int64_t> index = {0, 1, 0};
  const std::vector<double> operand = {2, 2, 0.5};
  At less("less", view(GUF_F64, data));
  less.index(view(GUF_I64, index));
  less.with(view(GUF_F64, operand));
  ASSERT_EQ(less.run(), GUF_OK) << less.error.message;
  EXPECT_THAT(data, ElementsAre(0, 0, 1));  // computes 1 < 2, 5 < 2, and then 1 < 0.5
  std::vector<double> rows = {1, 2, 3, 4};
  const std::vector<int64_t> last = {1};
  const double three = 3;
  At row("greater", matrix(GUF_F64, rows, 2, 2));
  row.index(view(GUF_I64, last));
  row.with({GUF_F64, &three, {}, {}, 0});
  ASSERT_EQ(row.run(), GUF_OK) << row.error.message;
  EXPECT_THAT(rows, ElementsAre(1, 2, 0, 1));
}

TEST(AtCall, EmptyIndicesChangeNothing) {
  std::vector<double> data = {1, 2};
  const int64_t nothing = 0;
  const double one = 1;
  At at("add", view(GUF_F64, data));
  at.index({GUF_I64, &nothing, {0}, {}, 0});
  at.with({GUF_F64, &one, {}, {}, 0});
  ASSERT_EQ(at.run(), GUF_OK) << at.error.message;
  EXPECT_THAT(data, ElementsAre(1, 2));
}

}  // namespace
}  // namespace gufunc
