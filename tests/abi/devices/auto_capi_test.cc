// SPDX-License-Identifier: Apache-2.0
// Tests the handle of device "auto". Calls treat the handle as a device of its own, and all other
// functions treat it as the device that auto selects. The tests in tests/abi/misuse pass the handle
// to every function that accepts a device.
#include "auto_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::HasSubstr;

class AutoHandle : public Auto {
 protected:
  guf_device_info info(guf_device device) {
    guf_device_info found = {};
    found.struct_size = sizeof found;
    EXPECT_EQ(guf_device_get_info(device, &found, &error_), GUF_OK) << error_.message;
    return found;
  }
};

TEST_P(AutoHandle, DescribesTheChosenDevice) {
  EXPECT_EQ(spec_of(auto_), there());
  EXPECT_NE(auto_, device(0)) << "auto has a handle of its own";
  EXPECT_EQ(info(auto_).memory_bytes, info(device(0)).memory_bytes);
  EXPECT_STREQ(info(auto_).target, info(device(0)).target);
  EXPECT_EQ(guf_device_retain(auto_, &error_), GUF_OK);
  EXPECT_EQ(guf_device_release(auto_, &error_), GUF_OK);
  EXPECT_EQ(guf_device_release(auto_, &error_), GUF_OK) << "immortal";
  EXPECT_EQ(spec_of(auto_), there());
  const auto wrong = reinterpret_cast<guf_device>(reinterpret_cast<uint64_t>(auto_) ^ 0x100);
  EXPECT_EQ(guf_device_release(wrong, &error_), GUF_E_HANDLE);
  EXPECT_THAT(error_.message, HasSubstr("device is not a live device handle"));
}

TEST_P(AutoHandle, IsTheSameInEveryContextThatChoseTheSame) {
  guf_context context = nullptr;
  guf_device other = nullptr, again = nullptr;
  ASSERT_EQ(guf_context_create(0, &context, &error_), GUF_OK);
  ASSERT_EQ(guf_device_get(context, "auto", &other, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(other, auto_);
  guf_context_release(context, nullptr);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(guf_device_get(nullptr, "auto", &again, &error_), GUF_OK);
  EXPECT_EQ(again, auto_);
  EXPECT_EQ(spec_of(other), there()) << "the handle outlives its context";
}

TEST_P(AutoHandle, TheChoiceIsReportedOnce) {
  const auto log = [] {
    std::string all, text(300, '\0');
    int32_t level = 0;
    while (guf_log_read(text.data(), text.size(), &level, nullptr) == GUF_OK && level >= 0)
      all += text.c_str() + std::string("\n");
    return all;
  };
  log();
  guf_context context = nullptr;
  guf_device device = nullptr;
  ASSERT_EQ(guf_context_create(0, &context, &error_), GUF_OK);
  ASSERT_EQ(guf_device_get(context, "auto", &device, &error_), GUF_OK);
  EXPECT_THAT(
      log(),
      HasSubstr("device auto is " + there() +
                (on_cpu() ? "" : "; calls on host arrays that are faster on the cpu stay there")));
  ASSERT_EQ(guf_device_get(context, "auto", &device, &error_), GUF_OK);
  EXPECT_EQ(log(), "");
  guf_context_release(context, nullptr);
}

TEST_P(AutoHandle, MakesStreamsEventsAndArraysOfThatDevice) {
  const guf_stream auto_stream = stream(auto_);
  guf_device found = nullptr;
  ASSERT_EQ(guf_stream_get_device(auto_stream, &found, &error_), GUF_OK);
  EXPECT_EQ(found, device(0));
  const guf_event done = event(auto_);
  EXPECT_EQ(guf_event_record(done, auto_stream, &error_), GUF_OK) << error_.message;
  const guf_array array = empty(auto_, {4});
  EXPECT_EQ(place_of(array), there());
  const guf_array ones = floats(auto_, {1, 1, 1, 1});
  EXPECT_EQ(place_of(ones), there());
  EXPECT_THAT(values(ones), Each(1.0F));
  EXPECT_EQ(guf_device_synchronize(auto_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(ones, &info, &error_), GUF_OK);
  EXPECT_EQ(info.device, device(0)) << "the handle of the device, not of auto";
}

TEST_P(AutoHandle, ReportsTheDeviceOfATensor) {
  const guf_array ones = floats(device(0), {1, 1, 1, 1});
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(ones, &info, &error_), GUF_OK);
  const int64_t shape = 4;
  const guf_tensor tensor = {sizeof tensor, GUF_F32, 1, 0, info.address, &shape, nullptr, auto_};
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_TENSOR;
  operand.tensor = &tensor;
  ran_on_device();
  ASSERT_EQ(run("add", {operand, operand}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), there());
  EXPECT_THAT(values(outputs_[0].array), Each(2.0F));
  guf_array wrapped = nullptr;
  ASSERT_EQ(guf_array_wrap(&tensor, nullptr, nullptr, 0, &wrapped, &error_), GUF_OK);
  EXPECT_EQ(place_of(keep(wrapped)), there());
}

TEST_P(AutoHandle, ManagesThatDevicesMemory) {
  if (on_cpu()) GTEST_SKIP() << "the host has no pool";
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  empty(auto_, {1024});
  ASSERT_EQ(guf_device_get_memory(auto_, &memory, &error_), GUF_OK) << error_.message;
  EXPECT_GE(memory.live_bytes, 4096U);
  EXPECT_EQ(guf_device_trim_memory(auto_, 0, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_limit_memory(auto_, uint64_t{4} << 20, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_device_get_memory(device(0), &memory, &error_), GUF_OK);
  EXPECT_EQ(memory.limit_bytes, uint64_t{4} << 20);
  EXPECT_EQ(guf_device_limit_memory(auto_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_enable_peer(auto_, device(1), &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_enable_peer(device(1), auto_, &error_), GUF_OK) << error_.message;
  uint64_t native = 0;
  EXPECT_EQ(guf_stream_get_native(auto_, nullptr, &native, &error_), GUF_OK) << error_.message;
  std::vector<char> bytes(8192);
  const auto address = reinterpret_cast<uint64_t>(bytes.data());
  EXPECT_EQ(guf_host_register(auto_, address, bytes.size(), &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_host_unregister(device(0), address, &error_), GUF_OK) << error_.message;
}

// Pinned and mapped memory is host memory, so the placement rule applies to calls that use it.
TEST_P(AutoHandle, HostMemoryOfTheDevice) {
  const int64_t shape = 4;
  for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
    guf_array array = nullptr;
    ASSERT_EQ(guf_array_alloc_host(auto_, kind, GUF_F64, 1, &shape, nullptr, GUF_ORDER_C, &array,
                                   &error_),
              GUF_OK)
        << error_.message;
    keep(array);
    const guf_operand zero = scalar_of(0);
    ASSERT_EQ(guf_array_fill(array, &zero, nullptr, &error_), GUF_OK) << error_.message;
    ran_on_device();
    ASSERT_EQ(run("add", {operand_of(array), scalar_of(2)}, operand_of(array)), GUF_OK)
        << error_.message;
    guf_array_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK);
    EXPECT_EQ(reinterpret_cast<const double *>(info.address)[3], 2) << kind;
    EXPECT_FALSE(ran_on_device()) << kind;
    std::vector<double> large(30000, 1);
    ASSERT_EQ(run("auto_both:ends", {here(large), operand_of(array)}, {}), GUF_OK)
        << error_.message;  // 120000 steps of work
    EXPECT_FALSE(ran_on_device()) << kind;
  }
}

TEST_P(AutoHandle, CallsWithMuchWorkOnMappedMemory) {
  const int64_t shape = 30000;
  guf_array array = nullptr;
  ASSERT_EQ(guf_array_alloc_host(auto_, GUF_HOST_MAPPED, GUF_F64, 1, &shape, nullptr, GUF_ORDER_C,
                                 &array, &error_),
            GUF_OK)
      << error_.message;
  const guf_operand half = scalar_of(0.5F);
  ASSERT_EQ(guf_array_fill(keep(array), &half, nullptr, &error_), GUF_OK) << error_.message;
  std::vector<double> other(30000, 0.5), sums(kUnits);
  ran_on_device();
  ASSERT_EQ(run("auto_both:ends", {operand_of(array), looped(other)}, here(sums)), GUF_OK)
      << error_.message;
  EXPECT_THAT(sums, testing::Each(1.5));
  EXPECT_EQ(ran_on_device(), !on_cpu());
  ASSERT_EQ(run("auto_both:ends", {operand_of(array), looped(other)}, {}), GUF_OK);
  EXPECT_EQ(place_of(outputs_[0].array), "cpu")
      << "like the result of a call that stays on the host";
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoHandle, Graphs) {
  if (on_cpu()) GTEST_SKIP() << "the host has no graphs";
  const guf_stream auto_stream = stream(auto_);
  const guf_array x = filled(auto_, 4, 1);
  synchronize(auto_stream);
  ASSERT_EQ(guf_stream_begin_capture(auto_stream, &error_), GUF_OK) << error_.message;
  args_.options.stream = auto_stream;
  ASSERT_EQ(run("add", {operand_of(x), operand_of(x)}, operand_of(x)), GUF_OK) << error_.message;
  guf_graph graph = nullptr;
  ASSERT_EQ(guf_stream_end_capture(auto_stream, &graph, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_graph_launch(graph, auto_stream, &error_), GUF_OK) << error_.message;
  synchronize(auto_stream);
  EXPECT_THAT(values(x), Each(2.0F));
  guf_graph_release(graph, nullptr);
}

// The loader maps a module file only once, even if two contexts load the module. If one context
// releases the module, the other context can still run it.
TEST_P(AutoHandle, OneFileInTwoContexts) {
  const guf_array x = empty(device(0), {4}, GUF_F64);
  const guf_operand one = scalar_of(1);
  ASSERT_EQ(guf_array_fill(x, &one, nullptr, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(run("auto_both:thrice", {operand_of(x)}, operand_of(x)), GUF_OK) << error_.message;
  guf_context other = nullptr;
  guf_module module = nullptr;
  guf_ufunc thrice = nullptr;
  ASSERT_EQ(guf_context_create(0, &other, &error_), GUF_OK);
  ASSERT_EQ(guf_module_load(other, GUFUNC_TEST_MODULES "/auto_both.so", 0, &module, &error_),
            GUF_OK)
      << error_.message;
  ASSERT_EQ(guf_ufunc_find(other, "thrice", &thrice, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_call(thrice, ready({operand_of(x)}, {operand_of(x)}), &error_), GUF_OK)
      << error_.message;
  guf_ufunc_release(thrice, nullptr);
  guf_module_release(module, nullptr);
  guf_context_release(other, nullptr);
  ASSERT_EQ(run("auto_both:thrice", {operand_of(x)}, operand_of(x)), GUF_OK) << error_.message;
  double elements[4] = {};
  ASSERT_EQ(guf_array_copy_to_host(x, elements, sizeof elements, GUF_ORDER_C, nullptr, &error_),
            GUF_OK);
  EXPECT_THAT(elements, Each(27.0));
}

INSTANTIATE_TEST_SUITE_P(On, AutoHandle, testing::Values(chosen()), name_of);

}  // namespace
}  // namespace device_test
