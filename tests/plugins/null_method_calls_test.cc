// SPDX-License-Identifier: Apache-2.0
// Tests methods on a failing device, on memory that the host cannot access, after shutdown, and in
// a forked child. The caller must receive the status of the failure, and results must be unchanged.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include "tests/plugins/null_fixture.h"
#include "tests/support/requests.h"

namespace {

using gufunc::operand_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NullMethods : public NullDevices {
 protected:
  // The following functions call each method of `add` on arrays of three elements, and on two
  // indices where the method has indices. If `out` is null, the method allocates the output, and
  // the function releases it.
  guf_status reduce(guf_array in, guf_array out, guf_array initial = nullptr,
                    guf_array where = nullptr, guf_stream stream = nullptr) {
    const guf_operand operands[] = {operand_of(in), operand_of(initial), operand_of(where)};
    guf_operand output = operand_of(out);
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    args.flags = GUF_CALL_KEEPDIMS;
    args.input = &operands[0];
    args.output = &output;
    args.options.stream = stream;
    if (initial != nullptr) args.initial = &operands[1];
    if (where != nullptr) args.where = &operands[2];
    return finish(guf_reduce(add_, &args, &error_), out, output);
  }
  guf_status accumulate(guf_array in, guf_array out, guf_array indices = nullptr) {
    const guf_operand operands[] = {operand_of(in), operand_of(indices)};
    guf_operand output = operand_of(out);
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = &operands[0];
    args.output = &output;
    if (indices == nullptr) return finish(guf_accumulate(add_, &args, &error_), out, output);
    args.indices = &operands[1];
    return finish(guf_reduceat(add_, &args, &error_), out, output);
  }
  guf_status at(guf_array array, guf_array indices, guf_array operand) {
    const guf_operand operands[] = {operand_of(array), operand_of(indices), operand_of(operand)};
    guf_at_args args = {};
    args.struct_size = sizeof args;
    args.array = &operands[0];
    args.indices = &operands[1];
    args.nindices = 1;
    args.operand = &operands[2];
    return guf_at(add_, &args, &error_);
  }
  guf_status finish(guf_status status, guf_array given, const guf_operand &output) {
    if (status == GUF_OK && given == nullptr) guf_array_release(output.array, nullptr);
    return status;
  }
};

TEST_F(NullMethods, RunOnMemoryThatTheHostCannotTouch) {
  const guf_array in = floats(far_, {1, 2, 3}), one = floats(far_, {0}),
                  all = floats(far_, {0, 0, 0});
  const guf_array starts = make<int64_t>(near_, GUF_I64, {0, 2});
  ASSERT_EQ(reduce(in, one), GUF_OK) << error_.message;
  EXPECT_THAT(values_of(one, 1), ElementsAre(6));
  ASSERT_EQ(accumulate(in, all), GUF_OK) << error_.message;
  EXPECT_THAT(values_of(all, 3), ElementsAre(1, 3, 6));
  ASSERT_EQ(at(all, starts, one), GUF_OK) << error_.message;  // the host reads the indices
  EXPECT_THAT(values_of(all, 3), ElementsAre(7, 3, 12));
}

TEST_F(NullMethods, EveryFailureOfTheSlotReachesTheCaller) {
  const guf_array in = floats(near_, {1, 2, 3}), one = floats(near_, {7});
  const guf_array all = floats(near_, {7, 8, 9}), pair = floats(near_, {7, 8});
  const guf_array starts = make<int64_t>(near_, GUF_I64, {0, 2});
  const std::function<guf_status()> methods[] = {
      [&] { return reduce(in, one); }, [&] { return accumulate(in, all); },
      [&] { return accumulate(in, pair, starts); }, [&] { return at(all, starts, one); }};
  for (const auto &method : methods) {
    for (const guf_status status :
         {GUF_E_LOOP, GUF_E_LAUNCH, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_DEVICE_LOST,
          GUF_E_FORKED, GUF_E_SHUTDOWN, GUF_E_CAPTURE}) {
      control().script(("method@1=" + std::to_string(status)).c_str());
      EXPECT_EQ(method(), status);
      EXPECT_EQ(error_.status, status);
      EXPECT_EQ(error_.native_code, status + 100000);
      EXPECT_THAT(error_.message, HasSubstr("the script makes call"));
    }
    control().script("method@1=1");
    EXPECT_EQ(method(), GUF_E_INTERNAL) << "the C API layer stops an exception";
  }
  EXPECT_THAT(values_of(one, 1), ElementsAre(7));
  EXPECT_THAT(values_of(all, 3), ElementsAre(7, 8, 9));
  EXPECT_THAT(values_of(pair, 2), ElementsAre(7, 8));
  for (const auto &method : methods) EXPECT_EQ(method(), GUF_OK) << error_.message;
}

TEST_F(NullMethods, ExplainCallsTheBackend) {
  const guf_operand in = operand_of(floats(near_, {1, 2, 3}));
  guf_operand out = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &in;
  args.output = &out;
  const auto explain = [&] {
    char text[4096];
    uint64_t length = sizeof text;
    EXPECT_EQ(requests::explain_reduce(add_, &args, text, &length, &error_), GUF_OK)
        << error_.message;
    return std::string(text);
  };
  const uint64_t methods = control().calls("method");
  const std::string whole = explain(), last = "null: method 1 of 1 items\n";
  ASSERT_THAT(whole, ::testing::EndsWith(last));
  control().script("describe_method@1=1200");
  EXPECT_EQ(explain(), whole.substr(0, whole.size() - last.size()));
  EXPECT_EQ(control().calls("method"), methods);
}

TEST_F(NullMethods, DoNotReceiveUnsupportedFpFlagRequests) {
  const guf_operand in = operand_of(floats(near_, {1, 2, 3}));
  guf_operand out = operand_of(floats(near_, {7}));
  uint32_t fp_flags = 0;
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.flags = GUF_CALL_KEEPDIMS;
  args.input = &in;
  args.output = &out;
  args.options.fp_flags = &fp_flags;
  args.options.fp_report = GUF_FP_OVERFLOW;
  EXPECT_EQ(guf_reduce(add_, &args, &error_), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("does not detect floating-point flags in methods"));
  EXPECT_THAT(values_of(out.array, 1), ElementsAre(7));
}

// The backend does not have the flag GUF_BACKEND_METHOD_STRUCTURED.
TEST_F(NullMethods, AreNotSentStructuredDtypesThatTheBackendRefuses) {
  guf_dtype structured = 0;
  ASSERT_EQ(guf_dtype_register("null_struct", 24, 8, &structured, &error_), GUF_OK);
  const guf_dtype types[] = {structured, structured, structured};
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = 2;
  desc.nout = 1;
  desc.name = "of_structured";
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.ntypes = 3;
  loop.types = types;
  loop.numpy = [](char **, const int64_t *, const int64_t *, void *) {};
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error_), GUF_OK) << error_.message;
  using Structured = std::array<int64_t, 3>;
  const guf_operand in = operand_of(make<Structured>(near_, structured, {{1, 2, 3}, {4, 5, 6}}));
  guf_operand out = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &in;
  args.output = &out;
  const uint64_t methods = control().calls("method");
  EXPECT_EQ(guf_reduce(ufunc, &args, &error_), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message,
              HasSubstr("do not accept elements of structured dtype 'null_struct'"));
  char text[1000];
  uint64_t length = sizeof text;
  EXPECT_EQ(requests::explain_reduce(ufunc, &args, text, &length, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(control().calls("method"), methods);
  guf_ufunc_release(ufunc, nullptr);
}

TEST_F(NullMethods, OperandsOfTwoDevicesAreRefused) {
  const guf_array in = floats(far_, {1, 2, 3}), wrong = floats(other_, {7});
  const guf_array one = floats(far_, {7}), all = floats(far_, {7, 8, 9});
  const guf_array mask = make<uint8_t>(other_, GUF_BOOL, {1, 1, 1});
  const guf_array far_starts = make<int64_t>(far_, GUF_I64, {0, 2});
  EXPECT_EQ(reduce(in, wrong), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(reduce(in, one, nullptr, mask), GUF_E_DEVICE_MISMATCH);
  guf_array number = nullptr;
  ASSERT_EQ(guf_array_squeeze(one, 0, nullptr, &number, &error_), GUF_OK) << error_.message;
  arrays_.push_back(number);
  EXPECT_EQ(reduce(in, one, number), GUF_E_DEVICE_MISMATCH) << "initial is read by the host";
  EXPECT_EQ(accumulate(in, floats(other_, {7, 8, 9})), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(accumulate(in, nullptr, far_starts), GUF_E_DEVICE_MISMATCH) << "so are indices";
  EXPECT_EQ(at(all, far_starts, one), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(at(all, make<int64_t>(near_, GUF_I64, {0}), wrong), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(control().calls("method"), 0U);
  EXPECT_THAT(values_of(wrong, 1), ElementsAre(7));
  EXPECT_THAT(values_of(one, 1), ElementsAre(7));
  EXPECT_THAT(values_of(all, 3), ElementsAre(7, 8, 9));
}

TEST_F(NullMethods, MemoryThatIsOut) {
  const guf_array in = floats(far_, {1, 2, 3});
  control().script("memory_alloc=1001");
  EXPECT_EQ(reduce(in, nullptr), GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(accumulate(in, nullptr), GUF_E_DEVICE_MEMORY);
  control().reset();
  EXPECT_EQ(reduce(in, nullptr), GUF_OK) << error_.message;
}

TEST_F(NullMethods, AStreamMadeBeforeAForkIsRefusedInTheChild) {
  const guf_array in = floats(near_, {1, 2, 3}), one = floats(near_, {7});
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_stream_create(near_, 0, &stream, &error_), GUF_OK) << error_.message;
  const pid_t child = fork();
  if (child == 0) {
    const bool right = reduce(in, one, nullptr, nullptr, stream) == GUF_E_FORKED &&
                       error_.status == GUF_E_FORKED && values_of(one, 1)[0] == 7;
    std::_Exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(reduce(in, one, nullptr, nullptr, stream), GUF_OK) << error_.message;
  guf_stream_release(stream, nullptr);
}

// Tests methods after guf_shutdown, on host memory, which needs no device.
void exit_after_shutdown() {
  float data[] = {1, 2, 3}, result = 7;
  const int64_t index = 0;
  gufunc::Operands made;
  guf_operand operands[] = {*made.tensor({GUF_F32, data, {3}, {}, 0}),
                            *made.tensor({GUF_F32, &result, {}, {}, 0}),
                            *made.tensor({GUF_I64, &index, {}, {}, 0})};
  guf_ufunc add = nullptr;
  bool right = guf_ufunc_find(nullptr, "add", &add, nullptr) == GUF_OK;
  guf_reduce_args reduce = {};
  reduce.struct_size = sizeof reduce;
  reduce.input = &operands[0];
  reduce.output = &operands[1];
  right = right && guf_reduce(add, &reduce, nullptr) == GUF_OK && result == 6;
  result = 7;
  right = right && guf_shutdown(UINT64_MAX, nullptr) == GUF_OK;
  right = right && guf_reduce(add, &reduce, nullptr) == GUF_E_SHUTDOWN && result == 7;
  guf_accumulate_args scan = {};
  scan.struct_size = sizeof scan;
  scan.input = &operands[0];
  scan.output = &operands[0];
  right = right && guf_accumulate(add, &scan, nullptr) == GUF_E_SHUTDOWN && data[2] == 3;
  guf_at_args at = {};
  at.struct_size = sizeof at;
  at.array = &operands[0];
  at.indices = &operands[2];
  at.nindices = 1;
  at.operand = &operands[1];
  right = right && guf_at(add, &at, nullptr) == GUF_E_SHUTDOWN && data[0] == 1;
  std::_Exit(right ? 0 : 1);
}

TEST(NullMethodsShutdown, IsReportedByEveryMethod) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_after_shutdown(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
