// SPDX-License-Identifier: Apache-2.0
// Tests device auto. GUFUNC_TEST_AUTO names the expected choice: "cuda", "roc" or "cpu".
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <list>

#include "device_fixture.h"
#include "tests/support/requests.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

const char *chosen() {
  const char *const name = std::getenv("GUFUNC_TEST_AUTO");
  return name == nullptr ? "cuda" : name;
}

// Returns the line of `text` that begins with `begin`, or "".
std::string line_of(const std::string &text, const std::string &begin) {
  const size_t at = text.rfind(begin, 0) == 0 ? 0 : text.find("\n" + begin);
  if (at == std::string::npos) return "";
  const size_t first = at == 0 ? 0 : at + 1;
  return text.substr(first, text.find('\n', first) - first);
}

class Auto : public Devices {
 protected:
  Auto();

  // Makes an operand over host memory. `values` must exist until the end of the test.
  guf_operand here(std::vector<double> &values, std::vector<int64_t> shape);
  guf_operand here(std::vector<double> &values) {
    return here(values, {static_cast<int64_t>(values.size())});
  }
  // Makes an operand of the given shape in which one value is broadcast.
  guf_operand stretched(double &value, std::vector<int64_t> shape);
  // Makes an operand with kUnits equal items, which is one item for each compute unit of the
  // simulated device.
  guf_operand looped(std::vector<double> &values);
  guf_operand looped(std::vector<float> &values);
  static constexpr int64_t kUnits = 132;  // equals GUFUNC_SIM_UNITS in CMakeLists.txt

  // Returns the arguments of a call on device auto. The arguments are valid until the next call of
  // this function.
  guf_call_args *ready(std::vector<guf_operand> inputs, std::vector<guf_operand> outputs);
  guf_status run(const char *name, std::vector<guf_operand> inputs, guf_operand output);
  // Returns the lines of guf_explain about device auto and about the device of the call.
  std::string explain(const char *name, std::vector<guf_operand> inputs);

  uint64_t launches() const;
  bool ran_on_device();  // returns whether a kernel ran on the GPU since the last query
  std::string spec_of(guf_device device);
  std::string place_of(guf_array array);
  std::string there() const { return backend_ == "cpu" ? "cpu" : backend_ + ":0"; }

  guf_device auto_ = nullptr, cpu_ = nullptr;
  guf_call_args args_ = {};
  std::vector<guf_operand> inputs_, outputs_;
  gufunc::Operands operands_;
  uint64_t seen_ = 0;
};

Auto::Auto() {
  static const bool loaded = [] {
    for (const char *name : {"auto_both", "auto_host_only", "auto_device_only"}) {
      guf_error error = fresh_error();
      guf_module module = nullptr;  // never released
      const std::string path = std::string(GUFUNC_TEST_MODULES) + "/" + name + ".so";
      EXPECT_EQ(guf_module_load(nullptr, path.c_str(), 0, &module, &error), GUF_OK)
          << error.message;
    }
    return true;
  }();
  EXPECT_TRUE(loaded);
  EXPECT_EQ(guf_device_get(nullptr, "auto", &auto_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(guf_device_get(nullptr, "cpu", &cpu_, &error_), GUF_OK) << error_.message;
  args_.struct_size = sizeof args_;
  args_.options.device = auto_;
  seen_ = launches();
}

guf_operand Auto::here(std::vector<double> &values, std::vector<int64_t> shape) {
  return *operands_.tensor({GUF_F64, values.data(), std::move(shape), {}, 0});
}

guf_operand Auto::stretched(double &value, std::vector<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 0);
  return *operands_.tensor({GUF_F64, &value, std::move(shape), std::move(strides), 0});
}

guf_operand Auto::looped(std::vector<double> &values) {
  const std::vector<int64_t> shape = {kUnits, static_cast<int64_t>(values.size())};
  return *operands_.tensor({GUF_F64, values.data(), shape, {0, sizeof(double)}, 0});
}

guf_operand Auto::looped(std::vector<float> &values) {
  const std::vector<int64_t> shape = {kUnits, static_cast<int64_t>(values.size())};
  return *operands_.tensor({GUF_F32, values.data(), shape, {0, sizeof(float)}, 0});
}

guf_call_args *Auto::ready(std::vector<guf_operand> inputs, std::vector<guf_operand> outputs) {
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  args_.inputs = inputs_.data();
  args_.ninputs = static_cast<int32_t>(inputs_.size());
  args_.outputs = outputs_.empty() ? nullptr : outputs_.data();
  args_.noutputs = static_cast<int32_t>(outputs_.size());
  error_ = fresh_error();
  return &args_;
}

guf_status Auto::run(const char *name, std::vector<guf_operand> inputs, guf_operand output) {
  const bool missing = output.kind == GUF_OPERAND_NONE;
  const guf_status status = guf_call(find(name), ready(std::move(inputs), {output}), &error_);
  if (status == GUF_OK && missing) keep(outputs_[0].array);
  return status;
}

std::string Auto::explain(const char *name, std::vector<guf_operand> inputs) {
  std::string text(8192, '\0');
  uint64_t length = text.size();
  EXPECT_EQ(requests::explain_call(find(name), ready(std::move(inputs), {guf_operand{}}),
                                   text.data(), &length, &error_),
            GUF_OK)
      << error_.message;
  text.resize(length - 1);
  return text;
}

uint64_t Auto::launches() const {
  if (on_cpu()) return 0;
  return sim().calls(backend_ == "cuda" ? "cuLaunchKernel" : "hipModuleLaunchKernel");
}

bool Auto::ran_on_device() {
  const uint64_t before = std::exchange(seen_, launches());
  return seen_ != before;
}

std::string Auto::spec_of(guf_device device) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_device_get_info(device, &info, &error_), GUF_OK) << error_.message;
  return info.spec;
}

std::string Auto::place_of(guf_array array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(array, &info, &error_), GUF_OK) << error_.message;
  return info.device == nullptr ? "host" : spec_of(info.device);
}

// Tests the handle of device "auto". Calls treat the handle as a device of its own, and all other
// functions treat it as the device that auto selects. The tests in tests/abi/misuse pass the handle
// to every function that accepts a device.

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
  const guf_operand operand =
      *operands_.tensor({GUF_F32, reinterpret_cast<void *>(info.address), {4}, {}, 0, auto_});
  ran_on_device();
  ASSERT_EQ(run("add", {operand, operand}, {}), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(outputs_[0].array), there());
  EXPECT_THAT(values(outputs_[0].array), Each(2.0F));
  guf_array wrapped = nullptr;
  ASSERT_EQ(guf_array_wrap(operand.tensor, nullptr, nullptr, 0, &wrapped, &error_), GUF_OK);
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

// Tests calls on device auto. Calls on host memory run on the GPU if they have much work per
// transferred byte, and otherwise on the host. All other calls run as if they named the device that
// auto selects.

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

// Tests methods on device auto. A method runs on the host if its operands are in host memory, and
// otherwise on the device.

class AutoMethods : public Auto {
 protected:
  AutoMethods() {
    accumulate_.struct_size = sizeof accumulate_;
    accumulate_.options.device = auto_;
    at_.struct_size = sizeof at_;
    at_.options.device = auto_;
    reduce_.struct_size = sizeof reduce_;
    reduce_.options.device = auto_;
  }
  guf_operand indices(std::vector<int64_t> values) {
    lists_.push_back(std::move(values));
    return *operands_.tensor(gufunc::view(GUF_I64, lists_.back()));
  }
  template <class Args, class Query>
  std::string answer(Query query, const char *name, const Args &args) {
    std::string text(8192, '\0');
    uint64_t length = text.size();
    EXPECT_EQ(query(find(name), &args, text.data(), &length, &error_), GUF_OK) << error_.message;
    text.resize(length - 1);
    return text;
  }
  std::string kept() const {
    return on_cpu() ? "device auto is cpu: the host itself"
                    : "device auto is " + there() + ": not used, as the host is faster";
  }

  std::vector<double> x_ = {1, 2, 3, 4}, out_ = {0, 0, 0, 0};
  std::list<std::vector<int64_t>> lists_;
  guf_reduce_args reduce_ = {};
  guf_accumulate_args accumulate_ = {};
  guf_at_args at_ = {};
};

TEST_P(AutoMethods, Reduce) {
  guf_operand input = here(x_), output = {};
  reduce_.input = &input;
  reduce_.output = &output;
  EXPECT_EQ(line_of(answer(requests::explain_reduce, "add", reduce_), "device auto"), kept());
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(keep(output.array)), "cpu");
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  input = operand_of(there);
  output = {};
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(place_of(keep(output.array)), this->there());
  EXPECT_THAT(values(output.array), ElementsAre(12.0F));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, ReduceOnAStream) {
  guf_operand input = here(x_), output = here(out_, {});
  reduce_.input = &input;
  reduce_.output = &output;
  reduce_.options.stream = stream(auto_);
  ASSERT_EQ(guf_reduce(find("add"), &reduce_, &error_), GUF_OK) << error_.message;
  synchronize(reduce_.options.stream);
  EXPECT_EQ(out_[0], 10);
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, AccumulateAndReduceat) {
  guf_operand input = here(x_), output = here(out_);
  accumulate_.input = &input;
  accumulate_.output = &output;
  EXPECT_EQ(line_of(answer(requests::explain_accumulate, "add", accumulate_), "device auto"),
            kept());
  ASSERT_EQ(guf_accumulate(find("add"), &accumulate_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(out_, ElementsAre(1, 3, 6, 10));
  guf_operand places = indices({0, 2});
  std::vector<double> two(2);
  output = here(two);
  accumulate_.indices = &places;
  EXPECT_EQ(line_of(answer(requests::explain_reduceat, "add", accumulate_), "device auto"), kept());
  ASSERT_EQ(guf_reduceat(find("add"), &accumulate_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(two, ElementsAre(3, 7));
  EXPECT_FALSE(ran_on_device());
}

TEST_P(AutoMethods, Outer) {
  std::vector<double> table(16);
  guf_call_args *const args = ready({here(x_), here(x_)}, {here(table, {4, 4})});
  EXPECT_EQ(line_of(answer(requests::explain_outer, "multiply", *args), "device auto"), kept());
  ASSERT_EQ(guf_outer(find("multiply"), args, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(table[15], 16);
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  ASSERT_EQ(
      guf_outer(find("multiply"), ready({operand_of(there), operand_of(there)}, {{}}), &error_),
      GUF_OK)
      << error_.message;
  EXPECT_EQ(place_of(keep(outputs_[0].array)), this->there());
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

TEST_P(AutoMethods, At) {
  guf_operand array = here(x_), operand = here(out_, {1});
  out_[0] = 10;
  guf_operand places = indices({1, 1});
  at_.array = &array;
  at_.operand = &operand;
  at_.indices = &places;
  at_.nindices = 1;
  EXPECT_EQ(line_of(answer(requests::explain_at, "add", at_), "device auto"), kept());
  ASSERT_EQ(guf_at(find("add"), &at_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(x_, ElementsAre(1, 22, 3, 4));
  EXPECT_FALSE(ran_on_device());
  const guf_array there = filled(device(0), 4, 3);
  ran_on_device();
  array = operand_of(there);
  operand = scalar_of(1);
  ASSERT_EQ(guf_at(find("add"), &at_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(values(there), ElementsAre(3, 5, 3, 3));
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// The functions of a user-defined accumulator run as separate calls.
TEST_P(AutoMethods, ReduceStates) {
  guf_operand input = here(x_), outputs[2] = {};
  reduce_.input = &input;
  reduce_.outputs = outputs;
  reduce_.noutputs = 2;
  EXPECT_EQ(line_of(answer(requests::explain_reduce, "auto_both:range_of", reduce_), "device auto"),
            kept());
  ASSERT_EQ(guf_reduce(find("auto_both:range_of"), &reduce_, &error_), GUF_OK) << error_.message;
  for (const guf_operand &output : outputs) EXPECT_EQ(place_of(keep(output.array)), "cpu");
  EXPECT_FALSE(ran_on_device());
  guf_array moved = nullptr;
  ASSERT_EQ(guf_array_wrap(input.tensor, nullptr, nullptr, 0, &moved, &error_), GUF_OK);
  keep(moved);
  guf_array there = nullptr;
  ASSERT_EQ(guf_array_to_device(moved, auto_, nullptr, &there, &error_), GUF_OK);
  keep(there);
  ran_on_device();
  input = operand_of(there);
  outputs[0] = outputs[1] = {};
  ASSERT_EQ(guf_reduce(find("auto_both:range_of"), &reduce_, &error_), GUF_OK) << error_.message;
  for (const guf_operand &output : outputs) EXPECT_EQ(place_of(keep(output.array)), this->there());
  EXPECT_EQ(ran_on_device(), !on_cpu());
}

// Type resolution has the same result for every placement.
TEST_P(AutoMethods, Resolve) {
  guf_operand input = here(x_), output = {};
  reduce_.input = &input;
  reduce_.output = &output;
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  ASSERT_EQ(requests::resolve_reduce(find("add"), &reduce_, &resolution, &error_), GUF_OK);
  EXPECT_EQ(resolution.output_ndims[0], 0);
  double one = 1;
  ASSERT_EQ(
      requests::resolve_call(
          find("matmul"), ready({stretched(one, {3000, 3000}), stretched(one, {3000, 3000})}, {{}}),
          &resolution, &error_),
      GUF_OK)
      << error_.message;
  EXPECT_EQ(resolution.output_shapes[0][1], 3000);
  EXPECT_FALSE(ran_on_device());
}

INSTANTIATE_TEST_SUITE_P(On, AutoMethods, testing::Values(chosen()), name_of);

}  // namespace
}  // namespace device_test
