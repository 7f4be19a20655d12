// SPDX-License-Identifier: Apache-2.0
// The configuration of the simulated machine. The GUFUNC_SIM_* environment variables contain the
// initial settings, and gufunc_sim_set() changes them.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class Order { kEager, kLazy, kAdversarial };

struct Config {
  int devices = 1;
  uint64_t memory = uint64_t{2} << 30;  // bytes per device
  Order order = Order::kEager;
  uint64_t seed = 1;
  // Average delay in microseconds before an operation of an eager stream. The maximum delay is
  // twice as long.
  uint32_t delay_us = 0;
  int units = 8;  // compute units per device
  // Driver version in the vendor's format. 0 means the newest supported version.
  int version = 0;
  // Architecture, for example "sm_90" or "gfx942:sramecc+:xnack-". Empty means the driver's
  // default.
  std::string arch;
  std::vector<std::string> emulation;  // emulation files
  std::vector<std::string> missing;    // names of functions that the library hides
  std::string report;                  // path of the report that is written at exit
  // Runs kernels in ascending and in descending order and compares the results.
  bool twice = false;
  bool execute = true;        // launched kernels run
  bool empty = false;         // launches do nothing; the first launch reads this setting
  uint64_t edges = 0;         // number of blocks that run at each end of a grid; 0 means all blocks
  bool device_check = false;  // kernels are instrumented and red zones are exact
  // Launches run the PTX text of the image in an interpreter. The CUDA driver then refuses machine
  // code. The HIP driver ignores this setting.
  bool ptx = false;
};

// Reads the configuration from the environment.
Config config_of_environment();

// Changes one setting. `name` is the name of the environment variable without GUFUNC_SIM_. Returns
// false, without a change, for an unknown name or an invalid value.
bool set_config(Config &config, const std::string &name, const std::string &value);

// Splits a list such as "a,b".
std::vector<std::string> words_of(const std::string &text, char between);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H
