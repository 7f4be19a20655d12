// SPDX-License-Identifier: Apache-2.0
// Tests functions of the library as a whole: version, log, device "auto", and what still works
// after guf_shutdown. The tests run in one process in the order of this file.
#include <limits>

#include "array_fixture.h"

namespace {

class Library : public ArrayTest {};

TEST_F(Library, ReportsItsVersionTwice) {
  const uint32_t version = guf_version();
  const std::string text = std::to_string(version >> 22) + "." +
                           std::to_string(version >> 12 & 0x3FF) + "." +
                           std::to_string(version & 0xFFF);
  EXPECT_EQ(text, guf_version_string());
}

TEST_F(Library, DecidesAutoOncePerContext) {
  guf_context context = nullptr;
  expect(guf_context_create(0, &context, &error_));
  guf_device first = nullptr;
  guf_device second = nullptr;
  expect(guf_device_get(context, "auto", &first, &error_));
  char text[300];
  int32_t level = -1;
  bool report = false;
  do {
    expect(guf_log_read(text, sizeof text, &level, &error_));
    report |= std::string(text).find("device auto is ") == 0;
  } while (level >= 0);
  EXPECT_TRUE(report);
  expect(guf_device_get(context, "auto", &second, &error_));
  EXPECT_EQ(first, second);
  expect(guf_log_read(text, sizeof text, &level, &error_));
  EXPECT_EQ(level, -1);  // the device is chosen and logged once per context
  EXPECT_STREQ(text, "");
  expect(guf_context_release(context, &error_));
}

TEST_F(Library, DescribesItsDevices) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  expect(guf_device_get_info(cpu_, &info, &error_));
  EXPECT_STREQ(info.backend, "cpu");
  EXPECT_STREQ(info.spec, "cpu");
  EXPECT_EQ(info.host_memory, 1U);
  EXPECT_GT(info.units, 0U);
}

int ran = 0;
void count(void *, uint64_t) {
  ++ran;
}

TEST_F(Library, ShutsDownInOrder) {
  double data[2] = {1, 2};
  const int64_t shape = 2;
  gufunc::Operands operands;
  guf_array wrapped = nullptr;
  expect(guf_array_wrap(operands.tensor({GUF_F64, data, {shape}, {}, 0})->tensor, count, nullptr, 0,
                        &wrapped, &error_));
  guf_stream stream = nullptr;
  expect(guf_stream_create(cpu_, 0, &stream, &error_));
  const guf_array own = alloc(GUF_F64, {1 << 20});
  guf_ufunc negative = nullptr;
  expect(guf_ufunc_find(nullptr, "negative", &negative, &error_));
  const guf_operand operand = gufunc::operand_of(own);
  guf_operand result = operand;
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.inputs = &operand;
  args.ninputs = 1;
  args.outputs = &result;
  args.noutputs = 1;
  guf_plan plan = nullptr;
  expect(guf_plan_create(negative, &args, &plan, &error_));
  const guf_operand value = gufunc::weak_float_of(4);
  expect(guf_array_fill(own, &value, stream, &error_));
  expect(guf_array_release(wrapped, &error_));
  expect(guf_shutdown(std::numeric_limits<uint64_t>::max(), &error_));
  EXPECT_EQ(ran, 1);

  // After a shutdown, handles can still be released. Functions that need a device fail and report
  // the reason.
  guf_array made = nullptr;
  guf_stream late = nullptr;
  guf_event event = nullptr;
  guf_device device = nullptr;
  expect(guf_array_alloc(cpu_, GUF_F64, 1, &shape, nullptr, GUF_ORDER_C, &made, &error_),
         GUF_E_SHUTDOWN);
  expect(guf_array_copy(own, GUF_ORDER_C, nullptr, &made, &error_), GUF_E_SHUTDOWN);
  expect(guf_array_fill(own, &value, nullptr, &error_), GUF_E_SHUTDOWN);
  expect(guf_stream_create(cpu_, 0, &late, &error_), GUF_E_SHUTDOWN);
  expect(guf_event_create(cpu_, 0, &event, &error_), GUF_E_SHUTDOWN);
  expect(guf_device_get(nullptr, "cpu", &device, &error_), GUF_E_SHUTDOWN);
  const uint64_t addresses[] = {info(own).address, info(own).address};
  expect(guf_plan_launch(plan, nullptr, 2, addresses, 0, &error_), GUF_E_SHUTDOWN);
  expect(guf_call(negative, &args, &error_), GUF_E_SHUTDOWN);
  expect(guf_plan_release(plan, &error_));
  expect(guf_ufunc_release(negative, &error_));
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(info(own).size, uint64_t{1} << 20);
  expect(guf_stream_release(stream, &error_));
  expect(guf_shutdown(0, &error_));
  expect(guf_poll(0, nullptr, &error_));
}

}  // namespace
