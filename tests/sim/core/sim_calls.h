// SPDX-License-Identifier: Apache-2.0
// Common code at the start of every driver function. This code counts the call, injects faults, and
// rejects the call if the vendor's rules forbid it at this time.
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
  kReleases = 2,  // releases an object even if a fault is injected
};

// The last error code of this thread.
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

// Faults have the form "function:nth:code[:sticky]", separated by commas. nth counts calls from now
// on; 0 means every call. The function names `exec_kernel`, `exec_copy` and `exec_fill` make the
// execution of a queued operation fail.
bool add_faults(const std::string &text);
void clear_faults();
// Returns the number of calls of a function since the last reset, or of all functions if the name
// is empty.
uint64_t call_count(const std::string &name);
const std::map<std::string, uint64_t> &all_counts();
void clear_counts();

// Returns the code with which the next operation of this kind must fail, or success.
int injected_run_failure(WorkKind kind);

}  // namespace sim

#define SIM_EXPORT extern "C" __attribute__((visibility("default")))
// Encloses the body of a driver function: SIM_CALL(name, rules) { ... return code; } SIM_END
#define SIM_CALL(name, rules)                                  \
  static ::sim::Site site(#name, rules);                       \
  return site.call([&]([[maybe_unused]] ::sim::Driver &driver, \
                       [[maybe_unused]] ::sim::Lock &lock) -> int
#define SIM_END )

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H
