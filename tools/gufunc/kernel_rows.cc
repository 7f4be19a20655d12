// SPDX-License-Identifier: Apache-2.0
#include "kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "call_parts.h"
#include "terminal.h"

namespace gufunc::cli {

using nlohmann::ordered_json;

namespace {

std::string words_of(const guf_module_parameter &parameter) {
  const bool is_const = (parameter.flags & GUF_PARAMETER_READ_ONLY) != 0;
  std::string text = (is_const ? "const " : "") + std::string(guf_dtype_name(parameter.dtype));
  if (parameter.kind == GUF_PARAMETER_POINTER) return text + "*";
  if (parameter.kind == GUF_PARAMETER_NUMBER) return text;
  const auto commas = static_cast<size_t>(parameter.ndim > 0 ? parameter.ndim - 1 : 0);
  return text + "[" + std::string(commas, ',') + "]";
}

ordered_json row_of(guf_kernel kernel) {
  guf_kernel_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_kernel_get_info(kernel, &info, call.error()));
  std::string parameters;
  for (uint32_t i = 0; i < info.nparameters; ++i) {
    guf_module_parameter parameter = {};
    call.check(guf_kernel_get_parameter(kernel, i, &parameter, call.error()));
    parameters += (i == 0 ? "" : ", ") + words_of(parameter);
  }
  return {{"name", info.name},
          {"kernel", parameters},
          {"threads", info.max_threads},
          {"shared", info.shared_bytes},
          {"doc", info.doc}};
}

// Returns the full names of all ufuncs that are called `name` in their module, in module order.
std::vector<std::string> names_in_modules(const std::vector<ModuleHandle> &modules,
                                          const std::string &name) {
  std::vector<std::string> found;
  for (const ModuleHandle &module : modules) {
    for (const std::string &full : function_names(module)) {
      const bool is_new = std::find(found.begin(), found.end(), full) == found.end();
      if (is_new && full.substr(full.find(':') + 1) == name) found.push_back(full);
    }
  }
  return found;
}

}  // namespace

std::vector<ordered_json> kernel_rows(const std::vector<ModuleHandle> &modules) {
  std::vector<ordered_json> rows;
  for (const ModuleHandle &module : modules) {
    guf_module_info info = {};
    info.struct_size = sizeof info;
    Call call;
    call.check(guf_module_get_info(module.get(), &info, call.error()));
    for (uint32_t i = 0; i < info.nkernels; ++i) {
      char name[GUF_MAX_NAME + 1] = {};
      KernelHandle kernel;
      call.check(guf_module_kernel_at(module.get(), i, name, sizeof name, call.error()));
      call.check(guf_kernel_find(module.get(), name, kernel.out(), call.error()));
      rows.push_back(row_of(kernel.get()));
    }
  }
  return rows;
}

ordered_json kernel_row(const std::vector<ModuleHandle> &modules, const std::string &name) {
  ordered_json found;
  for (ordered_json &row : kernel_rows(modules)) {
    const auto full = row["name"].get<std::string>();
    if (full == name) return row;
    if (full.substr(full.find(':') + 1) != name) continue;
    if (!found.is_null()) return nullptr;
    found = std::move(row);
  }
  return found;
}

std::vector<std::string> function_names(const ModuleHandle &module) {
  guf_module_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_module_get_info(module.get(), &info, call.error()));
  std::vector<std::string> names;
  for (uint32_t i = 0; i < info.nfunctions; ++i) {
    char name[2 * GUF_MAX_NAME + 2] = {};
    call.check(guf_module_function_at(module.get(), i, name, sizeof name, call.error()));
    names.emplace_back(name);
  }
  return names;
}

UfuncHandle find_function(const std::vector<ModuleHandle> &modules, const std::string &name) {
  Call call;
  UfuncHandle ufunc;
  const std::vector<std::string> own = names_in_modules(modules, name);
  const guf_status status = guf_ufunc_find(nullptr, name.c_str(), ufunc.out(), call.error());
  if (!own.empty()) {
    const std::string &chosen = own.front();
    for (size_t i = 1; i < own.size(); ++i) {
      report("gufunc: note: '{}' is '{}', not '{}' of a later --module", name, chosen, own[i]);
    }
    const bool clash = status == GUF_OK && info_of(ufunc.get()).name != chosen;
    if (clash)
      report("gufunc: note: '{0}' is '{1}' of --module, not the library's '{0}'", name, chosen);
    return find_ufunc(chosen);
  }
  if (status == GUF_E_NOT_FOUND && !kernel_row(modules, name).is_null()) {
    usage(
        fmt::format("'{}' is a raw kernel, not a ufunc: programs launch it with guf_kernel_launch; "
                    "'gufunc describe' lists its parameters",
                    name));
  }
  call.check(status);
  return ufunc;
}

}  // namespace gufunc::cli
