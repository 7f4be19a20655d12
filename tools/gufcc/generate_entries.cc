// SPDX-License-Identifier: Apache-2.0
// Entries call the user's function from a line that claims to be the registration's: an error in the
// arguments points there, an error in the formula at the formula.
#include <gufunc/status.h>

#include "generate.h"

namespace gufunc::gufcc {
namespace {

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string type_list(const std::string &letters) {
  std::string list;
  for (const char letter : letters) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", find_letter(letter)->storage);
  }
  return list;
}

const char *role_name(Role role) {
  return role == Role::kIn ? "in" : role == Role::kOut ? "out" : "inout";
}

// "guf::host::operand<guf::f32, guf::role::in, 0, 1>, ..."
std::string operand_list(const Function &function, const Loop &loop, const char *space) {
  const std::string letters = loop.inputs + loop.outputs;
  std::string list;
  for (size_t i = 0; i < letters.size(); ++i) {
    std::string dims;
    for (const int dim : function.core_dims[i]) dims += fmt::format(", {}", dim);
    list += fmt::format("{}guf::{}::operand<{}, guf::role::{}{}>", list.empty() ? "" : ", ", space,
                        find_letter(letters[i])->storage, role_name(function.roles[i]), dims);
  }
  return list;
}

// The callable that entries are instantiated with.
std::string callee_struct(const Loop &loop, const std::string &name) {
  return fmt::format(
      "# {} {}\n"
      "struct {} {{ template <class... A> static GUF_FN decltype(auto) call(A &&...a) "
      "{{ return ::{}(static_cast<A &&>(a)...); }} }};\n",
      loop.place.line, quoted(loop.place.file), name, loop.callee);
}

}  // namespace

std::string host_entry_name(const Loop &loop, const Target &target) {
  return loop.stem + "__" + target.suffix;
}

std::string generate_host_entries(const std::string &source, const std::vector<LoopRef> &loops,
                                  const Target &target) {
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n", quoted(source));
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const std::string callee = fmt::format("guf_callee_{}", number++);
    const char *may_fail = loop->may_fail ? "true" : "false";
    const std::string loop_type =
        function->generalized()
            ? fmt::format("guf::host::generalized<{}, {}, {}, {}>", callee,
                          loop->cooperative ? "true" : "false", may_fail,
                          operand_list(*function, *loop, "host"))
            : fmt::format("guf::host::elementwise<{}, guf::types<{}>, guf::types<{}>, {}>", callee,
                          type_list(loop->inputs), type_list(loop->outputs), may_fail);
    // A failed element makes the call GUF_E_VALUE with the function's text.
    const std::string call = loop_type + "::run(args, dims, steps)";
    text += fmt::format(
        "namespace {{\n{}}}\n"
        "extern \"C\" __attribute__((visibility(\"hidden\"))) {} {}(char **args, const guf::i64 "
        "*dims, "
        "const guf::i64 *steps, void *) {{ {}; }}\n",
        callee_struct(*loop, callee), loop->may_fail ? "int" : "void",
        host_entry_name(*loop, target),
        loop->may_fail ? fmt::format("return {} ? {} : {}", call, +GUF_E_VALUE, +GUF_OK) : call);
  }
  return text;
}

std::string generate_device_entries(const std::string &source, const std::vector<LoopRef> &loops) {
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n", quoted(source));
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const std::string callee = fmt::format("guf_callee_{}", number++);
    text += callee_struct(*loop, callee);
    if (function->generalized()) {
      text += fmt::format("GUF_GENERALIZED_ENTRIES({}, {}, {}, {})\n", loop->stem, callee,
                          loop->cooperative ? "true" : "false",
                          operand_list(*function, *loop, "device"));
    } else {
      text += fmt::format("GUF_ELEMENTWISE_ENTRIES({}, {}, (guf::types<{}>), (guf::types<{}>))\n",
                          loop->stem, callee, type_list(loop->inputs), type_list(loop->outputs));
    }
  }
  return text;
}

}  // namespace gufunc::gufcc
