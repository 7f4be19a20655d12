// SPDX-License-Identifier: Apache-2.0
#include "stack_places.h"

#include <algorithm>
#include <charconv>

#include "entry_text.h"

namespace gufunc::gufcc {

Command show_code_flags(const std::string &folder) {
  // The last pass over the whole module before those of loops.
  return {"-mllvm", "-print-before=recompute-globalsaa", "-mllvm", "-ir-dump-directory=" + folder};
}

bool lacks_code_flags(const std::string &output) {
  return output.find("Unknown command line argument '-ir-dump-directory") != std::string::npos;
}

// Functions are "define ... {" to "}". An alloca that is left and an access that was promised to be
// independent, in one function: the loops stand in functions of their own.
std::set<int> find_stack_places(std::string_view code) {
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

}  // namespace gufunc::gufcc
