// SPDX-License-Identifier: Apache-2.0
// Tests guf_explain, which describes a call without allocating its outputs.
#include <gmock/gmock.h>

#include "tests/support/requests.h"
#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(Call &call) {
  uint64_t length = 0;
  EXPECT_EQ(requests::explain_call(call.handle, call.ready(), nullptr, &length, &call.error),
            GUF_E_BUFFER_TOO_SMALL);
  std::string text(length, '\0');
  EXPECT_EQ(requests::explain_call(call.handle, call.ready(), text.data(), &length, &call.error),
            GUF_OK)
      << call.error.message;
  text.resize(length - 1);
  return text;
}

guf_status refusal_of(Call &call) {
  uint64_t length = 0;
  return requests::explain_call(call.handle, call.ready(), nullptr, &length, &call.error);
}

std::string plan_text_of(Call &call) {
  guf_plan plan = nullptr;
  EXPECT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  uint64_t length = 0;
  guf_plan_explain(plan, nullptr, &length, nullptr);
  std::string text(length, '\0');
  EXPECT_EQ(guf_plan_explain(plan, text.data(), &length, nullptr), GUF_OK);
  EXPECT_EQ(guf_plan_release(plan, nullptr), GUF_OK);
  text.resize(length - 1);
  return text;
}

std::string without(std::string text, const std::string &part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

void never_run(char **, const int64_t *, const int64_t *, void *) {
  ADD_FAILURE() << "explaining runs nothing";
}

TEST(ExplainCall, EqualsTheTextOfThePlan) {
  const guf_ufunc parts =
      make_ufunc("explained_parts", nullptr, 1, 2, {}, never_run, {GUF_F32, GUF_F32, GUF_F32});
  std::vector<float> x(6);
  std::vector<double> z(6);
  Call given(parts);
  given.in({GUF_F32, x.data(), {2, 3}, {4, 8}, 0});
  given.out({GUF_F32, x.data(), {2, 3}, {4, 8}, 0}).out({GUF_F64, z.data(), {2, 3}, {8, 16}, 0});
  EXPECT_EQ(text_of(given), plan_text_of(given));
  std::vector<float> first(6), second(6);
  Call complete(parts), missing(parts), none(parts);
  complete.in({GUF_F32, x.data(), {2, 3}, {4, 8}, 0});
  complete.out({GUF_F32, first.data(), {2, 3}, {4, 8}, 0});
  complete.out({GUF_F32, second.data(), {2, 3}, {4, 8}, 0});
  missing.in({GUF_F32, x.data(), {2, 3}, {4, 8}, 0}).out_missing().out_missing();
  none.in({GUF_F32, x.data(), {2, 3}, {4, 8}, 0});
  const std::string text = text_of(missing);
  EXPECT_THAT(text, HasSubstr("argument 2: out, float32, shape (2,3), strides (4,8), to allocate"));
  EXPECT_EQ(without(text, ", to allocate"), plan_text_of(complete));
  EXPECT_EQ(text, text_of(none));
  EXPECT_EQ(guf_ufunc_release(parts, nullptr), GUF_OK);
}

// The result would have 360 GB, and the inputs are in inaccessible memory.
TEST(ExplainCall, TouchesNoElement) {
  const auto *const nowhere = reinterpret_cast<const void *>(uintptr_t{0x1000});
  Call call("add");
  call.in({GUF_F32, nowhere, {300000, 1}, {}, 0}).in({GUF_F32, nowhere, {300000}, {}, 0});
  EXPECT_THAT(text_of(call), HasSubstr("shape (300000,300000), strides (1200000,4), to allocate"));
  Call matmul("matmul");
  matmul.in({GUF_F32, nowhere, {300000, 3}, {}, 0}).in({GUF_F32, nowhere, {3, 300000}, {}, 0});
  EXPECT_THAT(text_of(matmul), HasSubstr("core sizes (300000,3,300000)"));
}

// The backend describes the block that the call would launch. The core copies this description
// unchanged.
TEST(ExplainCall, IncludesTheBackendsDescription) {
  const std::vector<float> x(200 * 300), y(200 * 300);
  Call small("add"), across("add"), requested("add"), shifted("add"), none("add");
  small.in(weak_int_of(1)).in({GUF_F32, x.data(), {300}, {}, 0});
  EXPECT_THAT(text_of(small), HasSubstr("\nkernel image x86-64-v"));
  EXPECT_THAT(text_of(small),
              HasSubstr("\nwalk: one call of the loop\nthreads: 1, as the work, 300, "));
  EXPECT_THAT(text_of(small), HasSubstr("\ninstructions: up to x86-64-v"));
  across.in({GUF_F32, x.data(), {200, 300}, {}, 0})
      .in({GUF_F32, y.data(), {200, 300}, {4, 800}, 0});
  EXPECT_THAT(text_of(across), HasSubstr("\nwalk: tile by tile of dimensions 0 and 1; argument 1 "
                                         "is transposed in\n"));
  requested.in({GUF_F32, x.data(), {60000}, {}, 0}).in({GUF_F32, y.data(), {60000}, {}, 0});
  requested.args.options.threads = 1;
  EXPECT_THAT(text_of(requested), HasSubstr("\nthreads: 1, as the call requests one\n"));
  const auto *const odd = reinterpret_cast<const char *>(x.data()) + 1;
  shifted.in({GUF_F32, odd, {300}, {}, 0}).in({GUF_F32, y.data(), {300}, {}, 0});
  EXPECT_THAT(text_of(shifted),
              HasSubstr("\nwalk: row by row, with operands converted to the loop's dtypes and byte "
                        "order in blocks\n"));
  none.in({GUF_F32, x.data(), {0, 3}, {}, 0}).in({GUF_F32, y.data(), {3}, {}, 0});
  EXPECT_THAT(text_of(none), testing::EndsWith("\nno items: nothing is launched\n"));
}

// Outputs of 64 MiB and more are written with non-temporal stores, unless an input has the same
// address. If an input overlaps the output at another address, the input is staged, so the launch
// reads the staging buffer, which does not overlap the output.
TEST(ExplainCall, ReportsNonTemporalStores) {
  constexpr int64_t kItems = 20 << 20;
  const auto *const nowhere = reinterpret_cast<const void *>(uintptr_t{1} << 30);
  const View whole = {GUF_F32, nowhere, {kItems}, {}, 0};
  Call apart("negative"), same("negative"), overlapping("negative");
  apart.in(whole).out_missing();
  same.in(whole).out(whole);
  overlapping.in({GUF_F32, nowhere, {kItems}, {8}, 0}).out(whole);
  const std::string text = text_of(apart);
  if (text.find("up to x86-64-v2") != std::string::npos) GTEST_SKIP() << "no 32-byte stores";
  EXPECT_THAT(text, HasSubstr("argument 1 is written with non-temporal stores\n"));
  EXPECT_THAT(text_of(same), Not(HasSubstr("non-temporal stores")));
  EXPECT_THAT(text_of(overlapping), HasSubstr("argument 1 is written with non-temporal stores\n"));
}

TEST(ExplainCall, FailsAsTheCall) {
  const std::vector<double> x(3), y(4);
  Call call("add");
  call.in(view(GUF_F64, x)).in(view(GUF_F64, y)).out_missing();
  EXPECT_EQ(refusal_of(call), GUF_E_SHAPE);
  EXPECT_THAT(call.error.message, HasSubstr("could not be broadcast"));
  const std::string text = call.error.message;
  EXPECT_EQ(call.run(), GUF_E_SHAPE);
  EXPECT_EQ(text, call.error.message);
  Call huge("add");
  huge.in({GUF_F64, x.data(), {int64_t{1} << 62, 1}, {0, 0}, 0});
  huge.in({GUF_F64, x.data(), {1, 3}, {0, 0}, 0});
  EXPECT_EQ(refusal_of(huge), GUF_E_SHAPE);
  Call plain("negative");
  plain.in(view(GUF_F64, x)).out_missing();
  EXPECT_EQ(requests::explain_call(plain.handle, plain.ready(), nullptr, nullptr, nullptr),
            GUF_E_ARG);
  uint64_t length = 1;
  EXPECT_EQ(requests::explain_call(plain.handle, plain.ready(), nullptr, &length, nullptr),
            GUF_E_ARG);
  EXPECT_EQ(requests::explain_call(nullptr, plain.ready(), nullptr, &length, nullptr), GUF_E_ARG);
}

// The signature has no output. The call runs in place, into a given output, or into an allocated
// output.
TEST(ExplainCall, InoutOperands) {
  const guf_ufunc ufunc =
      make_ufunc("explained_product", "(n)", 0, 0, {GUF_ROLE_INOUT}, never_run, {GUF_F64});
  std::vector<double> x(6), z(6);
  std::vector<int32_t> whole(6);
  Call in_place(ufunc), separate(ufunc), missing(ufunc);
  in_place.in({GUF_F64, x.data(), {2, 3}, {}, 0});
  EXPECT_EQ(text_of(in_place), plan_text_of(in_place));
  EXPECT_THAT(text_of(in_place), Not(HasSubstr("copied first")));
  separate.in({GUF_I32, whole.data(), {2, 3}, {}, 0}).out({GUF_F64, z.data(), {2, 3}, {}, 0});
  EXPECT_THAT(text_of(separate),
              testing::EndsWith("copied first: argument 0, int32, into a separate output\n"));
  missing.in({GUF_I32, whole.data(), {2, 3}, {}, 0}).out_missing();
  const std::string text = text_of(missing);
  EXPECT_THAT(text, HasSubstr("argument 0: inout, float64, shape (2,3), strides (24,8), to all"));
  EXPECT_THAT(text, testing::EndsWith("int32, into a separate output, to allocate\n"));
  EXPECT_EQ(missing.outputs[0].kind, GUF_OPERAND_NONE);
  // An allocated output has the shape of the operand, regardless of axis=.
  const int64_t axis = 0;
  missing.args.axis = &axis;
  EXPECT_THAT(text_of(missing), HasSubstr("core sizes (2,)"));
  guf_resolution answer = {};
  answer.struct_size = sizeof answer;
  ASSERT_EQ(requests::resolve_call(ufunc, missing.ready(), &answer, &missing.error), GUF_OK);
  EXPECT_EQ(answer.output_shapes[0][0], 2);
  EXPECT_EQ(answer.output_shapes[0][1], 3);
  EXPECT_EQ(guf_ufunc_release(ufunc, nullptr), GUF_OK);
}

TEST(ExplainCall, ListsWhyEarlierLoopsWereRejected) {
  const std::vector<int8_t> bytes = {1, 2};
  const std::vector<float> reals = {1, 2};
  Call divide("divide"), weak("add"), requested("add");
  divide.in({GUF_I8, bytes.data(), {2}, {}, 0}).in({GUF_I8, bytes.data(), {2}, {}, 0});
  EXPECT_THAT(text_of(divide.out_missing()), HasSubstr("refused ee->e: the rule for its types"));
  weak.in(weak_int_of(1)).in({GUF_F32, reals.data(), {2}, {}, 0});
  EXPECT_THAT(text_of(weak.out_missing()),
              HasSubstr("refused ee->e: argument 1 cannot be cast safely"));
  requested.in({GUF_I8, bytes.data(), {2}, {}, 0}).in({GUF_I8, bytes.data(), {2}, {}, 0});
  requested.args.dtype = GUF_F64;
  EXPECT_THAT(text_of(requested.out_missing()),
              HasSubstr("refused bb->b: signature= or dtype= requests"));
}

}  // namespace
}  // namespace gufunc
