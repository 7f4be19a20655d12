// SPDX-License-Identifier: Apache-2.0
// Tests calls on device auto. Calls on host memory run on the GPU if they have much work per
// transferred byte, and otherwise on the host. All other calls run as if they named the device that
// auto selects.
#include <cmath>
#include <cstring>

#include "auto_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class AutoCalls : public Auto {
 protected:
  std::vector<double> x_ = {1, 2, 3}, out_ = {0, 0, 0};
  std::vector<double> large_ = std::vector<double>(30000, 0.75), sum_ = {0},
                      sums_ = std::vector<double>(kUnits);
};

// Elementwise calls on host memory stay on the host for any size. Their results have the same bits
// as the results of calls that name the cpu.
TEST_P(AutoCalls, ElementwiseCallsStayOnTheHost) {
  std::vector<double> a(100000), b(a.size()), here(a.size()), there(a.size());
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::sqrt(static_cast<double>(i));
  for (const char *const name : {"sin", "sqrt"}) {
    ASSERT_EQ(run(name, {Auto::here(a)}, Auto::here(here)), GUF_OK) << error_.message;
    args_.options.device = cpu_;
    ASSERT_EQ(run(name, {Auto::here(a)}, Auto::here(there)), GUF_OK) << error_.message;
    args_.options.device = auto_;
    EXPECT_EQ(std::memcmp(here.data(), there.data(), here.size() * sizeof(double)), 0) << name;
  }
  ASSERT_EQ(run("add", {Auto::here(a), scalar_of(1)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu");
  ASSERT_EQ(run("auto_both:thrice", {Auto::here(x_)}, Auto::here(out_)), GUF_OK) << error_.message;
  EXPECT_THAT(out_, testing::ElementsAre(3, 6, 9));
  ASSERT_EQ(run("add", {scalar_of(1), scalar_of(1)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu");
  EXPECT_FALSE(ran_on_device());
}

TEST_P(AutoCalls, SmallProductsStayOnTheHost) {
  std::vector<double> a(64 * 64, 0.1), auto_out(64 * 64), cpu_out(64 * 64);
  ASSERT_EQ(run("matmul", {here(a, {64, 64}), here(a, {64, 64})}, here(auto_out, {64, 64})), GUF_OK)
      << error_.message;
  args_.options.device = cpu_;
  ASSERT_EQ(run("matmul", {here(a, {64, 64}), here(a, {64, 64})}, here(cpu_out, {64, 64})), GUF_OK);
  EXPECT_EQ(auto_out, cpu_out);
  EXPECT_FALSE(ran_on_device());
}

// Each compute unit multiplies a 4 x 16384 matrix by a 16384 x 4 matrix. Each operand is one
// broadcast number, so the call performs 3.5e7 steps but transfers only 17 KB.
TEST_P(AutoCalls, ManyProductsRunOnTheDevice) {
  constexpr int64_t kInner = 16384;
  double a = 1.5, b = 2;
  std::vector<double> out(kUnits * 16);
  ASSERT_EQ(run("matmul", {stretched(a, {kUnits, 4, kInner}), stretched(b, {kUnits, kInner, 4})},
                here(out, {kUnits, 4, 4})),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(out, Each(3.0 * kInner));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// The call has one item with about as much work as the whole call in the previous test. A device
// would compute the item in a single block.
TEST_P(AutoCalls, OneLargeProductStaysOnTheHost) {
  double a = 1.5, b = 2;
  std::vector<double> out(256);
  ASSERT_EQ(
      run("matmul", {stretched(a, {16, 131072}), stretched(b, {131072, 16})}, here(out, {16, 16})),
      GUF_OK)
      << error_.message;
  EXPECT_THAT(out, Each(3.0 * 131072));
  EXPECT_FALSE(ran_on_device());
  EXPECT_THAT(explain("matmul", {stretched(a, {4096, 4096}), stretched(b, {4096, 4096})}),
              HasSubstr(on_cpu() ? "the host itself" : "not used, as the host is faster"));
}

TEST_P(AutoCalls, CallsWithMuchWorkRunOnTheDevice) {
  ASSERT_EQ(run("auto_both:ends", {looped(large_), here(large_)}, here(sums_)), GUF_OK)
      << error_.message;
  EXPECT_THAT(sums_, Each(2.25));
  EXPECT_EQ(ran_on_device(), !on_cpu());
  ASSERT_EQ(run("auto_both:ends", {looped(large_), here(large_)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu");
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// The signature has no output, so the operand is inout. The calls run in place, into an allocated
// output, or into a given output.
TEST_P(AutoCalls, CallsWithMuchWorkInPlaceAndIntoSeparateOutputs) {
  const std::vector<int64_t> shape = {kUnits, 300};
  std::vector<double> y(kUnits * 300, 1), to(kUnits * 300, 0);
  ASSERT_EQ(guf_call(find("auto_both:shift"), ready({here(large_), here(y, shape)}, {}), &error_),
            GUF_OK)
      << error_.message;
  EXPECT_EQ(y[0], 1.75);
  EXPECT_EQ(ran_on_device(), !on_cpu());
  ASSERT_EQ(run("auto_both:shift", {here(large_), here(y, shape)}, here(to, shape)), GUF_OK)
      << error_.message;
  EXPECT_EQ(to[0], 2.5);
  EXPECT_EQ(to[1], 1);
  EXPECT_EQ(y[0], 1.75);
  EXPECT_EQ(ran_on_device(), !on_cpu());
  ASSERT_EQ(run("auto_both:shift", {here(large_), here(y, shape)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu");
  guf_array_info info = {};
  info.struct_size = sizeof info;
  guf_array_get_info(outputs_[0].array, &info, nullptr);
  EXPECT_EQ(*reinterpret_cast<const double *>(info.address), 2.5);
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoCalls, OperandsAndStreamsDecideAsEver) {
  const guf_array x = filled(device(0), 3, 4);
  ran_on_device();
  ASSERT_EQ(run("add", {operand_of(x), operand_of(x)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), there());
  EXPECT_THAT(values(outputs_[0].array), Each(8.0F));
  EXPECT_EQ(ran_on_device(), !on_cpu());
  args_.options.stream = stream(auto_);
  ASSERT_EQ(run("add", {here(x_), here(x_)}, here(out_)), GUF_OK) << error_.message;
  synchronize(args_.options.stream);
  EXPECT_THAT(out_, testing::ElementsAre(2, 4, 6));
  EXPECT_EQ(ran_on_device(), !on_cpu());
  args_.options.stream = nullptr;
  if (on_cpu()) return;
  EXPECT_EQ(run("add", {operand_of(x), here(x_)}, {}), GUF_E_DEVICE_MISMATCH);
  args_.host_policy = GUF_HOST_COPY;
  ASSERT_EQ(run("add", {operand_of(x), here(x_)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), there());
  args_.host_policy = GUF_HOST_DEFAULT;
  const guf_array other = filled(device(1), 3, 4);
  EXPECT_EQ(run("add", {operand_of(other), operand_of(other)}, {}), GUF_E_DEVICE_MISMATCH);
  args_.options.stream = stream(cpu_);
  EXPECT_EQ(run("add", {here(x_), here(x_)}, {}), GUF_E_DEVICE_MISMATCH);
}

// A call that names a device runs on this device, whatever the size of the call is.
TEST_P(AutoCalls, NamedDevicesNeverFallBack) {
  args_.options.device = device(0);
  ASSERT_EQ(run("add", {here(x_), here(x_)}, here(out_)), GUF_OK) << error_.message;
  EXPECT_EQ(ran_on_device(), !on_cpu());
  args_.options.device = cpu_;
  ASSERT_EQ(run("auto_both:ends", {here(large_), here(large_)}, {}), GUF_OK) << error_.message;
  EXPECT_FALSE(ran_on_device());
  if (on_cpu()) return;
  args_.options.device = device(0);
  EXPECT_EQ(run("auto_host_only:ends", {here(large_), here(large_)}, {}), GUF_E_NO_IMAGE);
}

// The placement rule uses only sizes. However, a call that only one device can run must run on this
// device.
TEST_P(AutoCalls, ACallWithOneUsableDeviceRunsOnIt) {
  ASSERT_EQ(run("auto_host_only:ends", {looped(large_), here(large_)}, here(sums_)), GUF_OK)
      << error_.message;
  EXPECT_THAT(sums_, Each(2.25));
  EXPECT_FALSE(ran_on_device());
  EXPECT_THAT(explain("auto_host_only:ends", {looped(large_), here(large_)}),
              HasSubstr(on_cpu() ? "the host itself" : "as it has no kernel for the loop"));
  if (on_cpu()) return;
  ASSERT_EQ(run("auto_device_only:thrice", {here(x_)}, here(out_)), GUF_OK) << error_.message;
  EXPECT_THAT(out_, testing::ElementsAre(3, 6, 9));
  EXPECT_TRUE(ran_on_device());
  ASSERT_EQ(run("auto_device_only:thrice", {scalar_of(5)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu") << "results are host arrays";
  EXPECT_TRUE(ran_on_device());
  EXPECT_THAT(explain("auto_device_only:thrice", {here(x_)}), HasSubstr("the host has no kernel"));
  args_.options.device = cpu_;
  EXPECT_EQ(run("auto_device_only:thrice", {here(x_)}, here(out_)), GUF_E_NO_IMAGE);
}

// The device has 8 MiB of memory. The operands of the whole call do not fit, but the chunks do.
TEST_P(AutoCalls, OperandsLargerThanTheDevice) {
  std::vector<double> rows(200 * 30000, 0.5), sums(200);
  const guf_operand row = here(rows, {200, 30000});
  ASSERT_EQ(run("auto_both:ends", {row, row}, here(sums)), GUF_OK) << error_.message;
  EXPECT_THAT(sums, Each(1.5));
  EXPECT_FALSE(ran_on_device());
  EXPECT_THAT(explain("auto_both:ends", {row, row}),
              HasSubstr(on_cpu() ? "the host itself" : "larger than its memory"));
  sums.assign(200, 0);
  int64_t done = 0;
  ASSERT_EQ(guf_call_chunked(find("auto_both:ends"), ready({row, row}, {here(sums)}), nullptr,
                             &done, &error_),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(sums, Each(1.5));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoCalls, ChunkedCallsWithLittleWorkStayOnTheHost) {
  std::vector<double> a(100000, 2), out(100000);
  int64_t done = 0;
  ASSERT_EQ(guf_call_chunked(find("add"), ready({here(a), here(a)}, {here(out)}), nullptr, &done,
                             &error_),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(out, Each(4.0));
  EXPECT_FALSE(ran_on_device());
}

// A plan copies no operands, so a plan with host operands runs on the host, however much work it
// has.
TEST_P(AutoCalls, PlansRunWhereTheirOperandsAre) {
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(find("auto_both:ends"),
                            ready({here(large_), here(large_)}, {here(sum_)}), &plan, &error_),
            GUF_OK)
      << error_.message;
  const uint64_t addresses[] = {reinterpret_cast<uint64_t>(large_.data()),
                                reinterpret_cast<uint64_t>(large_.data()),
                                reinterpret_cast<uint64_t>(sum_.data())};
  EXPECT_EQ(guf_plan_launch(plan, nullptr, 3, addresses, 0, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(sum_[0], 2.25);
  EXPECT_FALSE(ran_on_device());
  char text[8192];
  uint64_t length = sizeof text;
  EXPECT_EQ(guf_plan_explain(plan, text, &length, &error_), GUF_OK);
  EXPECT_THAT(text,
              HasSubstr(on_cpu() ? "the host itself" : "as a plan does not transfer operands"));
  guf_plan_release(plan, nullptr);

  const guf_array x = filled(device(0), 3, 4), to = filled(device(0), 3, 0);
  ASSERT_EQ(guf_plan_create(find("add"), ready({operand_of(x), operand_of(x)}, {operand_of(to)}),
                            &plan, &error_),
            GUF_OK)
      << error_.message;
  length = sizeof text;
  EXPECT_EQ(guf_plan_explain(plan, text, &length, &error_), GUF_OK);
  EXPECT_THAT(text, HasSubstr("add on " + there() + ":"));
  guf_plan_release(plan, nullptr);
}

// The placement rule assumes that the host processes 2560 bytes per ns. It assumes that a GPU needs
// 50 us per call, transfers 8 bytes per ns, and processes 40 bytes per ns in each block, with at
// most 132 blocks at a time.
TEST_P(AutoCalls, TheRule) {
  if (on_cpu()) GTEST_SKIP() << "nothing is weighed";
  std::vector<double> a(495), b(485);
  EXPECT_THAT(explain("auto_both:ends", {looped(a), looped(a)}),
              HasSubstr("ends on " + there() + ": "));
  EXPECT_EQ(line_of(explain("auto_both:ends", {looped(a), looped(a)}), "device auto"),
            "device auto is " + there() +
                ": used, as the work outweighs the transfer: 32343300 steps of work in 132 "
                "blocks, 8976 bytes to transfer");
  EXPECT_EQ(line_of(explain("auto_both:ends", {looped(b), looped(b)}), "device auto"),
            "device auto is " + there() +
                ": not used, as the host is faster: 31049700 steps of work in 132 blocks, "
                "8816 bytes to transfer");
  // Elements of 4 bytes count as half the work of elements of 8 bytes.
  std::vector<float> c(495);
  EXPECT_THAT(explain("auto_both:ends", {looped(c), looped(c)}),
              HasSubstr("not used, as the host is faster"));
  // A core dimension that a rule computes from other dimensions adds no work. A broadcast operand
  // is transferred once. One item is computed by one block.
  std::vector<double> d(4400), e(4300);
  double one = 1;
  EXPECT_THAT(explain("auto_both:first_of", {here(d), here(e)}),
              HasSubstr("not used, as the host is faster: 18920000 steps of work in 1 "
                        "block, 103992 bytes"));
  EXPECT_THAT(explain("auto_both:ends", {stretched(one, {10, 4400}), here(d)}),
              HasSubstr(": 193600000 steps of work in 10 blocks, 35288 bytes"));
}

// Calls without elements stay on the host, and invalid calls fail before anything is launched on
// the device.
TEST_P(AutoCalls, EmptyCallsAndErrors) {
  std::vector<double> none;
  ASSERT_EQ(run("add", {here(none), here(none)}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), "cpu");
  EXPECT_EQ(run("add", {here(x_), here(large_)}, {}), GUF_E_SHAPE);
  EXPECT_EQ(run("matmul", {here(x_), here(large_)}, {}), GUF_E_SHAPE);
  EXPECT_FALSE(ran_on_device());
}

INSTANTIATE_TEST_SUITE_P(On, AutoCalls, testing::Values(chosen()), name_of);

}  // namespace
}  // namespace device_test
