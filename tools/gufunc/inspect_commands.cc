// SPDX-License-Identifier: Apache-2.0
// list and describe: print the available ufuncs.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>

#include "call_parts.h"
#include "commands.h"
#include "json_values.h"
#include "kernel_rows.h"
#include "outcome.h"
#include "owned_handle.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

using nlohmann::ordered_json;

char letter_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  return guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK ? static_cast<char>(info.letter) : '?';
}

// Returns the types of each loop as gufcc spells them: "ff->f".
std::vector<std::string> loops_of(guf_ufunc ufunc, const guf_ufunc_info &info) {
  std::vector<std::string> loops;
  guf_dtype types[GUF_MAX_OPERANDS] = {};
  const int32_t count = info.nin + info.nout;
  for (uint32_t i = 0; i < info.nloops; ++i) {
    Call call;
    call.check(guf_ufunc_loop_types(ufunc, i, count, types, call.error()));
    std::string text;
    for (int32_t operand = 0; operand < count; ++operand) {
      if (operand == info.nin && info.nout > 0) text += "->";
      text += letter_of(types[operand]);
    }
    loops.push_back(text);
  }
  return loops;
}

// Returns the element and result types of guf_reduce as texts such as "d->dd", one per loop. If the
// reduction has a finish function, the result types are the outputs of the finish function's loop
// whose inputs are exactly the types of the accumulator. Without such a loop, there is no text.
std::vector<std::string> result_types(const guf_ufunc_info &info,
                                      const std::vector<std::string> &loops) {
  std::vector<std::string> finishing;
  if (info.finish[0] != '\0') {
    const UfuncHandle finish = find_ufunc(info.finish);
    finishing = loops_of(finish.get(), info_of(finish.get()));
  }
  std::vector<std::string> types;
  for (const std::string &loop : loops) {
    const std::string elements = loop.substr(0, 1), state = loop.substr(loop.find("->") + 2);
    if (info.finish[0] == '\0') types.push_back(elements + "->" + state);
    for (const std::string &last : finishing) {
      if (last.starts_with(state + "->")) types.push_back(elements + last.substr(state.size()));
    }
  }
  return types;
}

// Describes a reduction with a user-defined accumulator. Returns null for all other ufuncs.
ordered_json reduction_of(const guf_ufunc_info &info, const std::vector<std::string> &loops) {
  if (info.nresults == 0) return nullptr;
  return {{"results", info.nresults},
          {"merge", info.merge},
          {"finish", info.finish[0] == '\0' ? ordered_json(nullptr) : ordered_json(info.finish)},
          {"types", result_types(info, loops)}};
}

// Returns one word per operand, inputs first.
std::vector<std::string> roles_of(const guf_ufunc_info &info) {
  const int32_t count = info.nin + info.nout;
  std::vector<std::string> roles;
  roles.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) roles.emplace_back(role_name(info.roles[i]));
  return roles;
}

// Returns the signature that NumPy would write for an elementwise ufunc, which has no signature in
// this library.
std::string signature_of(const guf_ufunc_info &info) {
  if (info.signature[0] != '\0') return info.signature;
  std::string text;
  for (int32_t i = 0; i < info.nin; ++i) text += i == 0 ? "()" : ",()";
  text += "->";
  for (int32_t i = 0; i < info.nout; ++i) text += i == 0 ? "()" : ",()";
  return text;
}

const char *identity_name(int32_t identity) {
  switch (identity) {
    case GUF_IDENTITY_REORDERABLE:
      return "none (reorderable)";
    case GUF_IDENTITY_ZERO:
      return "0";
    case GUF_IDENTITY_ONE:
      return "1";
    case GUF_IDENTITY_MINUS_ONE:
      return "-1";
    case GUF_IDENTITY_MINUS_INF:
      return "-inf";
    default:
      return "none";
  }
}

}  // namespace

void list_command(const Common &common) {
  const auto modules = load_modules(common.modules);
  Call call;
  uint32_t count = 0;
  call.check(guf_ufunc_count(nullptr, &count, call.error()));
  ordered_json all = ordered_json::array();
  for (uint32_t i = 0; i < count; ++i) {
    char name[2 * GUF_MAX_NAME + 2] = {};
    call.check(guf_ufunc_name_at(nullptr, i, name, sizeof name, call.error()));
    const UfuncHandle ufunc = find_ufunc(name);
    const guf_ufunc_info info = info_of(ufunc.get());
    all.push_back({{"name", name},
                   {"signature", signature_of(info)},
                   {"loops", info.nloops},
                   {"doc", info.doc}});
  }
  const std::vector<ordered_json> kernels = kernel_rows(modules);
  if (common.json) {
    for (const ordered_json &row : kernels) all.push_back(row);
    print_json(all);
    return;
  }
  for (const auto &row : all) {
    print_line("{:<24} {:<26} {:>3} loops  {}", row["name"].get<std::string>(),
               row["signature"].get<std::string>(), row["loops"].get<uint32_t>(),
               row["doc"].get<std::string>());
  }
  for (const ordered_json &row : kernels) {
    print_line("{:<24} {:<26} raw kernel  {}", row["name"].get<std::string>(),
               row["kernel"].get<std::string>(), row["doc"].get<std::string>());
  }
}

// Describes a raw kernel. Returns false if no kernel has that name.
static bool describe_kernel(const Common &common, const std::vector<ModuleHandle> &modules,
                            const std::string &name) {
  const ordered_json row = kernel_row(modules, name);
  if (row.is_null()) return false;
  if (common.json) {
    print_json(row);
    return true;
  }
  print_line("{}  raw kernel", row["name"].get<std::string>());
  if (!row["doc"].get<std::string>().empty()) print_line("  {}", row["doc"].get<std::string>());
  print_line("  accepts   {}", row["kernel"].get<std::string>());
  print_line("  threads   at most {} in a block", row["threads"].get<uint32_t>());
  print_line("  shared    {} bytes of a block", row["shared"].get<uint32_t>());
  return true;
}

void describe_command(const Common &common, const std::string &name) {
  const auto modules = load_modules(common.modules);
  if (describe_kernel(common, modules, name)) return;
  const UfuncHandle ufunc = find_function(modules, name);
  const guf_ufunc_info info = info_of(ufunc.get());
  const auto loops = loops_of(ufunc.get(), info), roles = roles_of(info);
  if (common.json) {
    const ordered_json row = {{"name", info.name},
                              {"signature", signature_of(info)},
                              {"rules", info.rules},
                              {"nin", info.nin},
                              {"nout", info.nout},
                              {"roles", roles},
                              {"identity", identity_name(info.identity)},
                              {"doc", info.doc},
                              {"loops", loops},
                              {"reduction", reduction_of(info, loops)}};
    print_json(row);
    return;
  }
  print_line("{}  {}", info.name, signature_of(info));
  if (info.doc[0] != '\0') print_line("  {}", info.doc);
  if (info.rules[0] != '\0') print_line("  rules     {}", info.rules);
  print_line("  operands  {} in, {} out", info.nin, info.nout);
  print_line("  roles     {}", fmt::join(roles, " "));
  print_line("  identity  {}", identity_name(info.identity));
  print_line("  loops     {}", fmt::join(loops, " "));
  if (info.nresults == 0) return;
  print_line("  reduces   to {} result{}: {}", info.nresults, info.nresults == 1 ? "" : "s",
             fmt::join(result_types(info, loops), " "));
  print_line("  merge     {}", info.merge);
  if (info.finish[0] != '\0') print_line("  finish    {}", info.finish);
}

}  // namespace gufunc::cli
