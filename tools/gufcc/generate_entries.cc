// SPDX-License-Identifier: Apache-2.0
// Entries call the user's function on a line that has the number of the registration. Therefore the
// compiler reports an error in the parameters at the registration, and an error in the body of the
// function at its own line.
#include <gufunc/status.h>

#include "entry_text.h"
#include "generate.h"

namespace gufunc::gufcc {
namespace {

// If an element fails, the call returns GUF_E_VALUE with the failure text of the function.
std::string entry_text(const std::string &name, const std::string &type, bool may_fail) {
  const std::string call = type + "::run(args, dims, steps)";
  return fmt::format(
      "extern \"C\" __attribute__((visibility(\"hidden\"))) {} {}(char **args, const guf::i64 "
      "*dims, const guf::i64 *steps, void *) {{ {}; }}\n",
      may_fail ? "int" : "void", name,
      may_fail ? fmt::format("return {} ? {} : {}", call, +GUF_E_VALUE, +GUF_OK) : call);
}

// Returns the class of the fold entry. guf::host::chain combines from left to right, and
// guf::host::fold, the tree reduction, is only for functions that allow regrouping the elements.
std::string fold_type(const Function &function, const Loop &loop, const std::string &callee,
                      const char *independent) {
  const char *storage = find_letter(loop.inputs[0])->storage;
  const char *may_fail = loop.may_fail ? "true" : "false";
  if (!function.associative || !function.commutative) {
    return fmt::format("guf::host::chain<{}, {}, {}>", callee, storage, may_fail);
  }
  return fmt::format("guf::host::fold<{}, {}, {}, {}>", callee, storage, may_fail, independent);
}

}  // namespace

bool has_fold(const Function &function, const Loop &loop) {
  if (function.generalized() || loop.inputs.size() != 2 || loop.outputs.size() != 1) return false;
  return find_letter(loop.inputs[0]) == find_letter(loop.inputs[1]) &&
         find_letter(loop.inputs[0]) == find_letter(loop.outputs[0]);
}

std::string fold_entry_name(const Loop &loop, const Target &target) {
  return loop.stem + "_fd__" + target.suffix;
}

std::string host_entry_name(const Loop &loop, const Target &target) {
  return loop.stem + "__" + target.suffix;
}

std::string generate_host_entries(const std::string &source, const std::vector<LoopRef> &loops,
                                  const Target &target, const std::set<int> &on_stack) {
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n", quoted(source));
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const char *independent = on_stack.contains(number) ? "false" : "true";
    const std::string callee = fmt::format("{}{}", kCalleeName, number++);
    const char *may_fail = loop->may_fail ? "true" : "false";
    const std::string loop_type =
        function->generalized()
            ? fmt::format("guf::host::generalized<{}, {}, {}, {}>", callee,
                          loop->cooperative ? "true" : "false", may_fail,
                          operand_list(*function, *loop, "host"))
            : fmt::format("guf::host::elementwise<{}, guf::types<{}>, guf::types<{}>, {}, {}>",
                          callee, type_list(loop->inputs), type_list(loop->outputs), may_fail,
                          independent);
    text += fmt::format("namespace {{\n{}}}\n", callee_struct(*loop, callee));
    text += entry_text(host_entry_name(*loop, target), loop_type, loop->may_fail);
    if (has_fold(*function, *loop)) {
      text += entry_text(fold_entry_name(*loop, target),
                         fold_type(*function, *loop, callee, independent), loop->may_fail);
    }
  }
  return text;
}

}  // namespace gufunc::gufcc
