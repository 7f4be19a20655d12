// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_calls.h"

#include <cstdlib>
#include <vector>

#include "tests/sim/core/sim_driver.h"

namespace sim {
namespace {

struct Fault {
  std::string function;
  uint64_t nth;  // number of the call that fails, or 0 for every call
  int code;
  bool sticky;
  uint64_t seen = 0;
};

std::vector<Fault> &faults() {
  static auto *all = new std::vector<Fault>;
  return *all;
}

std::map<std::string, uint64_t> &counts() {
  static auto *all = new std::map<std::string, uint64_t>;
  return *all;
}

// Returns the fault to inject into this call, or null.
const Fault *strike(const char *function) {
  const Fault *found = nullptr;
  for (Fault &fault : faults()) {
    if (fault.function != function) continue;
    ++fault.seen;
    if (found == nullptr && (fault.nth == 0 || fault.nth == fault.seen)) found = &fault;
  }
  return found;
}

}  // namespace

thread_local bool Site::refused_ = false;

int &last_failure() {
  thread_local int code = kSuccess;
  return code;
}

Site::Site(const char *name, unsigned rules) : name_(name), rules_(rules) {
  Lock lock(driver().mutex);
  count_ = &counts()[name];
}

int Site::enter(Driver &state) {
  ++*count_;
  refused_ = true;
  if (!(rules_ & kAnyTime)) {
    if (state.deinitialised) return kDeinitialized;
    if (Engine::in_host_function()) {
      violation(state, nullptr, std::string(name_) + " was called by a host function of a stream");
      return kNotPermitted;
    }
    if (!state.initialised && !state.implicit_context) return kNotInitialized;
    if (!state.initialised && state.config.devices == 0) return kNoDevice;
    if (!state.initialised) make_devices(state);
  }
  refused_ = false;
  const Fault *fault = faults().empty() ? nullptr : strike(name_);
  if (fault == nullptr) return kSuccess;
  Context *current = current_context(state);
  if (fault->sticky && current != nullptr && fault->code != kSuccess) {
    current->failure = fault->code;
  }
  return fault->code;
}

bool add_faults(const std::string &text) {
  for (const std::string &one : words_of(text, ',')) {
    const std::vector<std::string> parts = words_of(one, ':');
    if (parts.size() < 3 || parts.size() > 4) return false;
    const bool sticky = parts.size() == 4;
    if (sticky && parts[3] != "sticky") return false;
    faults().push_back({parts[0], std::strtoull(parts[1].c_str(), nullptr, 10),
                        std::atoi(parts[2].c_str()), sticky});
  }
  return true;
}

void clear_faults() {
  faults().clear();
}

uint64_t call_count(const std::string &name) {
  if (!name.empty()) {
    const auto found = counts().find(name);
    return found == counts().end() ? 0 : found->second;
  }
  uint64_t all = 0;
  for (const auto &[function, count] : counts()) all += count;
  return all;
}

const std::map<std::string, uint64_t> &all_counts() {
  return counts();
}

void clear_counts() {
  for (auto &[function, count] : counts()) count = 0;
}

int injected_run_failure(WorkKind kind) {
  if (faults().empty()) return kSuccess;
  const char *name = kind == WorkKind::kKernel ? "exec_kernel"
                     : kind == WorkKind::kCopy ? "exec_copy"
                     : kind == WorkKind::kFill ? "exec_fill"
                                               : nullptr;
  const Fault *fault = name == nullptr ? nullptr : strike(name);
  return fault == nullptr ? kSuccess : fault->code;
}

}  // namespace sim
