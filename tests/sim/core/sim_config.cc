// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/core/sim_config.h"

#include <cstdlib>

namespace sim {
namespace {

bool read_number(const std::string &text, uint64_t *number) {
  char *end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || *end != '\0' || text[0] == '-') return false;
  *number = value;
  return true;
}

bool read_order(const std::string &text, Order *order) {
  if (text == "eager")
    *order = Order::kEager;
  else if (text == "lazy")
    *order = Order::kLazy;
  else if (text == "adversarial")
    *order = Order::kAdversarial;
  else
    return false;
  return true;
}

}  // namespace

std::vector<std::string> words_of(const std::string &text, char between) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(between, at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool set_config(Config &config, const std::string &name, const std::string &value) {
  if (name == "ORDER") return read_order(value, &config.order);
  if (name == "ARCH") return config.arch = value, true;
  if (name == "EMULATION") return config.emulation = words_of(value, ':'), true;
  if (name == "MISSING") return config.missing = words_of(value, ','), true;
  if (name == "REPORT") return config.report = value, true;
  uint64_t number = 0;
  if (!read_number(value, &number)) return false;
  if (name == "DEVICES")
    return number <= 64 ? (config.devices = static_cast<int>(number), true) : false;
  if (name == "MEMORY") return config.memory = number, true;
  if (name == "SEED") return config.seed = number, true;
  if (name == "DELAY_US") return config.delay_us = static_cast<uint32_t>(number), true;
  if (name == "UNITS")
    return number <= 1024 ? (config.units = static_cast<int>(number), true) : false;
  if (name == "VERSION") return config.version = static_cast<int>(number), true;
  if (name == "TWICE") return config.twice = number != 0, true;
  if (name == "EXECUTE") return config.execute = number != 0, true;
  if (name == "EMPTY") return config.empty = number != 0, true;
  if (name == "EDGES") return config.edges = number, true;
  if (name == "DEVICE_CHECK") return config.device_check = number != 0, true;
  if (name == "PTX") return config.ptx = number != 0, true;
  return false;
}

Config config_of_environment() {
  Config config;
  for (const char *name :
       {"DEVICES", "MEMORY", "ORDER", "SEED", "DELAY_US", "UNITS", "VERSION", "ARCH", "EMULATION",
        "MISSING", "REPORT", "TWICE", "EXECUTE", "EMPTY", "EDGES", "DEVICE_CHECK", "PTX"}) {
    const char *value = std::getenv((std::string("GUFUNC_SIM_") + name).c_str());
    if (value != nullptr) set_config(config, name, value);
  }
  return config;
}

}  // namespace sim
