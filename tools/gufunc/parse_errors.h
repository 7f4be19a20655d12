// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line, in the words of this program and with the nearest right one.
#ifndef GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H
#define GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gufunc::cli {

// "; did you mean 'run'?" for the known word that differs from `wanted` in one stretch of few
// letters; "" when none does.
std::string did_you_mean(const std::string &wanted, const std::vector<std::string> &known);

// Throws Failure(kUsage) for a word that is no command; "" where there is none.
[[noreturn]] void refuse_command(const CLI::App &app, const std::string &word);

// The command that the arguments name: the first of them that is no option. `app` itself when
// there is none. Throws Failure(kUsage) for a word that is no command.
const CLI::App *chosen_command(const CLI::App &app, int argc, char **argv);

// Before parsing, which would take the value of an unknown option for one more input.
// Throws Failure(kUsage) for an option that `command` does not have, or `app` before its name.
void refuse_unknown_options(const CLI::App &app, const CLI::App &command, int argc, char **argv);

// "-2", "-.5", "-inf": a number and no option.
// A byte before an argument that CLI11 takes as it is, and the argument without it; of a message,
// without any.
inline constexpr char kHidden = '\x1f';
std::string shown(std::string text);

bool is_negative_number(const std::string &argument);

// Whether the argument after this one is its value, whatever that looks like.
bool takes_value(const CLI::App &command, const std::string &argument);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H
