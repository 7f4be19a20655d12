// SPDX-License-Identifier: Apache-2.0
// Lists the functions that this library exports and hides them from the dynamic linker. dlsym must
// not find functions that an old driver lacks.
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

// The vendor's functions in a fixed order, including hidden functions.
const std::vector<std::string> &all_functions();

// Returns the address of a visible function, or null.
void *function_address(const std::string &name);

// Returns false if no such function exists.
bool hide_function(const std::string &name, bool hidden);

// Hides the functions that MISSING lists and those that are newer than the driver version. Shows
// all others.
void hide_as_configured(const Config &config, int version);

// The vendor's table of functions that some supported old driver lacks. All other functions are
// older.
const std::vector<Introduced> &introduced_functions();

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H
