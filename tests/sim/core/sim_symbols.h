// SPDX-License-Identifier: Apache-2.0
// Lists the functions that the simulated driver exports. When the driver simulates an old version,
// it hides newer functions from dlsym, as if they were not exported.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H
#define GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H

#include <string>
#include <vector>

namespace sim {

struct Config;

// A driver function and the driver version that introduced it.
struct Introduced {
  const char *name;
  int version;
};

// Returns the names of the vendor's functions in a fixed order, including hidden functions.
const std::vector<std::string> &all_functions();

// Returns the address of a visible function, or null.
void *function_address(const std::string &name);

// Hides or shows a function. Returns false if no function with this name exists.
bool hide_function(const std::string &name, bool hidden);

// Hides the functions that the setting MISSING lists, and all functions that are newer than the
// driver version. Shows all other functions.
void hide_as_configured(const Config &config, int version);

// Returns a table of the functions that at least one supported driver lacks. All other functions
// exist in every supported driver.
const std::vector<Introduced> &introduced_functions();

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H
