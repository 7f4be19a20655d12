// SPDX-License-Identifier: Apache-2.0
// Tests that guf_resolve and guf_explain of methods report what the method does, and that they read
// no element.
#include <string>

#include "tests/support/requests.h"
#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

guf_resolution fresh() {
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  return resolution;
}

std::vector<int64_t> shape_of(const guf_resolution &resolution) {
  return {resolution.output_shapes[0], resolution.output_shapes[0] + resolution.output_ndims[0]};
}

template <class Args, class Explain>
std::string text_of(guf_ufunc ufunc, const Args &args, Explain explain) {
  uint64_t length = 0;
  EXPECT_EQ(explain(ufunc, &args, nullptr, &length, nullptr), GUF_E_BUFFER_TOO_SMALL);
  std::string text(length, '#');
  EXPECT_EQ(explain(ufunc, &args, text.data(), &length, nullptr), GUF_OK);
  EXPECT_EQ(text.size(), length);
  text.resize(text.size() - 1);
  return text;
}

// Returns an address of inaccessible memory, so that a read of an element is detected.
const void *unreadable() {
  return reinterpret_cast<const void *>(uint64_t{4096});
}

TEST(MethodQueries, ReduceReturnsTypesAndShape) {
  Reduce reduce("add", {GUF_I8, unreadable(), {3, 4, 5}, {}, 0});
  reduce.axes({0, 2});
  reduce.args.flags = GUF_CALL_KEEPDIMS;
  guf_resolution found = fresh();
  ASSERT_EQ(requests::resolve_reduce(reduce.handle, &reduce.args, &found, &reduce.error), GUF_OK)
      << reduce.error.message;
  EXPECT_EQ(found.noperands, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(found.loop_dtypes[i], static_cast<guf_dtype>(GUF_I64));
  EXPECT_EQ(found.dtypes[0], static_cast<guf_dtype>(GUF_I64));
  EXPECT_EQ(found.dtypes[1], static_cast<guf_dtype>(GUF_I8));
  EXPECT_EQ(found.dtypes[2], static_cast<guf_dtype>(GUF_I64));
  EXPECT_EQ(shape_of(found), std::vector<int64_t>({1, 4, 1}));
  EXPECT_EQ(reduce.output.kind, GUF_OPERAND_NONE);
}

TEST(MethodQueries, AccumulateAndReduceatReturnTheirLengths) {
  const MethodOperands ground;
  Accumulate scan("multiply", {GUF_F32, unreadable(), {3, 4}, {}, 0});
  scan.args.axis = 1;
  guf_resolution found = fresh();
  ASSERT_EQ(requests::resolve_accumulate(scan.handle, &scan.args, &found, &scan.error), GUF_OK);
  EXPECT_EQ(shape_of(found), std::vector<int64_t>({3, 4}));
  scan.args.indices = scan.tensor({GUF_I64, unreadable(), {9}, {}, 0});
  ASSERT_EQ(requests::resolve_reduceat(scan.handle, &scan.args, &found, &scan.error), GUF_OK);
  EXPECT_EQ(shape_of(found), std::vector<int64_t>({3, 9}));
  EXPECT_EQ(found.dtypes[2], static_cast<guf_dtype>(GUF_F32));
}

TEST(MethodQueries, AtDescribesTheArray) {
  At at("add", {GUF_F32, unreadable(), {6, 2}, {}, 0});
  at.index({GUF_I64, unreadable(), {5}, {}, 0});
  at.with({GUF_I8, unreadable(), {2}, {}, 0});
  guf_resolution found = fresh();
  ASSERT_EQ(requests::resolve_at(at.handle, &at.args, &found, &at.error), GUF_OK)
      << at.error.message;
  EXPECT_EQ(found.noperands, 3);
  EXPECT_EQ(found.dtypes[1], static_cast<guf_dtype>(GUF_I8));
  EXPECT_EQ(found.loop_dtypes[1], static_cast<guf_dtype>(GUF_F32));
  EXPECT_EQ(shape_of(found), std::vector<int64_t>({6, 2}));
  const std::string text = text_of(at.handle, at.args, requests::explain_at);
  EXPECT_NE(text.find("add.at on cpu: loop "), std::string::npos) << text;
  EXPECT_NE(text.find("indices of shape (5,) for the first 1 axes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("order: index by index, unbuffered\n"), std::string::npos) << text;
}

TEST(MethodQueries, OuterReturnsBothShapes) {
  Operands operands;
  const guf_operand inputs[] = {*operands.tensor({GUF_F32, unreadable(), {2}, {}, 0}),
                                *operands.tensor({GUF_F64, unreadable(), {3, 4}, {}, 0})};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = inputs;
  args.ninputs = 2;
  guf_resolution found = fresh();
  guf_error error = fresh_error();
  const guf_ufunc add = find_ufunc("add");
  ASSERT_EQ(requests::resolve_outer(add, &args, &found, &error), GUF_OK) << error.message;
  EXPECT_EQ(shape_of(found), std::vector<int64_t>({2, 3, 4}));
  const std::string text = text_of(add, args, requests::explain_outer);
  EXPECT_NE(text.find("argument 2: out, float64, shape (2,3,4), strides (96,32,8), to allocate\n"),
            std::string::npos)
      << text;
}

TEST(MethodQueries, FailLikeTheMethodButForValuesInMemory) {
  const MethodOperands ground;
  Reduce reduce("maximum", ground.input({0}));
  guf_resolution found = fresh();
  EXPECT_EQ(requests::resolve_reduce(reduce.handle, &reduce.args, &found, &reduce.error),
            GUF_E_VALUE);
  EXPECT_STREQ(reduce.error.message,
               "zero-size array to reduction operation maximum which has no identity");
  EXPECT_EQ(requests::resolve_reduce(reduce.handle, &reduce.args, nullptr, &reduce.error),
            GUF_E_ARG);
  uint64_t length = 0;
  EXPECT_EQ(requests::explain_reduce(reduce.handle, &reduce.args, nullptr, nullptr, nullptr),
            GUF_E_ARG);
  EXPECT_EQ(requests::explain_reduce(reduce.handle, &reduce.args, nullptr, &length, nullptr),
            GUF_E_VALUE);
  Reduce wrong("add", ground.input({3, 4}));
  wrong.axes({2});
  EXPECT_EQ(requests::resolve_reduce(wrong.handle, &wrong.args, &found, &wrong.error), GUF_E_AXIS);
  const int64_t far[] = {99};
  Accumulate scan("add", ground.input({4}));
  scan.args.indices = scan.tensor({GUF_I64, far, {1}, {}, 0});
  EXPECT_EQ(requests::resolve_reduceat(scan.handle, &scan.args, &found, &scan.error), GUF_OK);
  EXPECT_EQ(guf_reduceat(scan.handle, &scan.args, &scan.error), GUF_E_INDEX);
}

TEST(MethodQueries, ExplainNamesLoopCastsOrderAndRefusals) {
  Reduce reduce("add", {GUF_I8, unreadable(), {300, 4}, {}, 0});
  std::string text = text_of(reduce.handle, reduce.args, requests::explain_reduce);
  for (const char *const part :
       {"add.reduce on cpu: loop ", "kernel of the backend",
        "  refused \?\?->?: argument 1 cannot be cast safely to bool\n",
        "  refused bb->b: dtype=, or the rule for this method, requests other types\n",
        "argument 1: in, int8 cast to int64, shape (300,4), strides (4,1)\n",
        "argument 2: out, int64, shape (4,), to allocate\n", "reduces axis 0 of 300\n",
        "order: in any order, as the order does not change an integer result",
        "initial: the identity 0\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  Reduce real("maximum", {GUF_F64, unreadable(), {300, 4}, {}, 0});
  real.args.naxis = GUF_ALL_AXES;
  text = text_of(real.handle, real.args, requests::explain_reduce);
  for (const char *const part :
       {"reduces axis 1 of 4, then axis 0 of 300\n",
        "order: as a tree: base blocks of 128, combined in pairs, with the loop's fold entry\n",
        "initial: none, starts with the first element\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  Accumulate scan("subtract", {GUF_F64, unreadable(), {300}, {}, 0});
  text = text_of(scan.handle, scan.args, requests::explain_accumulate);
  EXPECT_NE(text.find("order: from the left, as the function is not both"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace gufunc
