// SPDX-License-Identifier: Apache-2.0
// Error messages for invalid command lines, with a suggestion for a misspelled word.
#ifndef GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H
#define GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gufunc::cli {

// Returns "; did you mean 'run'?" for the known word that is most similar to the typed word
// `typed`, or "" if no known word is similar.
std::string did_you_mean(const std::string &typed, const std::vector<std::string> &known);

// Throws Failure(kUsage) for an unknown command. `word` is "" if the command is missing.
[[noreturn]] void refuse_command(const CLI::App &app, const std::string &word);

// Returns the command that the arguments select: the first argument that is not an option. Returns
// `app` if there is none. Throws Failure(kUsage) for an unknown command.
const CLI::App *chosen_command(const CLI::App &app, int argc, char **argv);

// Runs before CLI11 parses, because CLI11 would take the value of an unknown option for another
// input. Throws Failure(kUsage) for an option that `command` (or `app`, before the command name)
// does not have.
void refuse_unknown_options(const CLI::App &app, const CLI::App &command, int argc, char **argv);

// kHidden precedes an argument that CLI11 must not interpret. shown() removes the byte from an
// argument, and every such byte from a message.
inline constexpr char kHidden = '\x1f';
std::string shown(std::string text);

// Whether the argument is a number with a minus sign ("-2", "-.5", "-inf") and not an option.
bool is_negative_number(const std::string &argument);

// Whether the next argument is the value of this option, even if it looks like an option.
bool takes_value(const CLI::App &command, const std::string &argument);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_PARSE_ERRORS_H
