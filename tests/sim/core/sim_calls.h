// SPDX-License-Identifier: Apache-2.0
// Common code at the start of every driver function: it counts the call, injects faults, and
// rejects the call where calls are forbidden.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H

#include <cstdint>
#include <map>
#include <string>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_engine.h"

namespace sim {

// Flags of a function.
enum : unsigned {
  kAnyTime = 1,   // callable before init and from host functions
  kReleases = 2,  // releases an object, even if a fault is injected
};

// The last error of this thread.
int &last_failure();

class Site {
 public:
  explicit Site(const char *name, unsigned rules = 0);

  // Calls f(driver, lock) unless the call is forbidden. Returns f's code or the injected code.
  template <class F>
  int call(F f) {
    Driver &state = driver();
    Lock lock(state.mutex);
    const int fault = enter(state);
    const bool skip = fault != kSuccess && (refused_ || !(rules_ & kReleases));
    const int code = skip ? static_cast<int>(kSuccess) : f(state, lock);
    const int result = fault != kSuccess ? fault : code;
    if (result != kSuccess) last_failure() = result;
    return result;
  }

 private:
  int enter(Driver &state);

  const char *name_;
  unsigned rules_;
  uint64_t *count_;
  static thread_local bool refused_;
};

// Faults have the form "function:nth:code[:sticky]", separated by commas. nth counts from now on; 0
// means every call. `exec_kernel`, `exec_copy` and `exec_fill` stand for the execution of such an
// operation.
bool add_faults(const std::string &text);
void clear_faults();
// Number of calls of a function since the last reset; of all functions for an empty name.
uint64_t call_count(const std::string &name);
const std::map<std::string, uint64_t> &all_counts();
void clear_counts();

// The code with which an operation of this kind must fail.
int injected_run_failure(WorkKind kind);

}  // namespace sim

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
// The body of a driver's function: SIM_CALL(name, rules) { ... return code; } SIM_END
#define SIM_CALL(name, rules)                                  \
  static ::sim::Site site(#name, rules);                       \
  return site.call([&]([[maybe_unused]] ::sim::Driver &driver, \
                       [[maybe_unused]] ::sim::Lock &lock) -> int
#define SIM_END )

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H
