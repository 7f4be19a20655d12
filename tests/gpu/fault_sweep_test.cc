// SPDX-License-Identifier: Apache-2.0
// Makes the driver calls of every scenario fail, one call at a time, with the error codes of the
// driver. The plugin's slot that made the call must return the matching status, nothing may leak,
// and later calls must work.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>

#include "tests/gpu/fault_codes.h"
#include "tests/gpu/fault_rules.h"
#include "tests/gpu/fault_scenarios.h"

namespace gufunc::gpu_test {
namespace {

// Sanitizers make a case ten times slower, so fewer cases run. Every function still has cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kLess = 5;
#else
constexpr uint64_t kLess = 1;
#endif
constexpr int32_t kBystander = 2;  // a device that no fault affects

// Counts of everything that a failure must not change: live objects, violations, and the state of
// the thread.
struct Balance {
  uint64_t driver;
  int64_t host;
  uint32_t violations;
  uint64_t current;  // the thread's current context
  int last_error;    // error that HIP stores for the program
  bool operator==(const Balance &other) const {
    return driver == other.driver && host == other.host && violations == other.violations &&
           current == other.current && last_error == other.last_error;
  }
};
Balance balance() {
  return {sim().live(nullptr), test_host().live.load(), sim().violations(), sim().current(),
          last_error()};
}

// Returns whether a driver function works in a context. A context can fail permanently, and all
// later calls in it then fail. All other functions query devices or change the current context.
bool works_in_context(const std::string &function) {
  for (const char *const other :
       {"cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent", "cuCtxGetDevice", "cuDevice",
        "cuDriver", "hipGetDevice", "hipSetDevice", "hipDeviceGet", "hipDeviceTotalMem",
        "hipDeviceCanAccessPeer", "hipRuntimeGetVersion"}) {
    if (function.rfind(other, 0) == 0) return false;
  }
  return true;
}

// The plugin calls hipGetLastError after failures, so the number of these calls differs between
// cases. hipGetLastError itself cannot fail.
bool has_no_faults(const std::string &function) {
  return function == "hipGetLastError";
}

class FaultSweep : public testing::Test {
 protected:
  void SetUp() override {
    plugin();
    find_calls();
  }
  void TearDown() override {
    bystander_.reset();
    for (const auto &[what, count] : findings_) {
      ADD_FAILURE() << count.first << " times: " << what << "; first: " << count.second;
    }
  }

  // Selects the cases that run.
  struct Share {
    // The first `every_code_of` calls of each function fail with every code, each in its own case.
    // Unless `every_code_of` is 0, so does the last call of the function.
    uint64_t every_code_of;
    uint64_t one_of;  // one of this many other cases also runs
  };
  void sweep(const Share &share);
  void sweep_sticky(uint64_t one_of);
  void sweep_late();
  // Prints the number of cases and functions. Checks that at least `least` cases have run.
  void finish(const char *what, uint64_t least);

  std::set<std::string> slots_, called_;
  std::map<std::string, std::set<int>> injected_;

 private:
  struct Clean {
    Scenario scenario;
    Trial run;
    std::map<std::string, uint64_t> counts;
  };

  void find_calls();
  void prepare_bystander(const Scenario &scenario);
  void try_case(const Clean &clean, const Fault &fault, const FaultCode &code);
  void find(const std::string &what, const Clean &clean, const Fault &fault);

  std::unique_ptr<OpenDevice> bystander_;
  std::vector<Clean> cleans_;
  uint64_t cases_ = 0;
  bool damaged_ = false;  // set after a leak, because later results would be unreliable
  std::map<std::string, std::pair<int, std::string>> findings_;
};

// The bystander is a second device that must keep working. Closes it for scenarios that affect all
// open devices, and opens it otherwise.
void FaultSweep::prepare_bystander(const Scenario &scenario) {
  if (scenario.alone) bystander_.reset();
  if (!scenario.alone && bystander_ == nullptr) {
    bystander_ = std::make_unique<OpenDevice>(kBystander);
  }
}

// Runs every scenario twice without faults. The first run allocates resources that are allocated
// only once, and the second run is recorded.
void FaultSweep::find_calls() {
  for (const Scenario &scenario : all_scenarios()) {
    prepare_bystander(scenario);
    for (int time = 0; time < 2; ++time) {
      const Balance before = balance();
      sim().clear_calls();
      Clean clean = {scenario, Trial(Fault()), {}};
      scenario.run(clean.run);
      for (const SlotCall &call : clean.run.calls()) {
        slots_.insert(call.slot);
        EXPECT_EQ(call.status, GUF_OK) << scenario.name << ": " << call.slot << call.message;
      }
      EXPECT_TRUE(balance() == before) << scenario.name << "\n" << live_objects();
      for (uint32_t i = 0; sim().function(i) != nullptr; ++i) {
        const std::string function = sim().function(i);
        const uint64_t count = sim().calls(function.c_str());
        if (count == 0 || has_no_faults(function)) continue;
        clean.counts[function] = count;
        called_.insert(function);
      }
      if (time == 1) cleans_.push_back(std::move(clean));
    }
  }
}

void FaultSweep::find(const std::string &what, const Clean &clean, const Fault &fault) {
  auto &[count, first] = findings_[fault.function + ": " + what];
  if (count++ != 0) return;
  first = std::string(clean.scenario.name) + ", call " + std::to_string(fault.nth) + ", code " +
          std::to_string(fault.code);
}

void FaultSweep::try_case(const Clean &clean, const Fault &fault, const FaultCode &code) {
  const Balance before = balance();
  char text[128];
  std::snprintf(text, sizeof(text), "%s:%llu:%d%s", fault.function.c_str(),
                static_cast<unsigned long long>(fault.nth), fault.code,
                fault.sticky ? ":sticky" : "");
  sim().clear_calls();
  ASSERT_EQ(sim().fault(text), 0);
  const bool late = fault.function.rfind("exec_", 0) == 0;
  Trial run(late ? Fault() : fault);
  clean.scenario.run(run);
  sim().clear_faults();
  sim().heal();
  const std::string wrong =
      late ? judge_late(run, code, fault.function == "exec_copy" && fault.nth == 1)
           : judge(clean.run, run, code);
  if (!wrong.empty()) find(wrong, clean, fault);
  const Balance after = balance();
  if (!(after == before)) {
    std::snprintf(text, sizeof(text), "leaves %lld objects, %lld blocks, %u violations%s",
                  static_cast<long long>(after.driver - before.driver),
                  static_cast<long long>(after.host - before.host),
                  after.violations - before.violations,
                  after.current == before.current ? "" : ", another context current");
    find(text + ("; " + live_objects()), clean, fault);
    damaged_ = true;
  }
  if (code.lost && bystander_ != nullptr) {
    Trial others{Fault()};
    round_trip(others, *bystander_);
    GUF_TEST_GPU_CALL(others, *bystander_, memory_trim, *bystander_, GUF_MEMORY_DEVICE, 0);
    for (const SlotCall &call : others.calls()) {
      if (call.status == GUF_OK) continue;
      find("another device failed", clean, fault);
      damaged_ = true;
    }
  }
  injected_[fault.function].insert(fault.code);
  ++cases_;
}

void FaultSweep::sweep(const Share &share) {
  uint64_t number = 0;
  for (const Clean &clean : cleans_) {
    prepare_bystander(clean.scenario);
    for (const auto &[function, count] : clean.counts) {
      for (uint64_t nth = 1; nth <= count && !damaged_; ++nth) {
        const bool all = nth <= share.every_code_of || (nth == count && share.every_code_of != 0);
        for (const FaultCode &code : fault_codes()) {
          const bool picked = number++ % share.one_of == 0;
          const bool first = injected_.count(function) == 0;
          if (all || picked || first) try_case(clean, {function, nth, code.code, false}, code);
        }
      }
    }
  }
}

void FaultSweep::sweep_sticky(uint64_t one_of) {
  uint64_t number = 0;
  for (const Clean &clean : cleans_) {
    prepare_bystander(clean.scenario);
    for (const auto &[function, count] : clean.counts) {
      if (!works_in_context(function)) continue;
      for (uint64_t nth = 1; nth <= count && !damaged_; ++nth) {
        for (const FaultCode &code : fault_codes()) {
          if (!code.lost || number++ % one_of != 0) continue;
          try_case(clean, {function, nth, code.code, true}, code);
        }
      }
    }
  }
}

// Makes queued work fail while it runs. A caller that waits for this work must receive the failure.
void FaultSweep::sweep_late() {
  for (const Clean &clean : cleans_) {
    prepare_bystander(clean.scenario);
    for (const char *const kind : {"exec_copy", "exec_fill", "exec_kernel"}) {
      for (uint64_t nth = 1; nth <= (kLess > 1 ? 1 : 3) && !damaged_; ++nth) {
        for (const FaultCode &code : fault_codes()) {
          if (code.lost) try_case(clean, {kind, nth, code.code, false}, code);
        }
      }
    }
  }
}

void FaultSweep::finish(const char *what, uint64_t least) {
  std::printf("%s: %llu cases, %zu functions\n", what, static_cast<unsigned long long>(cases_),
              injected_.size());
  EXPECT_GE(cases_, least);
}

// Reads the names of the driver functions that the plugin looks up. The plugin's header lists them
// in rows of the form 'X(member, cuName, version, "_v2"' or 'X(hipName, true'.
std::set<std::string> resolved_functions() {
  std::ifstream file(is_cuda() ? GUFUNC_TEST_CUDA_API : GUFUNC_TEST_HIP_API);
  std::set<std::string> names;
  const std::regex cuda("X\\(\\w+, (cu\\w+), \\d+, \"(\\w*)\"");
  const std::regex hip("X\\((hip\\w+), (true|false)");
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, is_cuda() ? cuda : hip)) continue;
    names.insert(found[1].str() + (is_cuda() ? found[2].str() : ""));
  }
  return names;
}

// Returns whether other tests inject faults into a function. The probe tests do so for functions
// that only a probe calls. This test also runs with an old driver and with a new driver, and each
// run tests the functions that the plugin calls only with that driver.
bool is_swept_elsewhere(const std::string &function) {
  for (const char *const probe : {"cuInit", "cuDeviceGetCount", "hipInit", "hipGetDeviceCount"}) {
    if (function == probe) return true;
  }
  const bool old = secure_getenv("GUFUNC_SIM_MISSING") != nullptr;
  for (const char *const other : {"hipGetDeviceProperties", "hipStreamAddCallback",
                                  "cuModuleLoadData", "cuModuleGetFunction", "cuModuleUnload"}) {
    if (function == other) return !old;
  }
  return old && sim().calls(function.c_str()) == 0;
}

TEST_F(FaultSweep, EverySlotAndFunctionIsReached) {
  constexpr size_t kFirst = offsetof(guf_backend_api, probe);
#define GUF_TEST_COUNT(slot) +1
  static_assert((sizeof(guf_backend_api) - kFirst) / sizeof(void *) ==
                (0 GUF_TEST_SLOTS(GUF_TEST_COUNT)));
  static_assert((sizeof(guf_gpu_api) - offsetof(guf_gpu_api, memory_statistics)) / sizeof(void *) ==
                (0 GUF_TEST_GPU_SLOTS(GUF_TEST_COUNT)));
  static_assert((sizeof(guf_kernels_api) - offsetof(guf_kernels_api, kernel_limits)) /
                    sizeof(void *) ==
                (0 GUF_TEST_KERNEL_SLOTS(GUF_TEST_COUNT)));
#undef GUF_TEST_COUNT
#define GUF_TEST_SEEN(slot) EXPECT_EQ(slots_.count(#slot), 1u) << "no scenario calls " #slot;
  GUF_TEST_SLOTS(GUF_TEST_SEEN)
  GUF_TEST_GPU_SLOTS(GUF_TEST_SEEN)
  GUF_TEST_KERNEL_SLOTS(GUF_TEST_SEEN)
#undef GUF_TEST_SEEN
  const std::set<std::string> functions = resolved_functions();
  EXPECT_GT(functions.size(), 60u);
  for (const std::string &function : functions) {
    if (is_swept_elsewhere(function) || has_no_faults(function)) continue;
    EXPECT_EQ(called_.count(function), 1u) << "no scenario makes the plugin call " << function;
  }
}

TEST_F(FaultSweep, Sample) {
  sweep({.every_code_of = 0, .one_of = 97 * kLess});
  for (const std::string &function : called_) {
    EXPECT_EQ(injected_.count(function), 1u) << "no fault in " << function;
  }
  finish("sample", 1000 / kLess);
}

TEST_F(FaultSweep, Whole) {
  sweep({.every_code_of = 1, .one_of = 7});
  for (const std::string &function : called_) {
    EXPECT_EQ(injected_[function].size(), fault_codes().size()) << "not every code: " << function;
  }
  finish("whole sweep", is_cuda() ? 60000 : 40000);
}

// Tests permanent errors. After the first failure, the driver returns the code for every call.
TEST_F(FaultSweep, Sticky) {
  sweep_sticky(7 * kLess);
  finish("sticky codes", 1000 / kLess);
}

TEST_F(FaultSweep, Late) {
  sweep_late();
  finish("failures of queued work", 1000 / kLess);
}

}  // namespace
}  // namespace gufunc::gpu_test
