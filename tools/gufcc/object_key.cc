// SPDX-License-Identifier: Apache-2.0
#include "object_key.h"

namespace gufunc::gufcc {

std::string flags_of_the_key(const Compiler::Unit &unit) {
  Command flags;
  for (size_t i = unit.is_nvcc ? 1 : 0; i < unit.command.size(); ++i) {  // skip the path of nvcc
    const std::string &word = unit.command[i];
    const bool is_used_up =
        word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-W");
    if (unit.has_lines || !is_used_up) flags.push_back(word);
  }
  const std::string folder = unit.has_lines ? absolute_path(".") : "";
  return command_line(flags) + folder + "\n";
}

bool uses_source_locations(const std::string &text) {
  for (const char *builtin :
       {"__builtin_FILE", "__builtin_LINE", "__builtin_COLUMN", "__builtin_source_location"}) {
    if (text.find(builtin) != std::string::npos) return true;
  }
  return false;
}

}  // namespace gufunc::gufcc
