// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_driver.h"

#include <cstdio>
#include <cstdlib>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_context.h"
#include "tests/sim/core/sim_device_memory.h"
#include "tests/sim/core/sim_module.h"
#include "tests/sim/core/sim_symbols.h"

namespace sim {

// The driver is never destroyed, because its threads run until the process ends.
Driver &driver() {
  static Driver &only = *[] {
    auto *made = new Driver;
    made->config = config_of_environment();
    made->next_config = made->config;
    made->engine.random().seed(made->config.seed);
    const char *faults = std::getenv("GUFUNC_SIM_FAULT");
    if (faults != nullptr) add_faults(faults);
    describe_driver(*made);
    return made;
  }();
  return only;
}

void make_devices(Driver &driver) {
  driver.devices.resize(static_cast<size_t>(driver.config.devices));
  for (int i = 0; i < driver.config.devices; ++i) {
    Device &device = driver.devices[static_cast<size_t>(i)];
    device.arena = std::make_unique<Arena>(driver.config.memory, driver.config.device_check);
    device.default_pool = make_pool(driver, i, 0);
    device.default_pool->is_default = true;
    if (driver.implicit_context) retain_primary(driver, i);
  }
  driver.initialised = true;
}

void violation(Driver &driver, Context *context, const std::string &text) {
  constexpr size_t kMax = 1000;
  if (driver.violations.size() < kMax) driver.violations.push_back(text);
  std::fprintf(stderr, "simulated driver: %s\n", text.c_str());
  if (context != nullptr && context->failure == kSuccess) context->failure = kLaunchFailed;
}

void reset_driver() {
  Driver &state = driver();
  Lock lock(state.mutex);
  state.engine.restart(lock);
  state.graph_execs.clear();
  state.graphs.clear();
  state.captures.clear();
  state.kernels.clear();
  state.modules.clear();
  state.library_kernels.clear();
  state.libraries.clear();
  state.events.clear();
  state.streams.clear();
  while (!state.memory.all().empty()) {
    forget_allocation(state, state.memory.all().begin()->first);
  }
  state.pools.clear();
  state.every_pool.clear();
  state.contexts.clear();
  state.devices.clear();
  state.every_context.clear();
  state.violations.clear();
  state.ptx = {};
  state.initialised = false;
  state.config = state.next_config;
  state.engine.random().seed(state.config.seed);
  hide_as_configured(state.config, state.version());
  clear_faults();
  clear_counts();
}

}  // namespace sim
