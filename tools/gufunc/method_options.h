// SPDX-License-Identifier: Apache-2.0
// The subcommands reduce, accumulate, reduceat, outer and at, and their options.
#ifndef GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H
#define GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.h"

namespace gufunc::cli {

inline constexpr const char *kSignatureHelp =
    "Types of the loop, one per operand: \"dd->d\", or \"f8,None,f8\" with None for any";
inline constexpr const char *kWhereHelp =
    "Mask: a bool .npy file, or True or False; where it is False a new result is 0";
inline constexpr const char *kFpFlagsHelp =
    "Floating-point flags: ignore, report or fail, for all or as in over=fail,divide=report";

// Adds an option whose value may be empty: CLI11 itself treats an empty value as no value.
void add_text(CLI::App &app, const char *name, std::optional<std::string> &value,
              const std::string &help);

// Adds the five subcommands. The chosen one writes its name and option values into `options`.
std::vector<CLI::App *> add_methods(CLI::App &app, MethodOptions &options);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H
