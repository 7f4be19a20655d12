// SPDX-License-Identifier: Apache-2.0
// Descriptions of the raw kernels of modules, for list and describe.
#ifndef GUFUNC_TOOLS_GUFUNC_KERNEL_ROWS_H
#define GUFUNC_TOOLS_GUFUNC_KERNEL_ROWS_H

#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "owned_handle.h"

namespace gufunc::cli {

// Returns one row per raw kernel: "name" ("module:kernel"), "kernel" (its parameters, such as
// "float32, const float32*, float64[,]"), "threads", "shared" (bytes) and "doc".
std::vector<nlohmann::ordered_json> kernel_rows(const std::vector<ModuleHandle> &modules);

// Returns the row of the kernel called `name`, with or without its module. Returns null if no
// kernel or several kernels match.
nlohmann::ordered_json kernel_row(const std::vector<ModuleHandle> &modules,
                                  const std::string &name);

// Returns the full names ("module:name") of the ufuncs of a module.
std::vector<std::string> function_names(const ModuleHandle &module);

// Finds a ufunc by name, first in the modules and then in the library. If both have a ufunc of that
// name, a line on stderr reports it. The name of a raw kernel is an error with its own message.
UfuncHandle find_function(const std::vector<ModuleHandle> &modules, const std::string &name);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_KERNEL_ROWS_H
