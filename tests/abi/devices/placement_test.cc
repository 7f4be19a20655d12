// SPDX-License-Identifier: Apache-2.0
// Tests on which device a call runs and which operands it copies, by the rules of docs/devices.md.
#include <cstring>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class Placement : public Devices {
 protected:
  guf_operand here(std::vector<float> &values) {
    return *operands_.tensor(gufunc::view(GUF_F32, values));
  }
  guf_status add(guf_operand a, guf_operand b, guf_operand out) {
    inputs_[0] = a;
    inputs_[1] = b;
    output_ = out;
    args_.struct_size = sizeof args_;
    args_.ninputs = 2;
    args_.noutputs = 1;
    args_.inputs = inputs_;
    args_.outputs = &output_;
    error_ = fresh_error();
    const guf_status status = guf_call(find("add"), &args_, &error_);
    if (status == GUF_OK && out.kind == GUF_OPERAND_NONE) keep(output_.array);
    return status;
  }
  guf_device place_of(guf_array array) {
    guf_array_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
    return info.device;
  }
  uint64_t launches() const {
    return sim().calls(backend_ == "cuda" ? "cuLaunchKernel" : "hipModuleLaunchKernel");
  }
  guf_device cpu() {
    guf_device found = nullptr;
    EXPECT_EQ(guf_device_get(nullptr, "cpu", &found, &error_), GUF_OK);
    return found;
  }

  const guf_device device_ = device(0), second_ = device(1);
  std::vector<float> a_ = {1, 2, 3}, out_ = {0, 0, 0};
  guf_call_args args_ = {};
  guf_operand inputs_[2] = {}, output_ = {};
  gufunc::Operands operands_;
};

// The call names a GPU. Operands are copied to the GPU and back, allocated outputs are host arrays,
// and the call is complete when it returns.
TEST_P(Placement, HostOperandsWithADeviceNamed) {
  args_.options.device = device_;
  const uint64_t before = launches();
  ASSERT_EQ(add(here(a_), here(a_), here(out_)), GUF_OK) << error_.message;
  EXPECT_THAT(out_, testing::ElementsAre(2, 4, 6));
  EXPECT_GT(launches(), before);
  ASSERT_EQ(add(here(a_), scalar_of(10), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), cpu());
  guf_array_info info = {};
  info.struct_size = sizeof info;
  guf_array_get_info(output_.array, &info, nullptr);
  EXPECT_EQ(reinterpret_cast<const float *>(info.address)[2], 13.0F);
}

// A plan copies no operands, so a plan for a GPU rejects host operands.
TEST_P(Placement, PlansTakeNoHostOperands) {
  const guf_operand given[] = {here(a_), here(a_)};
  output_ = here(out_);
  args_.struct_size = sizeof args_;
  args_.ninputs = 2;
  args_.noutputs = 1;
  args_.inputs = given;
  args_.outputs = &output_;
  args_.options.device = device_;
  guf_plan plan = nullptr;
  EXPECT_EQ(guf_plan_create(find("add"), &args_, &plan, &error_), GUF_E_UNSUPPORTED);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(std::string(error_.message),
            "operands are in host memory, which " + backend_ +
                ":0 cannot access; a plan does not copy operands: copy them to the device first");
}

// A plan rejects a mask that is the scalar false, because this mask is in host memory. If the mask
// is the scalar true, a launch requires an address for the mask, but does not read memory at this
// address.
TEST_P(Placement, PlansWithAScalarMask) {
  const guf_array x = filled(device_, 4, 2), y = filled(device_, 4, 0);
  const guf_operand given[] = {operand_of(x), operand_of(x)};
  guf_operand mask = scalar_of(0);
  mask.dtype = GUF_BOOL;
  output_ = operand_of(y);
  args_.struct_size = sizeof args_;
  args_.ninputs = 2;
  args_.noutputs = 1;
  args_.inputs = given;
  args_.outputs = &output_;
  args_.where = &mask;
  guf_plan plan = nullptr;
  EXPECT_EQ(guf_plan_create(find("add"), &args_, &plan, &error_), GUF_E_UNSUPPORTED);
  mask.value[0] = 1;
  ASSERT_EQ(guf_plan_create(find("add"), &args_, &plan, &error_), GUF_OK) << error_.message;
  guf_array_info from = {}, to = {};
  from.struct_size = to.struct_size = sizeof from;
  guf_array_get_info(x, &from, nullptr);
  guf_array_get_info(y, &to, nullptr);
  const uint64_t addresses[] = {from.address, from.address, to.address, 0};
  EXPECT_EQ(guf_plan_launch(plan, nullptr, 3, addresses, 0, &error_), GUF_E_ARG);
  EXPECT_EQ(guf_plan_launch(plan, nullptr, 4, addresses, 0, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(values(y), Each(4.0F));
  guf_plan_release(plan, nullptr);
}

// The call names a stream, and runs on the device of this stream.
TEST_P(Placement, HostOperandsWithAStream) {
  args_.options.stream = stream(second_);
  ASSERT_EQ(add(here(a_), here(a_), here(out_)), GUF_OK) << error_.message;
  EXPECT_THAT(out_, testing::ElementsAre(2, 4, 6));
  args_.options.device = device_;
  EXPECT_EQ(add(here(a_), here(a_), here(out_)), GUF_E_DEVICE_MISMATCH);
}

TEST_P(Placement, HostOperandsAlone) {
  const uint64_t before = launches();
  ASSERT_EQ(add(here(a_), here(a_), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), cpu());
  EXPECT_EQ(launches(), before);
}

// The call names neither device nor stream. The call is queued on the default stream of the device
// of its operands.
TEST_P(Placement, DeviceOperands) {
  const guf_array x = filled(second_, 100, 4);
  ASSERT_EQ(add(operand_of(x), operand_of(x), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), second_);
  EXPECT_THAT(values(output_.array), Each(8.0F));
  args_.options.device = device_;
  EXPECT_EQ(add(operand_of(x), operand_of(x), {}), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(error_.argument, -1);
  EXPECT_EQ(error_.message, "device: expected " + backend_ +
                                ":1, the device of the operands, got " + backend_ + ":0");
  args_.options.device = cpu();
  args_.options.stream = stream(second_);
  EXPECT_EQ(add(operand_of(x), operand_of(x), {}), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(error_.message,
            "device: expected " + backend_ + ":1, the device of the stream, got cpu");
  args_.options.device = nullptr;
  args_.options.stream = stream(device_);
  EXPECT_EQ(add(operand_of(x), operand_of(x), {}), GUF_E_DEVICE_MISMATCH);
  args_.options.stream = nullptr;
  const guf_array y = filled(device_, 100, 4);
  EXPECT_EQ(add(operand_of(x), operand_of(y), {}), GUF_E_DEVICE_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr("operands are on devices that a call may not mix"));
  args_.host_policy = GUF_HOST_COPY;  // the policy applies to host memory only
  EXPECT_EQ(add(operand_of(x), operand_of(y), {}), GUF_E_DEVICE_MISMATCH);
}

TEST_P(Placement, ScalarsHaveNoPlace) {
  const guf_array x = filled(device_, 3, 4);
  ASSERT_EQ(add(operand_of(x), scalar_of(1), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), device_);
  ASSERT_EQ(add(scalar_of(2), scalar_of(1), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), cpu());
  args_.options.device = second_;
  ASSERT_EQ(add(scalar_of(2), scalar_of(1), {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(output_.array), second_);
  EXPECT_THAT(values(output_.array), Each(3.0F));
}

TEST_P(Placement, AMix) {
  const guf_array x = filled(device_, 3, 10);
  EXPECT_EQ(add(operand_of(x), here(a_), {}), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(error_.argument, 1);
  EXPECT_EQ(add(operand_of(x), operand_of(x), here(out_)), GUF_E_DEVICE_MISMATCH);
  for (const guf_stream stream : {guf_stream{}, stream(device_)}) {
    args_.options.stream = stream;
    args_.host_policy = GUF_HOST_COPY;
    ASSERT_EQ(add(operand_of(x), here(a_), {}), GUF_OK) << error_.message;
    EXPECT_EQ(place_of(output_.array), device_);
    EXPECT_THAT(values(output_.array), testing::ElementsAre(11, 12, 13));
    ASSERT_EQ(add(operand_of(x), here(a_), here(out_)), GUF_OK) << error_.message;
    EXPECT_THAT(out_, testing::ElementsAre(11, 12, 13));
  }
}

TEST_P(Placement, AMixWithAWarning) {
  const guf_array x = filled(device_, 3, 10);
  const auto read_log = [&] {
    std::string all;
    char text[512];
    int32_t level = 0;
    while (guf_log_read(text, sizeof text, &level, nullptr) == GUF_OK && level >= 0) all += text;
    return all;
  };
  read_log();
  args_.host_policy = GUF_HOST_COPY;
  ASSERT_EQ(add(operand_of(x), here(a_), {}), GUF_OK) << error_.message;
  EXPECT_EQ(read_log().find("is copied to"), std::string::npos);
  args_.host_policy = GUF_HOST_COPY_AND_WARN;
  ASSERT_EQ(add(operand_of(x), here(a_), {}), GUF_OK) << error_.message;
  EXPECT_THAT(read_log(), HasSubstr("add: argument 1 is in host memory and is copied to"));
}

// A mask may be in the same kinds of memory as an operand. Output elements whose mask is false keep
// their values.
TEST_P(Placement, Masks) {
  const std::vector<uint8_t> bits = {1, 0, 1};
  args_.where = operands_.tensor(gufunc::view(GUF_BOOL, bits));
  args_.options.device = device_;
  out_ = {7, 7, 7};
  ASSERT_EQ(add(here(a_), here(a_), here(out_)), GUF_OK) << error_.message;
  EXPECT_THAT(out_, testing::ElementsAre(2, 7, 6));
  const guf_array x = filled(device_, 3, 5), to = filled(device_, 3, 7);
  EXPECT_EQ(add(operand_of(x), operand_of(x), operand_of(to)), GUF_E_DEVICE_MISMATCH);
  args_.host_policy = GUF_HOST_COPY;
  ASSERT_EQ(add(operand_of(x), operand_of(x), operand_of(to)), GUF_OK) << error_.message;
  EXPECT_THAT(values(to), testing::ElementsAre(10, 7, 10));
}

// A call with host operands runs after the earlier work of its stream. A call that names no stream
// runs after the earlier work of the default stream.
TEST_P(Placement, HostOperandsKeepTheOrder) {
  for (const guf_stream stream : {guf_stream{}, stream(device_)}) {
    const guf_array x = filled(device_, 3, 0);
    args_.options.stream = stream;
    args_.host_policy = GUF_HOST_COPY;
    for (int i = 0; i < 10; ++i) {
      ASSERT_EQ(add(operand_of(x), scalar_of(1), operand_of(x)), GUF_OK) << error_.message;
    }
    std::vector<float> zero = {0, 0, 0};
    ASSERT_EQ(add(operand_of(x), here(zero), here(out_)), GUF_OK) << error_.message;
    EXPECT_THAT(out_, Each(10.0F));
  }
}

TEST_P(Placement, Auto) {
  guf_device chosen = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "auto", &chosen, &error_), GUF_OK) << error_.message;
  guf_device_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_device_get_info(chosen, &info, &error_), GUF_OK);
  EXPECT_STREQ(info.spec, "cuda:0");  // preferred to roc and cpu
}

INSTANTIATE_TEST_SUITE_P(On, Placement, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
