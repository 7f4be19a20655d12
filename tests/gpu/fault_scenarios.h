// SPDX-License-Identifier: Apache-2.0
// The scenarios of the fault test. Together the scenarios call every slot of the plugin and make
// the plugin call every function of its driver.
#ifndef GUFUNC_TESTS_GPU_FAULT_SCENARIOS_H
#define GUFUNC_TESTS_GPU_FAULT_SCENARIOS_H

#include <vector>

#include "tests/gpu/fault_run.h"

namespace gufunc::gpu_test {

struct Scenario {
  const char *name;
  void (*run)(Trial &run);
  bool alone = false;  // the scenario affects all devices, so no other device may be open
};

std::vector<Scenario> memory_scenarios();
std::vector<Scenario> stream_scenarios();
std::vector<Scenario> kernel_scenarios();
std::vector<Scenario> all_scenarios();

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_FAULT_SCENARIOS_H
