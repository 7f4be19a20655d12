// SPDX-License-Identifier: Apache-2.0
// Tests features of core dimensions that NumPy does not have: `|1`, rules in addition to the
// signature, dims=, and core dimensions that make outputs larger than inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/broadcast/broadcast.h"
#include "tests/unit/call_sample.h"

namespace gufunc {
namespace {

using testing::HasSubstr;
using Shape = std::vector<int64_t>;

struct Row {
  const char *name;
  const char *signature;
  const char *rules;
  int32_t nin;
  std::vector<sample::Operand> operands;
  std::vector<guf_dim> dims;
  Shape output;  // shape of the first output
  guf_status status;
  const char *text;  // part of the expected error message
};

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

sample::Operand given(Shape shape) {
  return {std::move(shape), {}};
}

// Makes a 0-d or 1-d operand whose values the library can read.
template <class T>
sample::Operand value(const T &place, guf_dtype dtype, Shape shape = {}) {
  sample::Operand operand = {std::move(shape), {}, dtype};
  operand.address = reinterpret_cast<uint64_t>(&place);
  return operand;
}

const int64_t kFour = 4;
const int64_t kZero = 0;
const int64_t kNegative = -1;
const float kHalf = 2.5F;
const uint64_t kHuge = std::numeric_limits<uint64_t>::max();
const sample::Operand kMissing = sample::missing();

const Row kRows[] = {
    {"StretchesOneWithBar",
     "(n|1),(n|1)->()",
     "",
     2,
     {given({5, 1}), given({3}), kMissing},
     {},
     {5},
     GUF_OK,
     ""},
    {"BarStretchesLaterInput",
     "(n|1),(n|1)->(n)",
     "",
     2,
     {given({4}), given({1}), kMissing},
     {},
     {4},
     GUF_OK,
     ""},
    {"BarDoesNotStretchOthers",
     "(n|1),(n|1)->()",
     "",
     2,
     {given({2}), given({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "Input operand 1 has a mismatch in its core dimension 0"},
    {"OneDoesNotStretchWithoutBar",
     "(n),(n)->()",
     "",
     2,
     {given({1}), given({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "(size 3 is different from 1); argument 1, axis 0: expected 1, got 3"},
    {"OutputOnlyFromOutput", "()->(n)", "", 1, {given({2}), given({2, 7})}, {}, {2, 7}, GUF_OK, ""},
    {"OutputOnlyFromDims",
     "()->(n)",
     "",
     1,
     {given({2}), kMissing},
     {{"n", 4}},
     {2, 4},
     GUF_OK,
     ""},
    {"OutputOnlyUnknown",
     "()->(n)",
     "",
     1,
     {given({2}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "f: Output operand 0 has core dimension 0 unspecified, with gufunc signature ()->(n)"},
    {"DimsAgainstOutput",
     "()->(n)",
     "",
     1,
     {given({2}), given({2, 7})},
     {{"n", 4}},
     {},
     GUF_E_SHAPE,
     "(size 7 is different from 4)"},
    {"DimsAgainstInput",
     "(n)->()",
     "",
     1,
     {given({3}), kMissing},
     {{"n", 4}},
     {},
     GUF_E_SHAPE,
     "dims= sets n to 4"},
    {"DimsNegative",
     "()->(n)",
     "",
     1,
     {given({2}), kMissing},
     {{"n", -4}},
     {},
     GUF_E_SHAPE,
     "expected at least 0"},
    {"DimsNamesNothing",
     "()->(n)",
     "",
     1,
     {given({2}), kMissing},
     {{"q", 4}},
     {},
     GUF_E_ARG,
     "dims= names q, which is not a core dimension of ()->(n)"},
    {"Expression", "(m,n)->(k)", "k=min(m,n)+1", 1, {given({5, 3}), kMissing}, {}, {4}, GUF_OK, ""},
    {"TwoExpressions",
     "(m)->(p),(q)",
     "q=m*2; p=m+1",
     1,
     {given({3}), kMissing, kMissing},
     {},
     {4},
     GUF_OK,
     ""},
    {"ExpressionAgainstOutput",
     "(m)->(p)",
     "p=m+1",
     1,
     {given({3}), given({5})},
     {},
     {},
     GUF_E_SHAPE,
     "(size 5 is different from 4)"},
    {"ExpressionNegative",
     "(m)->(p)",
     "p=m-4",
     1,
     {given({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "p=m-4"},
    {"ValueRule",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kFour, GUF_I64), kMissing},
     {},
     {2, 4},
     GUF_OK,
     ""},
    {"ValueRuleOfOneInAnArray",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kFour, GUF_I64, {1}), kMissing},
     {},
     {2, 4},
     GUF_OK,
     ""},
    {"ValueRuleZero",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kZero, GUF_I64), kMissing},
     {},
     {2, 0},
     GUF_OK,
     ""},
    {"ValueRuleNegative",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kNegative, GUF_I64), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "the rule n=value(1) needs a size"},
    {"ValueRuleNoInteger",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kHalf, GUF_F32), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected an integer"},
    {"ValueRuleTooLarge",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kHuge, GUF_U64), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected an integer"},
    {"ValueRuleSeveral",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kFour, GUF_I64, {2}), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected 1 values, got 2"},
    {"ValueRuleAgainstOutput",
     "(),()->(n)",
     "n=value(1)",
     2,
     {given({2}), value(kFour, GUF_I64), given({2, 5})},
     {},
     {},
     GUF_E_SHAPE,
     "(size 5 is different from 4)"},
    {"OutputLargerThanInputs",
     "(n)->(n)",
     "",
     1,
     {given({3}), given({6, 3})},
     {},
     {6, 3},
     GUF_OK,
     ""},
    {"FrozenMismatch",
     "(3)->()",
     "",
     1,
     {given({2}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "Input operand 0 has a mismatch in its core dimension 0, with gufunc signature (3)->() (size "
     "2 is different "
     "from 3)"},
    {"TooFewDimensions",
     "(m,n)->()",
     "",
     1,
     {given({2}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "Input operand 0 does not have enough dimensions (has 1, gufunc core with signature (m,n)->() "
     "requires 2)"},
    {"ProductOverflows",
     "",
     "",
     2,
     {given({INT64_MAX / 8, 1}), given({1, 4096}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "iterator is too large"},
};

class CoreDims : public testing::TestWithParam<Row> {};

TEST_P(CoreDims, ReturnsTheShapeOrTheReason) {
  const Row &row = GetParam();
  sample::Call call("f", row.signature, row.rules, row.nin, row.operands);
  ASSERT_EQ(call.status, GUF_OK) << call.error.message;
  call.args.dims = row.dims.data();
  call.args.ndims = static_cast<int32_t>(row.dims.size());
  const auto loop = std::make_unique<broadcast::LoopShape>();
  const guf_status status = broadcast::broadcast_operands(call.view(), loop.get(), &call.error);
  EXPECT_EQ(status, row.status) << call.error.message;
  if (status != GUF_OK) {
    EXPECT_THAT(call.error.message, HasSubstr(row.text));
    return;
  }
  int32_t ndim = 0;
  int64_t shape[GUF_MAX_NDIM];
  ASSERT_EQ(broadcast::caller_shape(call.view(), *loop, row.nin, &ndim, shape, &call.error),
            GUF_OK);
  EXPECT_EQ(Shape(shape, shape + ndim), row.output);
}

INSTANTIATE_TEST_SUITE_P(Rows, CoreDims, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

TEST(CoreDims, WeakValueIsReadAsGiven) {
  sample::Call call("f", "(),()->(n)", "n=value(1)", 2, {given({2}), given({}), kMissing});
  op::OperandView &operand = call.view().operand[1];
  operand.kind = GUF_OPERAND_WEAK_INT;
  operand.value[0] = 6;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  ASSERT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(loop->core_size[0], 6);
}

TEST(CoreDims, ValueRuleReadsNoDeviceMemory) {
  sample::Call call("f", "(),()->(n)", "n=value(1)", 2,
                    {given({2}), value(kFour, GUF_I64), kMissing});
  call.view().operand[1].flags |= op::kDeviceMemory;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error),
            GUF_E_DEVICE_MISMATCH);
}

TEST(CoreDims, ElementwiseTakesNoAxes) {
  sample::Call call("add", "", "", 2, {given({2}), given({2}), kMissing});
  call.args.flags = GUF_CALL_KEEPDIMS;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::StartsWith("add() got an unexpected keyword argument 'keepdims'"));
}

}  // namespace
}  // namespace gufunc
