// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/sim_control.h"

#include <cstdio>
#include <cstring>

#include "tests/sim/core/sim_calls.h"
#include "tests/sim/core/sim_capture.h"
#include "tests/sim/core/sim_driver.h"
#include "tests/sim/core/sim_module.h"
#include "tests/sim/core/sim_symbols.h"

namespace sim {
namespace {

uint64_t count_memory(Driver &driver, bool pinned, bool registered) {
  uint64_t count = 0;
  for (const auto &[address, allocation] : driver.memory.all()) {
    const bool is_pinned = allocation.kind == MemoryKind::kPinned;
    const bool is_registered = allocation.kind == MemoryKind::kRegistered;
    count += is_pinned == pinned && is_registered == registered;
  }
  return count;
}

// Counts the contexts that a program owns. The permanent contexts of a driver without contexts do
// not count.
uint64_t count_contexts(Driver &driver) {
  uint64_t count = 0;
  for (const auto &[handle, context] : driver.contexts.all()) {
    count += context->primary ? context->references : 1;
  }
  return driver.implicit_context ? count - driver.devices.size() : count;
}

constexpr const char *kKinds[] = {"allocation", "pinned",     "registered", "stream",
                                  "event",      "module",     "library",    "pool",
                                  "graph",      "graph_exec", "context"};

uint64_t count_live(Driver &driver, const std::string &kind) {
  if (kind == "allocation") return count_memory(driver, false, false);
  if (kind == "pinned") return count_memory(driver, true, false);
  if (kind == "registered") return count_memory(driver, false, true);
  if (kind == "stream") return driver.streams.all().size();
  if (kind == "event") return driver.events.all().size();
  if (kind == "module") return driver.modules.all().size();
  if (kind == "library") return driver.libraries.all().size();
  if (kind == "pool") return driver.pools.all().size() - driver.devices.size();
  if (kind == "graph") return driver.graphs.all().size();
  if (kind == "graph_exec") return driver.graph_execs.all().size();
  if (kind == "context") return count_contexts(driver);
  return UINT64_MAX;
}

std::string report_text(Driver &driver) {
  std::string text;
  for (const char *kind : kKinds) {
    text += "live " + std::string(kind) + " " + std::to_string(count_live(driver, kind)) + "\n";
  }
  for (const auto &[address, allocation] : driver.memory.all()) {
    char line[80];
    std::snprintf(line, sizeof(line), "memory 0x%llx %llu bytes, device %d\n",
                  static_cast<unsigned long long>(address),
                  static_cast<unsigned long long>(allocation.bytes), allocation.device);
    text += line;
  }
  for (const auto &[function, count] : all_counts()) {
    if (count != 0) text += "calls " + function + " " + std::to_string(count) + "\n";
  }
  for (const std::string &one : driver.violations) text += "violation " + one + "\n";
  return text;
}

// Hides the functions that an old driver lacks before a program can look them up.
__attribute__((constructor)) void at_load() {
  Driver &state = driver();
  hide_as_configured(state.config, state.version());
}

// After the program has ended, every call is rejected, as in the vendors' drivers.
__attribute__((destructor)) void at_exit() {
  Driver &state = driver();
  const Lock lock(state.mutex);
  if (!state.config.report.empty()) {
    std::FILE *file = std::fopen(state.config.report.c_str(), "a");
    if (file != nullptr) {
      std::fputs(report_text(state).c_str(), file);
      std::fclose(file);
    }
  }
  state.deinitialised = true;
}

}  // namespace
}  // namespace sim

SIM_EXPORT int gufunc_sim_set(const char *name, const char *value) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  if (!sim::set_config(state.next_config, name, value)) return 1;
  // Settings of devices and threads take effect at the next reset; other settings take effect
  // immediately.
  const sim::Config &next = state.next_config;
  state.config.delay_us = next.delay_us;
  state.config.emulation = next.emulation;
  state.config.report = next.report;
  state.config.twice = next.twice;
  state.config.execute = next.execute;
  state.config.edges = next.edges;
  state.config.missing = next.missing;
  return 0;
}

SIM_EXPORT void gufunc_sim_reset(void) {
  sim::reset_driver();
}

SIM_EXPORT int gufunc_sim_fault(const char *faults) {
  const sim::Lock lock(sim::driver().mutex);
  return sim::add_faults(faults) ? 0 : 1;
}

SIM_EXPORT void gufunc_sim_clear_faults(void) {
  const sim::Lock lock(sim::driver().mutex);
  sim::clear_faults();
}

SIM_EXPORT void gufunc_sim_heal(void) {
  sim::Driver &state = sim::driver();
  sim::Lock lock(state.mutex);
  state.engine.wait_all(lock, nullptr);
  for (const auto &[handle, context] : state.contexts.all()) context->failure = sim::kSuccess;
}

SIM_EXPORT uint64_t gufunc_sim_current(void) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  const sim::Context *current = sim::current_context(state);
  return current == nullptr ? 0 : reinterpret_cast<uint64_t>(current->handle);
}

SIM_EXPORT uint64_t gufunc_sim_calls(const char *function) {
  const sim::Lock lock(sim::driver().mutex);
  return sim::call_count(function == nullptr ? "" : function);
}

SIM_EXPORT void gufunc_sim_clear_calls(void) {
  const sim::Lock lock(sim::driver().mutex);
  sim::clear_counts();
}

SIM_EXPORT const char *gufunc_sim_function(uint32_t index) {
  const auto &names = sim::all_functions();
  return index < names.size() ? names[index].c_str() : nullptr;
}

SIM_EXPORT uint64_t gufunc_sim_live(const char *kind) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  if (kind != nullptr) return sim::count_live(state, kind);
  uint64_t sum = 0;
  for (const char *one : sim::kKinds) sum += sim::count_live(state, one);
  return sum;
}

SIM_EXPORT uint64_t gufunc_sim_used_bytes(void) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  uint64_t bytes = 0;
  for (const auto &[address, allocation] : state.memory.all()) {
    const bool host = allocation.kind == sim::MemoryKind::kPinned ||
                      allocation.kind == sim::MemoryKind::kRegistered;
    if (!host) bytes += allocation.bytes;
  }
  return bytes;
}

SIM_EXPORT uint64_t gufunc_sim_ptx(const char *what) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  if (std::strcmp(what, "texts") == 0) return state.ptx.texts;
  if (std::strcmp(what, "bytes") == 0) return state.ptx.bytes;
  return std::strcmp(what, "entries") == 0 ? state.ptx.entries : UINT64_MAX;
}

SIM_EXPORT uint32_t gufunc_sim_violations(void) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  return static_cast<uint32_t>(state.violations.size());
}

SIM_EXPORT const char *gufunc_sim_violation(uint32_t index) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  return index < state.violations.size() ? state.violations[index].c_str() : nullptr;
}

SIM_EXPORT void gufunc_sim_clear_violations(void) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  state.violations.clear();
}

SIM_EXPORT int gufunc_sim_hide(const char *function, int hidden) {
  return sim::hide_function(function, hidden != 0) ? 0 : 1;
}

SIM_EXPORT uint64_t gufunc_sim_report(char *text, uint64_t size) {
  sim::Driver &state = sim::driver();
  const sim::Lock lock(state.mutex);
  const std::string report = sim::report_text(state);
  if (size != 0) std::snprintf(text, size, "%s", report.c_str());
  return report.size();
}
