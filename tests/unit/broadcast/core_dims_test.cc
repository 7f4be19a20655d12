// SPDX-License-Identifier: Apache-2.0
// Tests features of core dimensions that NumPy does not have: `|1`, rules in addition to the
// signature, dims=, and core dimensions that make outputs larger than inputs. Also tests that
// keepdims=, axes=, order='A' and error messages refer to the call as the caller wrote it, although
// the library moves core axes to the end. keepdims= also counts the optional core dimensions that
// are missing from the operands.
#include "core/broadcast/broadcast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/call_view_sample.h"

namespace gufunc {
namespace {

using testing::HasSubstr;
using Shape = std::vector<int64_t>;

struct Row {
  const char *name;
  const char *signature;
  const char *rules;
  int32_t nin;
  std::vector<View> operands;
  std::vector<guf_dim> dims;
  Shape output;  // shape of the first output
  guf_status status;
  const char *text;  // part of the expected error message
};

void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

// Makes a 0-d or 1-d operand whose values the library can read.
template <class T>
View value(const T &place, guf_dtype dtype, Shape shape = {}) {
  return {dtype, &place, std::move(shape), {}, 0};
}

const int64_t kFour = 4;
const int64_t kZero = 0;
const int64_t kNegative = -1;
const float kHalf = 2.5F;
const uint64_t kHuge = std::numeric_limits<uint64_t>::max();
const View kMissing = missing_operand();

const Row kRows[] = {
    {"StretchesOneWithBar",
     "(n|1),(n|1)->()",
     "",
     2,
     {shaped({5, 1}), shaped({3}), kMissing},
     {},
     {5},
     GUF_OK,
     ""},
    {"BarStretchesLaterInput",
     "(n|1),(n|1)->(n)",
     "",
     2,
     {shaped({4}), shaped({1}), kMissing},
     {},
     {4},
     GUF_OK,
     ""},
    {"BarDoesNotStretchOthers",
     "(n|1),(n|1)->()",
     "",
     2,
     {shaped({2}), shaped({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "Input operand 1 has a mismatch in its core dimension 0"},
    {"OneDoesNotStretchWithoutBar",
     "(n),(n)->()",
     "",
     2,
     {shaped({1}), shaped({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "(size 3 is different from 1); argument 1, axis 0: expected 1, got 3"},
    {"OutputOnlyFromOutput",
     "()->(n)",
     "",
     1,
     {shaped({2}), shaped({2, 7})},
     {},
     {2, 7},
     GUF_OK,
     ""},
    {"OutputOnlyFromDims",
     "()->(n)",
     "",
     1,
     {shaped({2}), kMissing},
     {{"n", 4}},
     {2, 4},
     GUF_OK,
     ""},
    {"OutputOnlyUnknown",
     "()->(n)",
     "",
     1,
     {shaped({2}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "f: Output operand 0 has core dimension 0 unspecified, with gufunc signature ()->(n)"},
    {"DimsAgainstOutput",
     "()->(n)",
     "",
     1,
     {shaped({2}), shaped({2, 7})},
     {{"n", 4}},
     {},
     GUF_E_SHAPE,
     "(size 7 is different from 4)"},
    {"DimsAgainstInput",
     "(n)->()",
     "",
     1,
     {shaped({3}), kMissing},
     {{"n", 4}},
     {},
     GUF_E_SHAPE,
     "dims= sets n to 4"},
    {"DimsNegative",
     "()->(n)",
     "",
     1,
     {shaped({2}), kMissing},
     {{"n", -4}},
     {},
     GUF_E_SHAPE,
     "expected at least 0"},
    {"DimsNamesNothing",
     "()->(n)",
     "",
     1,
     {shaped({2}), kMissing},
     {{"q", 4}},
     {},
     GUF_E_ARG,
     "dims= names q, which is not a core dimension of ()->(n)"},
    {"Expression",
     "(m,n)->(k)",
     "k=min(m,n)+1",
     1,
     {shaped({5, 3}), kMissing},
     {},
     {4},
     GUF_OK,
     ""},
    {"TwoExpressions",
     "(m)->(p),(q)",
     "q=m*2; p=m+1",
     1,
     {shaped({3}), kMissing, kMissing},
     {},
     {4},
     GUF_OK,
     ""},
    {"ExpressionAgainstOutput",
     "(m)->(p)",
     "p=m+1",
     1,
     {shaped({3}), shaped({5})},
     {},
     {},
     GUF_E_SHAPE,
     "(size 5 is different from 4)"},
    {"ExpressionNegative",
     "(m)->(p)",
     "p=m-4",
     1,
     {shaped({3}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "p=m-4"},
    {"ValueRule",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kFour, GUF_I64), kMissing},
     {},
     {2, 4},
     GUF_OK,
     ""},
    {"ValueRuleOfOneInAnArray",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kFour, GUF_I64, {1}), kMissing},
     {},
     {2, 4},
     GUF_OK,
     ""},
    {"ValueRuleZero",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kZero, GUF_I64), kMissing},
     {},
     {2, 0},
     GUF_OK,
     ""},
    {"ValueRuleNegative",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kNegative, GUF_I64), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "the rule n=value(1) needs a size"},
    {"ValueRuleNoInteger",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kHalf, GUF_F32), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected an integer"},
    {"ValueRuleTooLarge",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kHuge, GUF_U64), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected an integer"},
    {"ValueRuleSeveral",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kFour, GUF_I64, {2}), kMissing},
     {},
     {},
     GUF_E_VALUE,
     "expected 1 values, got 2"},
    {"ValueRuleAgainstOutput",
     "(),()->(n)",
     "n=value(1)",
     2,
     {shaped({2}), value(kFour, GUF_I64), shaped({2, 5})},
     {},
     {},
     GUF_E_SHAPE,
     "(size 5 is different from 4)"},
    {"OutputLargerThanInputs",
     "(n)->(n)",
     "",
     1,
     {shaped({3}), shaped({6, 3})},
     {},
     {6, 3},
     GUF_OK,
     ""},
    {"FrozenMismatch",
     "(3)->()",
     "",
     1,
     {shaped({2}), kMissing},
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
     {shaped({2}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "Input operand 0 does not have enough dimensions (has 1, gufunc core with signature (m,n)->() "
     "requires 2)"},
    {"ProductOverflows",
     "",
     "",
     2,
     {shaped({INT64_MAX / 8, 1}), shaped({1, 4096}), kMissing},
     {},
     {},
     GUF_E_SHAPE,
     "iterator is too large"},
};

class CoreDims : public testing::TestWithParam<Row> {};

TEST_P(CoreDims, ReturnsTheShapeOrTheReason) {
  const Row &row = GetParam();
  CallViewSample call("f", row.signature, row.rules, row.nin, row.operands);
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
  CallViewSample call("f", "(),()->(n)", "n=value(1)", 2, {shaped({2}), shaped({}), kMissing});
  op::OperandView &operand = call.view().operand[1];
  operand.kind = GUF_OPERAND_WEAK_INT;
  operand.value[0] = 6;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  ASSERT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(loop->core_size[0], 6);
}

TEST(CoreDims, ValueRuleReadsNoDeviceMemory) {
  CallViewSample call("f", "(),()->(n)", "n=value(1)", 2,
                      {shaped({2}), value(kFour, GUF_I64), kMissing});
  call.view().operand[1].flags |= op::kDeviceMemory;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error),
            GUF_E_DEVICE_MISMATCH);
}

TEST(CoreDims, ElementwiseTakesNoAxes) {
  CallViewSample call("add", "", "", 2, {shaped({2}), shaped({2}), kMissing});
  call.args.flags = GUF_CALL_KEEPDIMS;
  const auto loop = std::make_unique<broadcast::LoopShape>();
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), loop.get(), &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::StartsWith("add() got an unexpected keyword argument 'keepdims'"));
}

TEST(PermutedCall, KeepdimsCountsMissingDimensions) {
  CallViewSample call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                      {shaped({3}), shaped({3}), kMissing});
  call.args.flags = GUF_CALL_KEEPDIMS;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::HasSubstr("requires output 0 to have 2 core dimensions"));
}

TEST(PermutedCall, KeepdimsNamesTheFirstMismatchOfTheSignature) {
  CallViewSample call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                      {shaped({3}), shaped({3, 2}), kMissing});
  call.args.flags = GUF_CALL_KEEPDIMS;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::HasSubstr("requires output 0 to have 2 core dimensions"));
}

// Calls a function with axes=, where entry k contains counts[k] valid axes. Returns the error.
guf_error refuse_axes(const char *name, const char *signature, int64_t ndim,
                      const std::vector<int32_t> &counts) {
  const std::vector<int64_t> shape(static_cast<size_t>(ndim), 2);
  CallViewSample call(name, signature, "", 2, {shaped(shape), shaped(shape), kMissing});
  const int64_t axes[] = {0, 1, -1};
  std::vector<guf_core_axes> entries;
  for (const int32_t count : counts) entries.push_back({axes, count, 0});
  call.args.axes = entries.data();
  call.args.naxes = static_cast<int32_t>(entries.size());
  broadcast::LoopShape loop;
  const guf_status status = broadcast::broadcast_operands(call.view(), &loop, &call.error);
  EXPECT_NE(status, GUF_OK);
  EXPECT_EQ(status, call.error.status);
  return call.error;
}

TEST(PermutedCall, AxesHaveAnEntryForEachOperand) {
  const char text[] =
      "axes should be a list with an entry for all 3 inputs and outputs; entries "
      "for outputs can only be omitted if none of them has core axes.; naxes: expected 3, got ";
  const auto vecdot = [](const std::vector<int32_t> &counts) {
    return refuse_axes("vecdot", "(n),(n)->()", 1, counts);
  };
  const auto matmul = [](const std::vector<int32_t> &counts) {
    return refuse_axes("matmul", "(n?,k),(k,m?)->(n?,m?)", 2, counts);
  };
  EXPECT_EQ(vecdot({1}).message, std::string(text) + "1");
  EXPECT_EQ(vecdot({1, 1, 0, 0}).message, std::string(text) + "4");
  EXPECT_EQ(matmul({2, 2}).message, std::string(text) + "2");
  EXPECT_EQ(matmul({2, 2}).status, GUF_E_ARG);
}

TEST(PermutedCall, EachEntryHasTheAxesOfItsOperand) {
  const guf_error input =
      refuse_axes("matmul", "(n?,k),(k,m?)->(n?,m?)", 2, {2, 3, 1});  // the total, 6, is correct
  EXPECT_EQ(input.status, GUF_E_AXIS);
  EXPECT_EQ(input.argument, 1);
  EXPECT_STREQ(input.message,
               "matmul: operand 1 has 2 core dimensions, but 3 dimensions are specified by axes "
               "tuple.");
  const guf_error output = refuse_axes("vecdot", "(n),(n)->()", 1, {1, 1, 1});
  EXPECT_STREQ(output.message,
               "vecdot: operand 2 has 0 core dimensions, but 1 dimensions are specified by axes "
               "tuple.");
  // An optional dimension that is missing from a vector needs no axis.
  EXPECT_STREQ(refuse_axes("matmul", "(n?,k),(k,m?)->(n?,m?)", 1, {1, 1, 1}).message,
               "matmul: operand 2 has 0 core dimensions, but 1 dimensions are specified by axes "
               "tuple.");
}

TEST(PermutedCall, TextsNameTheCallersAxes) {
  // The core axis of the output is its first axis. The loop dimension is therefore axis 1, which
  // has extent 1 instead of 4.
  const int64_t last = -1, first = 0;
  const guf_core_axes axes[] = {{&last, 1, 0}, {&last, 1, 0}, {&first, 1, 0}};
  CallViewSample call("like", "(n),(n)->(n)", "", 2, {shaped({4, 3}), shaped({3}), shaped({3, 1})});
  call.args.axes = axes;
  call.args.naxes = 3;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_SHAPE);
  EXPECT_STREQ(call.error.message,
               "non-broadcastable output operand with shape (3,1) doesn't match the broadcast "
               "shape (4,3); argument 2, axis 1: expected 4, got 1");
}

TEST(PermutedCall, MismatchesCountExistingDimensions) {
  CallViewSample call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                      {shaped({3}), shaped({3, 2}), shaped({5})});
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_SHAPE);
  EXPECT_THAT(
      call.error.message,
      testing::StartsWith("matmul: Output operand 0 has a mismatch in its core dimension 0, "
                          "with gufunc signature (n?,k),(k,m?)->(n?,m?) (size 5 is "
                          "different from 2)"));
}

TEST(PermutedCall, OrderAnyUsesTheCallersAxes) {
  // The input is C-contiguous with the caller's axes, but F-contiguous after the core axis is moved
  // to the end.
  const int64_t axis = 0;
  CallViewSample call("same", "(n)->(n)", "", 1, {shaped({4, 3}, {24, 8}), kMissing});
  call.args.axis = &axis;
  call.args.order = GUF_ORDER_ANY;
  broadcast::LoopShape loop;
  ASSERT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_OK)
      << call.error.message;
  const int64_t shape[] = {3, 4};  // the core axis is last
  int64_t strides[2] = {};
  call.view().operand[1].layout.dtype = GUF_F64;
  ASSERT_EQ(broadcast::result_strides(call.view(), loop, 1, 2, shape, strides, &call.error),
            GUF_OK);
  EXPECT_EQ(strides[1], 8);
}

}  // namespace

}  // namespace gufunc
