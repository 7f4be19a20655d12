// SPDX-License-Identifier: Apache-2.0
// Tests calls and methods on a device that cannot access host memory, with operands in host memory.
// Operands are copied to the device, and results are copied back. The call is complete when it
// returns.
#include <gmock/gmock.h>

#include <string>

#include "tests/plugins/null_fixture.h"

namespace {

using gufunc::operand_of;
using gufunc::scalar_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NullHostCalls : public NullDevices {
 protected:
  // Computes a + b on `far_`. If `out` has the kind GUF_OPERAND_NONE, the call allocates the
  // output.
  guf_status add(guf_operand a, guf_operand b, guf_operand *out, guf_stream stream = nullptr,
                 int32_t policy = GUF_HOST_DEFAULT) {
    const guf_operand inputs[] = {a, b};
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = inputs;
    args.outputs = out;
    args.options.stream = stream;
    args.options.device = far_;
    args.host_policy = policy;
    error_ = fresh_error();
    return guf_call(add_, &args, &error_);
  }
  std::string spec_of(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK) << error_.message;
    if (info.device == nullptr) return "host";
    guf_device_info device = {};
    device.struct_size = sizeof device;
    EXPECT_EQ(guf_device_get_info(info.device, &device, &error_), GUF_OK);
    return device.spec;
  }
};

TEST_F(NullHostCalls, HostOperandsReturnAHostResult) {
  std::vector<float> a = {1, 2, 3}, b = {10, 20, 30};
  guf_operand out = {};
  ASSERT_EQ(add(view(a, {3}), view(b, {3}), &out), GUF_OK) << error_.message;
  keep(out.array);
  EXPECT_EQ(spec_of(out.array), "cpu");
  EXPECT_THAT(values_of(out.array, 3), ElementsAre(11, 22, 33));
  EXPECT_EQ(control().calls("launch"), 1U);
}

TEST_F(NullHostCalls, StridesBroadcastsAndProvidedOutputs) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {10, 20}, out = {0, 0, 0, 0, 0, 0, 0, 0};
  guf_operand result = view(out, {3, 2}, {8, 4}, 1);
  // The view of `a` is reversed and transposed, so its rows are (6, 3), (5, 2), (4, 1).
  ASSERT_EQ(add(view(a, {3, 2}, {-4, -12}, 5), view(b, {2}), &result), GUF_OK) << error_.message;
  EXPECT_THAT(out, ElementsAre(0, 16, 23, 15, 22, 14, 21, 0));
}

TEST_F(NullHostCalls, ResultsHaveTheLayoutOfTheOperands) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6};
  guf_operand out = {};
  ASSERT_EQ(add(view(a, {2, 3}, {4, 8}), scalar_of(1), &out), GUF_OK) << error_.message;
  keep(out.array);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(out.array, &info, &error_), GUF_OK);
  EXPECT_EQ(info.strides[0], 4);
  EXPECT_EQ(info.strides[1], 8);
  EXPECT_THAT(values_of(out.array, 6), ElementsAre(2, 4, 6, 3, 5, 7));
}

TEST_F(NullHostCalls, OverlapIsAsIfInputsWereCopiedFirst) {
  std::vector<float> a = {1, 2, 3, 4};
  guf_operand out = view(a, {3}, {}, 1);
  ASSERT_EQ(add(view(a, {3}), view(a, {3}), &out), GUF_OK) << error_.message;
  EXPECT_THAT(a, ElementsAre(1, 2, 4, 6));
}

TEST_F(NullHostCalls, ScalarsTravelWithTheLaunch) {
  const guf_array a = floats(far_, {1, 2, 3});
  control().reset();
  guf_operand out = {};
  ASSERT_EQ(add(operand_of(a), scalar_of(5), &out), GUF_OK) << error_.message;
  keep(out.array);
  EXPECT_EQ(control().calls("copy"), 0U);
  EXPECT_EQ(spec_of(out.array), "null:2");
  EXPECT_THAT(values_of(out.array, 3), ElementsAre(6, 7, 8));
  guf_operand sum = {};
  ASSERT_EQ(add(scalar_of(1), scalar_of(2), &sum), GUF_OK) << error_.message;
  keep(sum.array);
  EXPECT_THAT(values_of(sum.array, 1), ElementsAre(3));
}

TEST_F(NullHostCalls, AMixIsForThePolicyToAllow) {
  const guf_array a = floats(far_, {1, 2, 3});
  std::vector<float> b = {10, 20, 30}, c = {0, 0, 0};
  guf_operand out = {};
  EXPECT_EQ(add(operand_of(a), view(b, {3}), &out), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(out.kind, GUF_OPERAND_NONE);
  ASSERT_EQ(add(operand_of(a), view(b, {3}), &out, nullptr, GUF_HOST_COPY), GUF_OK)
      << error_.message;
  keep(out.array);
  EXPECT_EQ(spec_of(out.array), "null:2") << "a device input has a device result";
  EXPECT_THAT(values_of(out.array, 3), ElementsAre(11, 22, 33));
  guf_operand home = view(c, {3});
  ASSERT_EQ(add(operand_of(a), operand_of(a), &home, nullptr, GUF_HOST_COPY_AND_WARN), GUF_OK)
      << error_.message;
  EXPECT_THAT(c, ElementsAre(2, 4, 6));
  char text[256];
  int32_t level = 0;
  ASSERT_EQ(guf_log_read(text, sizeof text, &level, &error_), GUF_OK);
  EXPECT_EQ(level, 1);
  EXPECT_STREQ(text, "add: argument 2 is in host memory and is copied to null:2");
}

// The note of the plugin declares the DLPack device type 77 for device memory. The plugin cannot
// determine the device of an address, so tensors in its memory cannot be imported.
TEST_F(NullHostCalls, DlpackTypesAreInTheNote) {
  const guf_array a = floats(far_, {1, 2, 3});
  guf_dlpack *managed = nullptr;
  ASSERT_EQ(guf_array_to_dlpack(a, nullptr, 0, &managed, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(managed->tensor.device_type, 77);
  EXPECT_EQ(managed->tensor.device_id, 2);
  guf_array back = nullptr;
  EXPECT_EQ(guf_array_from_dlpack(managed, nullptr, 0, &back, &error_), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("null:2"));
  ASSERT_EQ(guf_array_to_dlpack(a, nullptr, 0, &managed, &error_), GUF_OK) << error_.message;
  managed->tensor.device_type = 78;
  EXPECT_EQ(guf_array_from_dlpack(managed, nullptr, 0, &back, &error_), GUF_E_NO_BACKEND);
}

TEST_F(NullHostCalls, OnAStreamTooTheCallIsComplete) {
  const guf_array a = floats(far_, {1, 2, 3}), b = floats(far_, {0, 0, 0});
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_stream_create(far_, 0, &stream, &error_), GUF_OK) << error_.message;
  control().script("async=1");
  guf_operand first = operand_of(b);
  ASSERT_EQ(add(operand_of(a), operand_of(a), &first, stream), GUF_OK) << error_.message;
  std::vector<float> c = {0, 0, 0};
  guf_operand out = view(c, {3});
  ASSERT_EQ(add(operand_of(b), scalar_of(1), &out, stream, GUF_HOST_COPY), GUF_OK)
      << error_.message;
  EXPECT_THAT(c, ElementsAre(3, 5, 7)) << "it waits for what the stream had queued";
  guf_stream_release(stream, nullptr);
}

TEST_F(NullHostCalls, FailuresOfTheWorkAreTheCallsOwn) {
  std::vector<float> a = {1, 2, 3}, out = {7, 8, 9};
  control().script("async=1");
  for (const char *script : {"launch@1=1200", "copy@1=1202", "memory_alloc=1001"}) {
    control().script(script);
    guf_operand given = view(out, {3});
    EXPECT_GE(add(view(a, {3}), view(a, {3}), &given), 100) << script;
    EXPECT_THAT(error_.message, HasSubstr("the script makes call")) << script;
    guf_operand missing = {};
    control().script(script);
    EXPECT_GE(add(view(a, {3}), view(a, {3}), &missing), 100) << script;
    EXPECT_EQ(missing.kind, GUF_OPERAND_NONE) << script;
    control().reset();
  }
  EXPECT_THAT(out, ElementsAre(7, 8, 9));
  guf_operand given = view(out, {3});
  ASSERT_EQ(add(view(a, {3}), view(a, {3}), &given), GUF_OK) << "the failure has no lasting effect";
  EXPECT_THAT(out, ElementsAre(2, 4, 6));
}

TEST_F(NullHostCalls, NothingStaysOnTheDevice) {
  std::vector<float> a = {1, 2, 3}, out = {0, 0, 0};
  guf_operand given = view(out, {3});
  ASSERT_EQ(add(view(a, {3}), view(a, {3}), &given), GUF_OK) << error_.message;
  guf_poll(0, nullptr, nullptr);
  const uint64_t memory = control().live("memory"), streams = control().live("stream");
  const uint64_t events = control().live("event");
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(add(view(a, {3}), view(a, {3}), &given), GUF_OK) << error_.message;
  }
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(control().live("memory"), memory);
  EXPECT_EQ(control().live("stream"), streams) << "all calls reuse the stream of the first";
  EXPECT_EQ(control().live("event"), events);
}

TEST_F(NullHostCalls, PlansCopyNothing) {
  std::vector<float> a = {1, 2, 3};
  guf_operand out = view(a, {3});
  const guf_operand inputs[] = {view(a, {3}), view(a, {3})};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = inputs;
  args.outputs = &out;
  args.options.device = far_;
  guf_plan plan = nullptr;
  EXPECT_EQ(guf_plan_create(add_, &args, &plan, &error_), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("operands are in host memory, which null:2 cannot access"));
}

TEST_F(NullHostCalls, Methods) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const guf_operand input = view(a, {2, 3});
  guf_operand out = {};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.input = &input;
  args.output = &out;
  args.options.device = far_;
  ASSERT_EQ(guf_reduce(add_, &args, &error_), GUF_OK) << error_.message;
  keep(out.array);
  EXPECT_EQ(spec_of(out.array), "cpu");
  EXPECT_THAT(values_of(out.array, 3), ElementsAre(5, 7, 9));

  std::vector<float> totals(6);
  guf_operand given = view(totals, {2, 3});
  guf_accumulate_args folded = {};
  folded.struct_size = sizeof folded;
  folded.input = &input;
  folded.output = &given;
  folded.axis = 1;
  folded.options.device = far_;
  ASSERT_EQ(guf_accumulate(add_, &folded, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(totals, ElementsAre(1, 3, 6, 4, 9, 15));
}

TEST_F(NullHostCalls, AtChangesTheHostsArray) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> indices = {1, 0, 1};
  // The array is transposed, so the layout of the device's copy differs from the layout of the
  // array.
  const guf_operand array = view(a, {2, 3}, {4, 8}), ten = scalar_of(10);
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &array;
  args.indices = operands_.tensor(gufunc::view(GUF_I64, indices));
  args.nindices = 1;
  args.operand = &ten;
  args.options.device = far_;
  ASSERT_EQ(guf_at(add_, &args, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(a, ElementsAre(11, 22, 13, 24, 15, 26));
}

}  // namespace
