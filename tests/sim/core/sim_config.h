// SPDX-License-Identifier: Apache-2.0
// How the simulated machine looks and behaves: GUFUNC_SIM_* of the environment, or what
// gufunc_sim_set() said since.
#ifndef GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H
#define GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class Order { kEager, kLazy, kAdversarial };

struct Config {
  int devices = 1;
  uint64_t memory = uint64_t{2} << 30;  // bytes of each device
  Order order = Order::kEager;
  uint64_t seed = 1;
  uint32_t delay_us = 0;             // before an operation of an eager stream: up to twice this
  int units = 8;                     // compute units of each device
  int version = 0;                   // of the driver, as the vendor writes it; 0: the newest known
  std::string arch;                  // "sm_90", "gfx942:sramecc+:xnack-"; empty: the face's own
  std::vector<std::string> items;    // sidecars
  std::vector<std::string> missing;  // functions that the library seems to lack
  std::string report;                // file written at exit
  bool twice = false;                // kernels run ascending and descending and must agree
  bool execute = true;               // kernels that are launched run
  bool empty = false;                // a launch returns at once, unseen; read once
  uint64_t edges = 0;                // blocks at either end of a grid that run; 0: all of them
  bool device_check = false;         // kernels are instrumented: exact red zones around allocations
};

// What the environment says.
Config config_of_environment();

// Changes one setting by the name it has in the environment, without GUFUNC_SIM_.
// False: no such name, or a value that it does not take; nothing changed.
bool set_config(Config &config, const std::string &name, const std::string &value);

// The words of a list like "a,b".
std::vector<std::string> words_of(const std::string &text, char between);

}  // namespace sim

#endif  // GUFUNC_TESTS_SIM_CORE_SIM_CONFIG_H
