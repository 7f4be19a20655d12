// SPDX-License-Identifier: Apache-2.0
// Raw kernels of modules, as rows of list and describe.
#ifndef GUFUNC_TOOLS_GUFUNC_KERNEL_WORDS_H
#define GUFUNC_TOOLS_GUFUNC_KERNEL_WORDS_H

#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "owned_handle.h"

namespace gufunc::cli {

// Of every raw kernel: "name" ("module:kernel"), "kernel" (its parameters, "float32, const
// float32*, float64[,]"), "threads", "shared" bytes and "doc".
std::vector<nlohmann::ordered_json> kernel_rows(const std::vector<ModuleHandle> &modules);

// The row of that name, whole or without the module; null where there is none or several.
nlohmann::ordered_json kernel_row(const std::vector<ModuleHandle> &modules,
                                  const std::string &name);

// The full names ("module:name") of a module's ufuncs.
std::vector<std::string> function_names(const ModuleHandle &module);

// The ufunc of that name: of a module first, which a line on stderr reports where the library has a
// ufunc of that name too. A raw kernel's name is refused as what it is.
UfuncHandle find_function(const std::vector<ModuleHandle> &modules, const std::string &name);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_KERNEL_WORDS_H
