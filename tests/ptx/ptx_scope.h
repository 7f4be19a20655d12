// SPDX-License-Identifier: Apache-2.0
// The registers and variables that are visible in a block of a function.
#ifndef GUFUNC_TESTS_PTX_PTX_SCOPE_H
#define GUFUNC_TESTS_PTX_PTX_SCOPE_H

#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/ptx/ptx_module.h"

namespace ptx {

struct Register {
  Type type;
  uint32_t index = 0;
};

// A variable of the state space .local or .param.
struct Placed {
  Variable variable;
  uint64_t address = 0;  // in the frame's local memory or in its parameter area
};

class Scopes {
 public:
  void push() { scopes_.emplace_back(); }
  void pop() { scopes_.pop_back(); }

  void add_register(std::string_view name, const Register &reg);
  // Adds `count` registers with consecutive indices, for a declaration such as %r<8>.
  void add_registers(std::string_view prefix, uint32_t count, const Register &first);
  void add_variable(Placed variable);

  // The innermost declaration hides others. Returns false or null if there is none.
  bool find_register(std::string_view name, Register *out) const;
  const Placed *find_variable(std::string_view name) const;

 private:
  struct Range {
    uint32_t count;
    Register first;
  };
  struct Scope {
    std::unordered_map<std::string_view, Register> registers;
    std::unordered_map<std::string_view, Range> ranges;
    std::unordered_map<std::string_view, Placed> variables;
  };

  std::vector<Scope> scopes_{1};
};

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_SCOPE_H
