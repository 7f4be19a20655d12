// SPDX-License-Identifier: Apache-2.0
// The functions that this library exports, and taking them out of the dynamic linker's sight: old
// drivers lack functions, and dlsym has to notice.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H
#define GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H

#include <string>
#include <vector>

namespace sim {

struct Config;

// A driver's function and the version of the driver that brought it.
struct Introduced {
  const char *name;
  int version;
};

// The vendor's functions in a fixed order, hidden ones too.
const std::vector<std::string> &all_functions();

// The address of a function that is not hidden, or null.
void *function_address(const std::string &name);

// False: no such function.
bool hide_function(const std::string &name, bool hidden);

// Hides what MISSING names and what is newer than the driver's version; shows everything else.
void hide_as_configured(const Config &config, int version);

// The face's table: functions that an old driver of interest lacks. The others are older than all.
const std::vector<Introduced> &introduced_functions();

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_SYMBOLS_H
