// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/cases/sim_functions.h"

#include <dlfcn.h>
#include <string_view>

#include "tests/sim/sim_control.h"

namespace sim_test {

DriverInterface::DriverInterface(const std::string &library) {
  handle_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle_, nullptr) << dlerror();
  set("EMULATION", SIM_TEST_EMULATION);
}

void *DriverInterface::symbol(const std::string &name) const {
  return dlsym(handle_, name.c_str());
}

void DriverInterface::set(const char *name, const std::string &value) const {
  const auto change = entry<decltype(gufunc_sim_set)>("gufunc_sim_set");
  EXPECT_EQ(change(name, value.c_str()), 0) << name << "=" << value;
}
void DriverInterface::reset() const {
  entry<decltype(gufunc_sim_reset)>("gufunc_sim_reset")();
}
void DriverInterface::fault(const std::string &text) const {
  EXPECT_EQ(entry<decltype(gufunc_sim_fault)>("gufunc_sim_fault")(text.c_str()), 0) << text;
}
uint64_t DriverInterface::calls(const char *name) const {
  return entry<decltype(gufunc_sim_calls)>("gufunc_sim_calls")(name);
}
uint64_t DriverInterface::live(const char *kind) const {
  return entry<decltype(gufunc_sim_live)>("gufunc_sim_live")(kind);
}
uint32_t DriverInterface::violations() const {
  return entry<decltype(gufunc_sim_violations)>("gufunc_sim_violations")();
}
std::string DriverInterface::violation(uint32_t index) const {
  const char *text = entry<decltype(gufunc_sim_violation)>("gufunc_sim_violation")(index);
  return text == nullptr ? "" : text;
}
void DriverInterface::clear_violations() const {
  entry<decltype(gufunc_sim_clear_violations)>("gufunc_sim_clear_violations")();
}

SimTest::SimTest()
    : driver_(std::string_view(GetParam()) == "cuda" ? cuda_interface() : hip_interface()) {
  driver_.reset();
  EXPECT_EQ(driver_.start(), 0);
}

SimTest::~SimTest() {
  EXPECT_EQ(driver_.violations(), 0u) << driver_.violation(0);
  for (const char *name : {"DEVICES=1", "MEMORY=268435456", "ORDER=eager", "SEED=1", "DELAY_US=0",
                           "VERSION=0", "ARCH=", "TWICE=0", "MISSING=", "EXECUTE=1", "EDGES=0",
                           "DEVICE_CHECK=0", "EMULATION=" SIM_TEST_EMULATION}) {
    const std::string setting = name;
    const size_t middle = setting.find('=');
    driver_.set(setting.substr(0, middle).c_str(), setting.substr(middle + 1));
  }
  driver_.reset();
}

void SimTest::restart(const char *name, const std::string &value) {
  driver_.set(name, value);
  driver_.reset();
  SIM_OK(driver_.start());
}

}  // namespace sim_test
