// SPDX-License-Identifier: Apache-2.0
// Creates the driver, and implements its contexts.
#include "tests/sim/core/sim_driver.h"

#include <cstdio>
#include <cstdlib>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
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

std::vector<void *> &context_stack() {
  thread_local std::vector<void *> stack;
  return stack;
}

Context *current_context(Driver &driver) {
  std::vector<void *> &stack = context_stack();
  const std::shared_ptr<Context> found =
      stack.empty() ? nullptr : driver.contexts.find(stack.back());
  if (found != nullptr) return found.get();
  return driver.implicit_context && !driver.devices.empty() ? driver.devices[0].primary.get()
                                                            : nullptr;
}

int use_context(Driver &driver, Context **out) {
  *out = current_context(driver);
  if (*out == nullptr) return context_stack().empty() ? kInvalidContext : kContextIsDestroyed;
  return (*out)->failure;
}

std::shared_ptr<Context> make_context(Driver &driver, int device, bool primary) {
  auto context = std::make_shared<Context>();
  context->handle = driver.new_handle();
  context->device = device;
  context->primary = primary;
  driver.contexts.add(context->handle, context);
  driver.every_context.push_back(context);
  auto legacy = std::make_shared<Stream>();
  legacy->context = context.get();
  legacy->is_legacy = true;
  context->legacy = legacy;
  driver.engine.add(legacy);
  return context;
}

std::shared_ptr<Context> retain_primary(Driver &driver, int device) {
  std::shared_ptr<Context> &primary = driver.devices[static_cast<size_t>(device)].primary;
  if (primary == nullptr) primary = make_context(driver, device, true);
  ++primary->references;
  return primary;
}

void destroy_context(Driver &driver, Lock &lock, const std::shared_ptr<Context> &context) {
  driver.engine.wait_all(lock, context.get());
  context->alive = false;
  driver.contexts.remove(context->handle);
  const auto drop = [&](auto &registry) {
    auto &all = registry.all();
    for (auto at = all.begin(); at != all.end();) {
      at = at->second->context == context.get() ? all.erase(at) : std::next(at);
    }
  };
  for (auto &[handle, stream] : driver.streams.all()) {
    if (stream->context == context.get()) stream->destroyed = true;
  }
  context->legacy->destroyed = true;
  driver.engine.touch(context->legacy);
  drop(driver.streams);
  drop(driver.events);
  drop(driver.modules);
  drop(driver.kernels);
  for (auto at = driver.memory.all().begin(); at != driver.memory.all().end();) {
    Allocation &allocation = (at++)->second;
    if (allocation.context == context.get()) forget_allocation(driver, allocation.address);
  }
  Device &device = driver.devices[static_cast<size_t>(context->device)];
  if (device.primary == context) device.primary = nullptr;
}

}  // namespace sim
