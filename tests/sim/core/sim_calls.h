// SPDX-License-Identifier: Apache-2.0
// What happens at every call of a driver's function before it does anything: it is counted, faults
// are injected, and it is refused where no call is allowed.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CALLS_H

#include <cstdint>
#include <map>
#include <string>

#include "tests/sim/core/sim_codes.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_engine.h"

namespace sim {

// Rules of a function.
enum : unsigned {
  kAnyTime = 1,   // may be called before init, and by host functions
  kReleases = 2,  // gives something back, which an injected fault does not keep it from
};

// The last result of this thread that was no success.
int &last_failure();

class Site {
 public:
  explicit Site(const char *name, unsigned rules = 0);

  // Calls f(driver, lock) unless something forbids it. Gives f's code, or the one injected.
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

// Faults: "function:nth:code[:sticky]", several between commas; nth counts from now on, 0 means
// every call. `exec_kernel`, `exec_copy`, `exec_fill` stand for running such an operation.
bool add_faults(const std::string &text);
void clear_faults();
// Calls of a function since the last reset; of all for an empty name.
uint64_t call_count(const std::string &name);
const std::map<std::string, uint64_t> &all_counts();
void clear_counts();

// What an operation of this kind shall fail with.
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
