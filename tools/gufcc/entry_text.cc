// SPDX-License-Identifier: Apache-2.0
#include "entry_text.h"

namespace gufunc::gufcc {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string as_reference(const std::string &type) {
  return type.ends_with('&') ? type : type + " &";
}

std::string type_list(const std::string &letters) {
  std::string list;
  for (const char letter : letters) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", find_letter(letter)->storage);
  }
  return list;
}

static const char *role_name(Role role) {
  return role == Role::kIn ? "in" : role == Role::kOut ? "out" : "inout";
}

std::vector<std::string> operand_types(const Function &function, const Loop &loop,
                                       const char *space) {
  const std::string letters = loop.inputs + loop.outputs;
  std::vector<std::string> list;
  for (size_t i = 0; i < letters.size() && i < function.core_dims.size(); ++i) {
    std::string dims;
    for (const int dim : function.core_dims[i]) dims += fmt::format(", {}", dim);
    const char *const storage = find_letter(letters[i])->storage;
    list.push_back(i == 0 && function.overwrites
                       ? fmt::format("guf::{}::overwritten<{}{}>", space, storage, dims)
                       : fmt::format("guf::{}::operand<{}, guf::role::{}{}>", space, storage,
                                     role_name(function.roles[i]), dims));
  }
  return list;
}

std::string operand_list(const Function &function, const Loop &loop, const char *space) {
  return fmt::format("{}", fmt::join(operand_types(function, loop, space), ", "));
}

std::string callee_struct(const Loop &loop, const std::string &name) {
  return fmt::format(
      "# {} {}\n"
      "struct {} {{ template <class... A> static GUF_FN decltype(auto) call(A &&...a) "
      "{{ return ::{}(static_cast<A &&>(a)...); }} }};\n"
      "# 1 \"{}\"\n",
      loop.place.line, quoted(loop.place.file), name, loop.callee, kEntriesFile);
}

}  // namespace gufunc::gufcc
