// SPDX-License-Identifier: Apache-2.0
#include "stack_loops.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "entry_text.h"

namespace gufunc::gufcc {

Command show_code_flags(const std::string &folder) {
  // The code is printed before recompute-globalsaa, because this is the last pass over the whole
  // module before the loop passes.
  return {"-mllvm", "-print-before=recompute-globalsaa", "-mllvm", "-ir-dump-directory=" + folder};
}

bool lacks_code_flags(const std::string &output) {
  return output.find("Unknown command line argument '-ir-dump-directory") != std::string::npos;
}

// A function extends from "define ... {" to "}". It is reported if it contains both a remaining
// alloca and an access marked as independent; each generated loop is a separate function.
std::set<int> find_stack_loops(std::string_view code) {
  std::set<int> callees;
  std::string_view definition;
  bool on_stack = false, promised = false;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (line.starts_with("define ")) {
      definition = line;
      on_stack = promised = false;
    } else if (line == "}") {
      const size_t name = definition.find(kCalleeName);
      int number = 0;
      if (on_stack && promised && name != std::string_view::npos) {
        const char *const digits = definition.data() + name + std::string_view(kCalleeName).size();
        std::from_chars(digits, definition.data() + definition.size(), number);
        callees.insert(number);
      }
      definition = {};
    } else {
      on_stack = on_stack || line.find(" = alloca ") != std::string_view::npos;
      promised = promised || line.find("!llvm.access.group") != std::string_view::npos;
    }
  }
  return callees;
}

namespace {

// Returns the name in "@name(" or "@"name"(" after `from`; "" if there is none.
std::string called_name(std::string_view line, size_t from) {
  const size_t at = line.find('@', from);
  const size_t end = at == std::string_view::npos ? at : line.find('(', at);
  if (end == std::string_view::npos) return {};
  std::string name(line.substr(at + 1, end - at - 1));
  if (name.starts_with('"') && name.ends_with('"')) name = name.substr(1, name.size() - 2);
  return name;
}

using Calls = std::map<std::string, std::set<std::string>>;

Calls calls_of(std::string_view code) {
  Calls calls;
  std::set<std::string> *called = nullptr;
  while (!code.empty()) {
    const std::string_view line = code.substr(0, code.find('\n'));
    code.remove_prefix(std::min(line.size() + 1, code.size()));
    if (line.starts_with("define ")) {
      called = &calls[called_name(line, 0)];
    } else if (const size_t call = line.find("call "); called != nullptr && call != line.npos) {
      called->insert(called_name(line, call));
    }
  }
  return calls;
}

}  // namespace

std::set<std::string> find_recursion(std::string_view code) {
  const Calls calls = calls_of(code);
  std::set<std::string> found;
  for (const auto &[name, called] : calls) {
    std::set<std::string> reached;
    std::vector<std::string> open(called.begin(), called.end());
    while (!open.empty()) {
      const std::string next = open.back();
      open.pop_back();
      const auto more = calls.find(next);
      if (more == calls.end() || !reached.insert(next).second) continue;
      open.insert(open.end(), more->second.begin(), more->second.end());
    }
    if (reached.contains(name)) found.insert(name);
  }
  return found;
}

}  // namespace gufunc::gufcc
