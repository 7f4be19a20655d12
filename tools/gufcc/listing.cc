// SPDX-License-Identifier: Apache-2.0
#include "listing.h"

#include <algorithm>
#include <array>

namespace gufunc::gufcc {
namespace {

using Row = std::array<std::string, 4>;

std::string type_text(const Function &function) {
  std::string text;
  for (const Loop &loop : function.loops) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", loop.inputs,
                        loop.outputs.empty() ? "" : "->", loop.outputs);
  }
  return text;
}

std::string remarks(const Function &function) {
  std::string text;
  auto add = [&](const std::string &remark) { text += (text.empty() ? "" : ", ") + remark; };
  if (!function.rules.empty()) add(function.rules);
  if (function.roles_given) {
    std::string roles;
    for (const Role role : function.roles) {
      roles += fmt::format("{}{}", roles.empty() ? "" : " ",
                           role == Role::kIn    ? "in"
                           : role == Role::kOut ? "out"
                                                : "inout");
    }
    add(roles);
  }
  if (function.inplace_safe) add("in place safe");
  if (function.overwrites) add("overwrites operand 0");
  if (function.identity != "none") add("identity " + function.identity);
  if (function.fp != FpMode::kStrict) add(name_of(function.fp));
  if (!function.doc.text.empty()) add(function.doc.text);
  return text;
}

}  // namespace

std::string list_functions(const Module &module) {
  std::vector<Row> rows = {{"NAME", "SIGNATURE", "TYPES", "REMARKS"}};
  for (const Function &function : module.functions) {
    rows.push_back({function.name, function.generalized() ? function.signature : "elementwise",
                    type_text(function), remarks(function)});
  }
  for (const RawKernel &kernel : module.kernels) {
    rows.push_back(
        {kernel.name, "raw kernel", fmt::format("threads<={}", kernel.threads),
         kernel.doc.empty() && kernel.fp != FpMode::kStrict ? name_of(kernel.fp) : kernel.doc});
  }
  std::array<size_t, 4> width{};
  for (const Row &row : rows) {
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const Row &row : rows) {
    std::string line = fmt::format("{:<{}}  {:<{}}  {:<{}}  {}", row[0], width[0], row[1], width[1],
                                   row[2], width[2], row[3]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace gufunc::gufcc
