// SPDX-License-Identifier: Apache-2.0
// Tests injected faults, functions that old drivers lack, call counters, and the differences
// between the simulated drivers of the two vendors.
#include <set>

#include "tests/sim/cases/sim_functions.h"
#include "tests/sim/sim_control.h"

namespace sim_test {
namespace {

class SimFault : public SimTest {};

TEST_P(SimFault, TheNthCallFailsOnce) {
  uint64_t a = 0;
  driver_.fault(driver_.name_of("alloc") + ":2:77");
  SIM_OK(driver_.alloc(&a, 8));
  EXPECT_EQ(driver_.alloc(&a, 8), 77);
  SIM_OK(driver_.alloc(&a, 8));
  EXPECT_EQ(driver_.live("allocation"), 2u) << "the failed call did nothing";
}

TEST_P(SimFault, EveryCallFails) {
  uint64_t a = 0;
  driver_.fault(driver_.name_of("alloc") + ":0:2");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(driver_.alloc(&a, 8), 2);
  driver_.entry<decltype(gufunc_sim_clear_faults)>("gufunc_sim_clear_faults")();
  SIM_OK(driver_.alloc(&a, 8));
}

TEST_P(SimFault, ReleasedResourcesAreReleased) {
  uint64_t a = 0;
  SIM_OK(driver_.alloc(&a, 8));
  driver_.fault(driver_.name_of("free") + ":1:999");
  EXPECT_EQ(driver_.free(a), 999);
  EXPECT_EQ(driver_.live("allocation"), 0u);
}

TEST_P(SimFault, StickyFaultsStay) {
  uint64_t a = 0;
  driver_.fault(driver_.name_of("sync") + ":1:700:sticky");
  EXPECT_EQ(driver_.stream_sync(nullptr), 700);
  EXPECT_EQ(driver_.alloc(&a, 8), 700);
  EXPECT_EQ(driver_.device_sync(), 700);
}

TEST_P(SimFault, BadTextsAreReported) {
  const auto fault = driver_.entry<decltype(gufunc_sim_fault)>("gufunc_sim_fault");
  EXPECT_EQ(fault("nonsense"), 1);
  EXPECT_EQ(fault("a:1:2:sometimes"), 1);
  EXPECT_EQ(driver_.entry<decltype(gufunc_sim_set)>("gufunc_sim_set")("COLOUR", "red"), 1);
  EXPECT_EQ(driver_.entry<decltype(gufunc_sim_set)>("gufunc_sim_set")("DEVICES", "-1"), 1);
}

TEST_P(SimFault, CallsAreCounted) {
  uint64_t a = 0;
  const std::string name = driver_.name_of("alloc");
  const uint64_t before = driver_.calls(nullptr);
  for (int i = 0; i < 3; ++i) SIM_OK(driver_.alloc(&a, 8));
  EXPECT_EQ(driver_.calls(name.c_str()), 3u);
  EXPECT_EQ(driver_.calls(nullptr), before + 3);
}

TEST_P(SimFault, FunctionsCanBeHidden) {
  const auto hide = driver_.entry<decltype(gufunc_sim_hide)>("gufunc_sim_hide");
  const std::string name = driver_.name_of("alloc");
  ASSERT_NE(driver_.symbol(name), nullptr);
  EXPECT_EQ(hide(name.c_str(), 1), 0);
  EXPECT_EQ(driver_.symbol(name), nullptr);
  EXPECT_EQ(hide(name.c_str(), 0), 0);
  EXPECT_NE(driver_.symbol(name), nullptr);
  EXPECT_EQ(hide("cuSomethingElse", 1), 1);
  restart("MISSING", name + ",cuNothing");
  EXPECT_EQ(driver_.symbol(name), nullptr);
  restart("MISSING", "");
  EXPECT_NE(driver_.symbol(name), nullptr);
}

TEST_P(SimFault, FunctionsAreListed) {
  const auto name_at = driver_.entry<decltype(gufunc_sim_function)>("gufunc_sim_function");
  std::set<std::string> names;
  for (uint32_t i = 0; name_at(i) != nullptr; ++i) names.insert(name_at(i));
  EXPECT_GE(names.size(), 70u);
  EXPECT_TRUE(names.count(driver_.name_of("alloc")));
  for (const std::string &name : names) EXPECT_EQ(name.rfind("gufunc", 0), std::string::npos);
}

TEST_P(SimFault, OldDriversLackNewFunctions) {
  const bool cuda = driver_.is_cuda();
  restart("VERSION", cuda ? "11020" : "50200000");
  EXPECT_EQ(driver_.symbol(cuda ? "cuLibraryLoadData" : "hipGetDevicePropertiesR0600"), nullptr);
  EXPECT_NE(driver_.symbol(cuda ? "cuMemAllocAsync" : "hipMallocAsync"), nullptr);
  restart("VERSION", cuda ? "11010" : "50100000");
  EXPECT_EQ(driver_.symbol(cuda ? "cuMemAllocAsync" : "hipMallocAsync"), nullptr);
  restart("VERSION", "0");
  EXPECT_NE(driver_.symbol(cuda ? "cuLibraryLoadData" : "hipGetDevicePropertiesR0600"), nullptr);
}

TEST_P(SimFault, MachinesWithoutDevices) {
  driver_.set("DEVICES", "0");
  driver_.reset();
  EXPECT_EQ(driver_.start(), 100);
  int count = -1;
  if (driver_.is_cuda()) {
    EXPECT_EQ(driver_.entry<int(int *)>("cuDeviceGetCount")(&count), 3);
  } else {
    EXPECT_EQ(driver_.entry<int(int *)>("hipGetDeviceCount")(&count), 100);
    EXPECT_EQ(count, 0);
  }
}

TEST_P(SimFault, EightDevices) {
  restart("DEVICES", "8");
  int count = 0, can = 0;
  const bool cuda = driver_.is_cuda();
  SIM_OK(driver_.entry<int(int *)>(cuda ? "cuDeviceGetCount" : "hipGetDeviceCount")(&count));
  EXPECT_EQ(count, 8);
  const auto peers = driver_.entry<int(int *, int, int)>(cuda ? "cuDeviceCanAccessPeer"
                                                              : "hipDeviceCanAccessPeer");
  SIM_OK(peers(&can, 0, 7));
  EXPECT_EQ(can, 1);
  SIM_OK(peers(&can, 3, 3));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(peers(&can, 0, 8), 101);
}

TEST_P(SimFault, ReportsNameLeaks) {
  uint64_t a = 0;
  SIM_OK(driver_.alloc(&a, 4321));
  std::string text(10000, '\0');
  text.resize(
      driver_.entry<decltype(gufunc_sim_report)>("gufunc_sim_report")(text.data(), text.size()));
  EXPECT_NE(text.find("live allocation 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" 4321 bytes, device 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("calls " + driver_.name_of("alloc") + " 1\n"), std::string::npos) << text;
  EXPECT_EQ(driver_.entry<decltype(gufunc_sim_used_bytes)>("gufunc_sim_used_bytes")(), 4321u);
  EXPECT_EQ(driver_.live("nothing"), UINT64_MAX);
}

SIM_BOTH(SimFault);

// Runs with the CUDA driver only, because HIP has no contexts.
class SimContext : public testing::Test {
 protected:
  SimContext() : driver_(cuda_interface()) { driver_.reset(); }
  ~SimContext() override {
    set_current(nullptr);
    driver_.set("DEVICES", "1");
    driver_.reset();
  }

  int init() { return driver_.entry<int(unsigned)>("cuInit")(0); }
  int retain(void **context, int device) {
    return driver_.entry<int(void **, int)>("cuDevicePrimaryCtxRetain")(context, device);
  }
  int release(int device) {
    return driver_.entry<int(int)>("cuDevicePrimaryCtxRelease_v2")(device);
  }
  int push(void *context) { return driver_.entry<int(void *)>("cuCtxPushCurrent_v2")(context); }
  int pop(void **context) { return driver_.entry<int(void **)>("cuCtxPopCurrent_v2")(context); }
  int set_current(void *context) { return driver_.entry<int(void *)>("cuCtxSetCurrent")(context); }
  void *current() {
    void *context = nullptr;
    EXPECT_EQ(driver_.entry<int(void **)>("cuCtxGetCurrent")(&context), 0);
    return context;
  }

  DriverInterface &driver_;
};

TEST_F(SimContext, NothingBeforeInit) {
  void *context = nullptr;
  EXPECT_EQ(retain(&context, 0), 3);
  SIM_OK(init());
  SIM_OK(retain(&context, 0));
  EXPECT_EQ(retain(&context, 1), 101);
}

TEST_F(SimContext, TheStackOfAThread) {
  driver_.set("DEVICES", "2");
  driver_.reset();
  SIM_OK(init());
  void *first = nullptr, *second = nullptr, *top = nullptr;
  SIM_OK(retain(&first, 0));
  SIM_OK(retain(&second, 1));
  EXPECT_EQ(current(), nullptr);
  uint64_t memory = 0;
  EXPECT_EQ(driver_.alloc(&memory, 8), 201) << "no context";
  SIM_OK(push(first));
  SIM_OK(push(second));
  EXPECT_EQ(current(), second);
  SIM_OK(pop(&top));
  EXPECT_EQ(top, second);
  EXPECT_EQ(current(), first);
  SIM_OK(set_current(second));
  EXPECT_EQ(current(), second);
  SIM_OK(pop(&top));
  EXPECT_EQ(pop(&top), 201);
  EXPECT_EQ(push(&top), 201) << "no context at all";
}

TEST_F(SimContext, TheLastReleaseEndsIt) {
  SIM_OK(init());
  void *context = nullptr, *again = nullptr, *stream = nullptr;
  uint64_t memory = 0;
  SIM_OK(retain(&context, 0));
  SIM_OK(retain(&again, 0));
  EXPECT_EQ(context, again);
  SIM_OK(push(context));
  SIM_OK(driver_.alloc(&memory, 8));
  SIM_OK(driver_.stream(&stream, false));
  SIM_OK(release(0));
  EXPECT_EQ(driver_.live("context"), 1u);
  SIM_OK(driver_.stream_sync(stream));
  SIM_OK(release(0));
  EXPECT_EQ(driver_.live(nullptr), 0u);
  EXPECT_EQ(driver_.stream_sync(stream), 709);
  EXPECT_EQ(release(0), 201);
}

TEST_F(SimContext, AddressesByVersion) {
  SIM_OK(init());
  const auto find =
      driver_.entry<int(const char *, void **, int, uint64_t, int *)>("cuGetProcAddress_v2");
  void *address = nullptr;
  int status = -1;
  SIM_OK(find("cuMemAlloc", &address, 12000, 0, &status));
  EXPECT_EQ(address, driver_.symbol("cuMemAlloc_v2"));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(find("cuLibraryLoadData", &address, 11080, 0, &status), 500);
  EXPECT_EQ(status, 2) << "too new for the version requested";
  EXPECT_EQ(find("cuNothing", &address, 12000, 0, &status), 500);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(address, nullptr);
}

}  // namespace
}  // namespace sim_test
