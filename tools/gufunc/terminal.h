// SPDX-License-Identifier: Apache-2.0
// Output for people. Names of files, literals and texts of modules may contain any bytes, so all
// text is written through these functions, which escape what a terminal would interpret.
#ifndef GUFUNC_TOOLS_GUFUNC_TERMINAL_H
#define GUFUNC_TOOLS_GUFUNC_TERMINAL_H

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace gufunc::cli {

// Writes one line to stdout. A line feed within the line is escaped. Throws Failure(kFile).
void write_line(std::string_view line);
template <class... Args>
void print_line(fmt::format_string<Args...> format, Args &&...args) {
  write_line(fmt::format(format, std::forward<Args>(args)...));
}

// Writes a text to stdout. Line feeds in the text are not escaped. Throws Failure(kFile).
void print_text(std::string_view text);

// Writes bytes to stdout as they are. Throws Failure(kFile).
void write_output(std::string_view bytes);

// Writes one line to stderr.
void write_message(std::string_view line);
template <class... Args>
void report(fmt::format_string<Args...> format, Args &&...args) {
  write_message(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_TERMINAL_H
