// SPDX-License-Identifier: Apache-2.0
// Tests that keepdims=, axes=, order='A' and error messages refer to the call as the caller wrote
// it, although the library moves core axes to the end. keepdims= also counts the optional core
// dimensions that are missing from the operands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/broadcast/broadcast.h"
#include "tests/unit/call_sample.h"

namespace gufunc {
namespace {

TEST(PermutedCall, KeepdimsCountsMissingDimensions) {
  sample::Call call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                    {{{3}, {}}, {{3}, {}}, sample::missing()});
  call.args.flags = GUF_CALL_KEEPDIMS;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_ARG);
  EXPECT_THAT(call.error.message,
              testing::HasSubstr("requires output 0 to have 2 core dimensions"));
}

TEST(PermutedCall, KeepdimsNamesTheFirstMismatchOfTheSignature) {
  sample::Call call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                    {{{3}, {}}, {{3, 2}, {}}, sample::missing()});
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
  sample::Call call(name, signature, "", 2, {{shape, {}}, {shape, {}}, sample::missing()});
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
  sample::Call call("like", "(n),(n)->(n)", "", 2, {{{4, 3}, {}}, {{3}, {}}, {{3, 1}, {}}});
  call.args.axes = axes;
  call.args.naxes = 3;
  broadcast::LoopShape loop;
  EXPECT_EQ(broadcast::broadcast_operands(call.view(), &loop, &call.error), GUF_E_SHAPE);
  EXPECT_STREQ(call.error.message,
               "non-broadcastable output operand with shape (3,1) doesn't match the broadcast "
               "shape (4,3); argument 2, axis 1: expected 4, got 1");
}

TEST(PermutedCall, MismatchesCountExistingDimensions) {
  sample::Call call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                    {{{3}, {}}, {{3, 2}, {}}, {{5}, {}}});
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
  sample::Call call("same", "(n)->(n)", "", 1, {{{4, 3}, {24, 8}}, sample::missing()});
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
