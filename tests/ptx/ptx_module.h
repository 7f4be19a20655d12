// SPDX-License-Identifier: Apache-2.0
// The declarations of a PTX module: variables, and functions whose bodies are not parsed yet.
#ifndef GUFUNC_TESTS_PTX_PTX_MODULE_H
#define GUFUNC_TESTS_PTX_PTX_MODULE_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/ptx_lexer.h"
#include "tests/ptx/ptx_types.h"

namespace ptx {

// A variable of a state space, or a parameter.
struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Type type;
  uint32_t align = 1;
  uint64_t bytes = 0;             // 0 for an array whose size the launch defines
  std::vector<uint8_t> contents;  // initialiser, shorter than `bytes` if the rest is zero
  bool is_external = false;
};

struct FunctionText {
  std::string_view name;
  bool is_entry = false;
  uint32_t max_threads[3] = {0, 0, 0};  // .maxntid or .reqntid; 0 means no limit
  bool requires_threads = false;        // .reqntid
  std::vector<Variable> parameters, results;
  std::string_view body;  // text after the opening brace; empty for a declaration
  uint32_t body_line = 0;
};

struct Module {
  int version = 0;  // such as 63 for PTX 6.3
  std::map<std::string_view, Variable> variables;
  std::map<std::string_view, FunctionText> functions;
};

// Parses the declarations of a text, which must outlive the module. Throws Fault.
Module parse_module(std::string_view text);

// Parses a variable. The current token is the word after the state space. Throws Fault.
Variable parse_variable(Lexer &lexer, Space space);

// Returns the number of bytes of an offset after alignment.
constexpr uint64_t align_up(uint64_t offset, uint64_t align) {
  return (offset + align - 1) / align * align;
}

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_MODULE_H
