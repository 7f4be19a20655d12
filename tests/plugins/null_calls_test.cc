// SPDX-License-Identifier: Apache-2.0
// Tests failures of a device through the C API, with every status that only a device can cause.
// After a failure, outputs must be unchanged and handles must be valid. Without failures, results
// must be correct. Also tests raw kernels that cannot run, because the backend lacks the extension
// for raw kernels or because the module contains no code for the device.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <string>

#include "tests/plugins/null_fixture.h"
#include "tests/support/requests.h"

namespace {

using gufunc::operand_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NullCalls : public NullDevices {
 protected:
  guf_status alloc(guf_device device, guf_array *out) {
    const int64_t shape[] = {3};
    return guf_array_alloc(device, GUF_F32, 1, shape, nullptr, 0, out, &error_);
  }
  // Returns an array of floats on a device.
  guf_array make(guf_device device, std::vector<float> values) {
    return floats(device, std::move(values));
  }
  std::vector<float> values_of(guf_array array) { return NullDevices::values_of(array, 3); }
  // Computes a + b and stores the result in `out`.
  guf_status call(guf_array a, guf_array b, guf_array out, guf_stream stream = nullptr,
                  guf_ufunc ufunc = nullptr) {
    guf_operand operands[] = {operand_of(a), operand_of(b), operand_of(out)};
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 2;
    args.noutputs = 1;
    args.inputs = operands;
    args.outputs = operands + 2;
    args.options.stream = stream;
    error_ = fresh_error();
    return guf_call(ufunc == nullptr ? add_ : ufunc, &args, &error_);
  }
};

TEST_F(NullCalls, AddOnMemoryThatTheHostCannotTouch) {
  const guf_array a = make(far_, {1, 2, 3}), b = make(far_, {10, 20, 30});
  const guf_array out = make(far_, {0, 0, 0});
  ASSERT_EQ(call(a, b, out), GUF_OK) << error_.message;
  EXPECT_THAT(values_of(out), ElementsAre(11, 22, 33));
}

TEST_F(NullCalls, ApplyWaitsForTheDevice) {
  const guf_array arrays[] = {make(far_, {1, 2, 3}), make(far_, {4, 5, 6}), make(far_, {0, 0, 0})};
  const int64_t shape[] = {3};
  guf_tensor tensors[3] = {};
  for (int i = 0; i < 3; ++i) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(guf_array_get_info(arrays[i], &info, &error_), GUF_OK);
    tensors[i].struct_size = sizeof tensors[i];
    tensors[i].dtype = GUF_F32;
    tensors[i].ndim = 1;
    tensors[i].address = info.address;
    tensors[i].shape = shape;
    tensors[i].device = far_;
  }
  control().reset();
  ASSERT_EQ(guf_apply(nullptr, "add", 3, tensors, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(control().calls("stream_synchronize"), 1U);
  EXPECT_THAT(values_of(arrays[2]), ElementsAre(5, 7, 9));
  control().script("stream_synchronize@1=1202");
  EXPECT_EQ(guf_apply(nullptr, "add", 3, tensors, &error_), 1202);
}

TEST_F(NullCalls, EveryFailureOfALaunchReachesTheCaller) {
  const guf_array a = make(near_, {1, 2, 3}), out = make(near_, {7, 8, 9});
  ASSERT_EQ(call(a, a, out), GUF_OK) << error_.message;
  for (const guf_status status : {GUF_E_LAUNCH, GUF_E_DEVICE_LOST, GUF_E_CAPTURE, GUF_E_CANCELLED,
                                  GUF_E_UNSUPPORTED, GUF_E_DEVICE_MEMORY, GUF_E_FORKED}) {
    control().script(("launch@1=" + std::to_string(status)).c_str());
    EXPECT_EQ(call(a, a, out), status);
    EXPECT_EQ(error_.status, status);
    EXPECT_EQ(error_.native_code, status + 100000);
    EXPECT_THAT(error_.message, HasSubstr("the script makes call"));
    EXPECT_EQ(call(a, a, out), GUF_OK) << "one failure does not stay";
  }
  control().script("launch@1=1");
  EXPECT_EQ(call(a, a, out), GUF_E_INTERNAL) << "the C API layer stops an exception";
  EXPECT_THAT(values_of(out), ElementsAre(2, 4, 6));
}

TEST_F(NullCalls, FailuresBeforeTheLaunchLeaveOutputsAlone) {
  // No kernel has been requested from this device before.
  const guf_device fresh = find_device("null:1");
  const guf_array a = make(fresh, {1, 2, 3}), out = make(fresh, {7, 8, 9});
  control().script("module_load@1=1200");
  EXPECT_EQ(call(a, a, out), GUF_E_LAUNCH);
  control().script("kernel_get@1=801");
  EXPECT_EQ(call(a, a, out), GUF_E_NO_IMAGE);
  EXPECT_THAT(values_of(out), ElementsAre(7, 8, 9));
  EXPECT_EQ(call(a, a, out), GUF_OK) << error_.message;
  EXPECT_THAT(values_of(out), ElementsAre(2, 4, 6));
}

TEST_F(NullCalls, AMissingKernelIsNeverAnotherLoop) {
  guf_ufunc subtract = nullptr;
  ASSERT_EQ(guf_ufunc_find(nullptr, "subtract", &subtract, &error_), GUF_OK);
  const guf_array a = make(far_, {1, 2, 3}), out = make(far_, {7, 8, 9});
  EXPECT_EQ(call(a, a, out, nullptr, subtract), GUF_E_NO_IMAGE);
  EXPECT_THAT(error_.message, HasSubstr("no kernel of 'subtract' (float32,float32->float32) for "
                                        "device null:2 (null); available images: null"));
  EXPECT_THAT(values_of(out), ElementsAre(7, 8, 9));
  guf_ufunc_release(subtract, nullptr);
}

TEST_F(NullCalls, OperandsOfTwoDevicesAreRefused) {
  const guf_array a = make(far_, {1, 2, 3}), b = make(find_device("null:3"), {1, 2, 3});
  const guf_array out = make(far_, {7, 8, 9});
  EXPECT_EQ(call(a, b, out), GUF_E_DEVICE_MISMATCH);
  EXPECT_THAT(values_of(out), ElementsAre(7, 8, 9));
}

TEST_F(NullCalls, MemoryThatIsOut) {
  guf_array array = nullptr;
  control().script("memory_alloc=1001");  // the library may free cached memory and retry
  EXPECT_EQ(alloc(far_, &array), GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(array, nullptr);
  control().reset();
  ASSERT_EQ(alloc(far_, &array), GUF_OK) << error_.message;
  keep(array);
}

TEST_F(NullCalls, NothingOfTheDeviceLeaks) {
  guf_poll(0, nullptr, nullptr);
  const uint64_t memory = control().live("memory"), streams = control().live("stream");
  guf_array array = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(alloc(far_, &array), GUF_OK);
  ASSERT_EQ(guf_stream_create(far_, 0, &stream, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(control().live("stream"), streams + 1);
  guf_array_release(array, nullptr);
  guf_stream_release(stream, nullptr);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(control().live("memory"), memory);
  EXPECT_EQ(control().live("stream"), streams);
}

TEST_F(NullCalls, ADeviceIsWaitedForWithoutAStream) {
  const guf_array a = make(far_, {1, 2, 3}), out = make(far_, {0, 0, 0});
  ASSERT_EQ(call(a, a, out), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_synchronize(far_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(control().calls("stream_synchronize"), 1U);
  control().script("stream_synchronize@1=1202");
  EXPECT_EQ(guf_device_synchronize(far_, UINT64_MAX, &error_), 1202);
  EXPECT_THAT(error_.message, HasSubstr("the script makes call"));
  control().reset();
  EXPECT_EQ(guf_device_synchronize(near_, 0, &error_), GUF_OK) << "work there is complete";
  EXPECT_EQ(control().calls("stream_synchronize"), 0U);
}

TEST_F(NullCalls, AStreamReportsItsFirstFailureOnce) {
  const guf_array a = make(far_, {1, 2, 3}), out = make(far_, {0, 0, 0});
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_stream_create(far_, 0, &stream, &error_), GUF_OK) << error_.message;
  control().script("async=1");
  ASSERT_EQ(call(a, a, out, stream), GUF_OK) << error_.message;
  EXPECT_EQ(guf_stream_query(stream, &error_), GUF_NOT_READY);
  control().script("stuck=1");
  EXPECT_EQ(guf_stream_synchronize(stream, 1000, &error_), GUF_TIMEOUT);
  control().script("stuck=0");
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(values_of(out), ElementsAre(2, 4, 6));
  control().script("stream_synchronize@1=1300");
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  guf_stream_release(stream, nullptr);
}

// There are more loop dimensions than a launch block supports, so the plan needs two launches on
// the device.
TEST_F(NullCalls, APlanStaysAliveForWorkQueuedBeforeAFailure) {
  constexpr int kNdim = GUF_MAX_LOOP_NDIM + 1;
  const std::vector<int64_t> shape(kNdim, 2);
  std::vector<int64_t> strides(kNdim);  // leave gaps, so that no two axes are coalesced
  int64_t stride = sizeof(float);
  for (size_t axis = kNdim; axis-- > 0; stride *= 3) strides[axis] = stride;
  std::vector<float> input(20000, 1), output(20000, 7);
  guf_operand operands[] = {*operands_.tensor({GUF_F32, input.data(), shape, strides, 0, near_}),
                            gufunc::weak_float_of(2),  // the plan stores the value of the operand
                            *operands_.tensor({GUF_F32, output.data(), shape, strides, 0, near_})};
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = operands;
  args.outputs = operands + 2;
  guf_plan plan = nullptr;
  guf_stream stream = nullptr;
  // Describing a plan costs more than creating it, so a plan is described only on request.
  const uint64_t described = control().calls("describe_launch");
  ASSERT_EQ(guf_plan_create(add_, &args, &plan, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(control().calls("describe_launch"), described);
  ASSERT_EQ(guf_stream_create(near_, 0, &stream, &error_), GUF_OK) << error_.message;
  char text[4096];
  uint64_t length = sizeof text;
  ASSERT_EQ(guf_plan_explain(plan, text, &length, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(control().calls("describe_launch"), described + 1);
  EXPECT_THAT(text, HasSubstr("launches: one for each of 2 positions in the outer dimensions\n"
                              "null: 256 items\n"));
  control().script("async=1;launch@2=1200");
  const uint64_t addresses[] = {operands[0].tensor->address, 0, operands[2].tensor->address};
  EXPECT_EQ(guf_plan_launch(plan, stream, 3, addresses, 0, &error_), GUF_E_LAUNCH);
  ASSERT_EQ(guf_plan_release(plan, &error_), GUF_OK);
  guf_poll(0, nullptr, nullptr);  // would delete the plan if it were unused
  control().complete(100);
  EXPECT_EQ(output[0], 3) << "the first launch ran, with the plan's scalar";
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK) << error_.message;
  guf_stream_release(stream, &error_);
}

// The backend's description of a launch is appended to the text, unless it is empty.
TEST_F(NullCalls, ExplainCallsTheBackend) {
  guf_operand operands[3] = {};
  for (guf_operand &operand : operands) operand = operand_of(make(far_, {1, 2, 3}));
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = operands;
  args.outputs = operands + 2;
  const auto explain = [&] {
    char text[4096];
    uint64_t length = sizeof text;
    EXPECT_EQ(requests::explain_call(add_, &args, text, &length, &error_), GUF_OK)
        << error_.message;
    return std::string(text);
  };
  const uint64_t launches = control().calls("launch");
  const std::string whole = explain(), last = "null: 3 items\n";
  EXPECT_THAT(whole, HasSubstr("\nkernel image null, of null\n"));
  ASSERT_THAT(whole, ::testing::EndsWith(last));
  control().script("describe_launch@1=1200");
  EXPECT_EQ(explain(), whole.substr(0, whole.size() - last.size()));
  EXPECT_EQ(control().calls("launch"), launches);
}

TEST_F(NullCalls, StreamsAndEventsThatCannotBeMade) {
  guf_stream stream = nullptr;
  guf_event event = nullptr;
  control().script("stream_open=1300;event_open=1000");
  EXPECT_EQ(guf_stream_create(far_, 0, &stream, &error_), GUF_E_DEVICE_LOST);
  EXPECT_EQ(stream, nullptr);
  EXPECT_EQ(guf_event_create(far_, 0, &event, &error_), GUF_E_NO_MEMORY);
  EXPECT_EQ(event, nullptr);
}

// The status that a loop of the program returns becomes the status of the call.
guf_status failing_loop(char **, const int64_t *, const int64_t *, void *user) {
  return *static_cast<guf_status *>(user);
}

TEST_F(NullCalls, StatusesOfUserLoops) {
  guf_status status = GUF_E_LOOP;
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = 2;
  desc.nout = 1;
  desc.name = "fails";
  guf_ufunc fails = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &fails, &error_), GUF_OK) << error_.message;
  const guf_dtype types[] = {GUF_F32, GUF_F32, GUF_F32};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_STATUS;
  loop.ntypes = 3;
  loop.types = types;
  loop.status = failing_loop;
  loop.user = &status;
  ASSERT_EQ(guf_ufunc_add_loop(fails, &loop, &error_), GUF_OK) << error_.message;
  const guf_device cpu = find_device("cpu");
  const guf_array a = make(cpu, {1, 2, 3}), out = make(cpu, {0, 0, 0});
  for (const guf_status expected : {GUF_E_LOOP, GUF_E_FLOATING_POINT, GUF_E_VALUE}) {
    status = expected;
    EXPECT_EQ(call(a, a, out, nullptr, fails), expected) << error_.message;
  }
  const guf_array far = make(far_, {1, 2, 3});
  EXPECT_EQ(call(far, far, far, nullptr, fails), GUF_E_NO_IMAGE);
  guf_ufunc_release(fails, nullptr);
}

// Checks a permanent state of the backend. Each state runs in its own process.
void exit_with_state(const char *script, guf_status expected) {
  setenv("GUFUNC_NULL", script, 1);
  guf_error error = fresh_error();
  guf_device device = nullptr;
  bool right = guf_backend_load(kNullPlugin, &error) == GUF_OK;
  right =
      right && guf_device_get(nullptr, "null", &device, &error) == expected && device == nullptr;
  uint32_t count = 0;
  guf_backend_info info = {};
  info.struct_size = sizeof info;
  guf_backend_count(&count, nullptr);
  for (uint32_t i = 0; i < count && std::string(info.name) != "null"; ++i) {
    guf_backend_get_info(i, 1, &info, nullptr);
  }
  right = right && info.state == expected && info.ndevices == 0 && info.reason[0] != '\0';
  std::_Exit(right ? 0 : 1);
}

class NullStates : public ::testing::TestWithParam<std::pair<const char *, guf_status>> {};

TEST_P(NullStates, AreReportedByListingAndByDeviceGet) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_state(GetParam().first, GetParam().second), ::testing::ExitedWithCode(0),
              "");
}

INSTANTIATE_TEST_SUITE_P(Probe, NullStates,
                         ::testing::Values(std::pair("probe=901", GUF_E_NO_DRIVER),
                                           std::pair("probe=902", GUF_E_DRIVER_OLD),
                                           std::pair("probe=903", GUF_E_NO_DEVICE),
                                           std::pair("devices=0", GUF_E_NO_DEVICE),
                                           std::pair("probe=1300", GUF_E_DEVICE_LOST),
                                           std::pair("probe=1", GUF_E_ABI)));

// After guf_shutdown, calls that need a device report the shutdown, and handles can still be
// released.
void exit_after_shutdown() {
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_array array = nullptr, other = nullptr;
  const int64_t shape[] = {3};
  bool right = guf_device_get(nullptr, "cpu", &cpu, &error) == GUF_OK;
  right = right && guf_array_alloc(cpu, GUF_F32, 1, shape, nullptr, 0, &array, &error) == GUF_OK;
  right = right && guf_shutdown(UINT64_MAX, &error) == GUF_OK;
  right = right && guf_device_get(nullptr, "cpu", &cpu, &error) == GUF_E_SHUTDOWN;
  right = right &&
          guf_array_alloc(cpu, GUF_F32, 1, shape, nullptr, 0, &other, &error) == GUF_E_SHUTDOWN;
  right = right && guf_array_release(array, &error) == GUF_OK;
  right = right && guf_poll(0, nullptr, &error) == GUF_OK;
  std::_Exit(right ? 0 : 1);
}

TEST(NullShutdown, IsReportedByEveryCallThatNeedsADevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_after_shutdown(), ::testing::ExitedWithCode(0), "");
}

using ::testing::HasSubstr;

void do_nothing(void *, const void *) {}

const guf_module_parameter kParameters[] = {{GUF_PARAMETER_POINTER, GUF_F32, 0, 0}};
const guf_module_parameters kAll = {1, sizeof(guf_kernel_head) + 8, kParameters};
const guf_module_kernel kKernels[] = {{"work", "guf_rk_work", nullptr, &kAll, 0, 0, 32, 0, 0, 0}};
void (*const kEntries[])(void) = {reinterpret_cast<void (*)(void)>(do_nothing)};
const guf_module_image kImages[] = {
    {GUF_IMAGE_HOST, GUF_CODEC_NONE, "x86-64", nullptr, 0, 0, kEntries}};
const guf_module_v1 kTable = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "raw_host", 0, 1, 1, 1, nullptr, kImages, kKernels};
const guf_module_v1 kWithoutCode = {
    sizeof(guf_module_v1), GUF_KERNEL_ABI, "raw_none", 0, 0, 1, 1, nullptr, nullptr, kKernels};

class NullRawKernels : public NullDevices {
 protected:
  guf_status launch(const guf_module_v1 &table, guf_array array) {
    guf_module module = nullptr;
    guf_kernel kernel = nullptr;
    EXPECT_EQ(guf_module_register(nullptr, &table, &module, &error_), GUF_OK) << error_.message;
    EXPECT_EQ(guf_kernel_find(module, "work", &kernel, &error_), GUF_OK) << error_.message;
    const uint32_t one[] = {1, 1, 1};
    const guf_operand argument = operand_of(array);
    const guf_status status =
        guf_kernel_launch(kernel, nullptr, one, one, 0, 1, &argument, &error_);
    guf_kernel_release(kernel, nullptr);
    guf_module_release(module, nullptr);
    return status;
  }
};

TEST_F(NullRawKernels, ABackendWithoutTheExtensionRefuses) {
  const guf_array near = keep(make(find_device("null:0"), GUF_F32, std::vector<float>{1, 2}));
  EXPECT_EQ(launch(kTable, near), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("null:0: backend null has no raw kernels"));
}

TEST_F(NullRawKernels, AModuleWithoutCodeForTheDeviceIsReported) {
  const guf_array here = keep(make(find_device("cpu"), GUF_F32, std::vector<float>{1, 2}));
  EXPECT_EQ(launch(kTable, here), GUF_OK) << error_.message;
  EXPECT_EQ(launch(kWithoutCode, here), GUF_E_NO_IMAGE);
  EXPECT_THAT(error_.message, HasSubstr("no code of the kernel 'raw_none:work' for device cpu"));
}

}  // namespace
