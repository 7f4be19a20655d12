// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_scope.h"

#include <charconv>

namespace ptx {

void Scopes::add_register(std::string_view name, const Register &reg) {
  scopes_.back().registers[name] = reg;
}

void Scopes::add_registers(std::string_view prefix, uint32_t count, const Register &first) {
  scopes_.back().ranges[prefix] = {count, first};
}

void Scopes::add_variable(Placed variable) {
  const std::string_view name = variable.variable.name;
  scopes_.back().variables[name] = std::move(variable);
}

bool Scopes::find_register(std::string_view name, Register *out) const {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  uint32_t number = 0;
  const bool numbered =
      std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc();
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto single = scope->registers.find(name);
    if (single != scope->registers.end()) return *out = single->second, true;
    if (!numbered) continue;
    const auto range = scope->ranges.find(name.substr(0, digits));
    if (range == scope->ranges.end() || number >= range->second.count) continue;
    *out = range->second.first;
    out->index += number;
    return true;
  }
  return false;
}

const Placed *Scopes::find_variable(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->variables.find(name);
    if (found != scope->variables.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace ptx
