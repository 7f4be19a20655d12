// SPDX-License-Identifier: Apache-2.0
// The subcommands reduce, accumulate, reduceat, outer and at, and their options.
#ifndef GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H
#define GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H

#include <CLI/CLI.hpp>
#include <vector>

#include "commands.h"

namespace gufunc::cli {

// Adds the five; each writes what it was given into `options`, its own name included.
std::vector<CLI::App *> add_methods(CLI::App &app, MethodOptions &options);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_METHOD_OPTIONS_H
