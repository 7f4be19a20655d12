// SPDX-License-Identifier: Apache-2.0
// Device entries. CUDA and HIP take addresses inside the block; OpenCL takes them as arguments of
// their own.
#include "entry_text.h"
#include "generate.h"

namespace gufunc::gufcc {
namespace {

// One entry, for both kinds of front end.
std::string entry(const std::string &name, const std::string &type, size_t operands,
                  const char *threads, const char *method, bool shared) {
  std::string arguments, from_arguments, from_block;
  for (size_t i = 0; i < operands; ++i) {
    arguments += fmt::format(", __global char *p{}", i);
    from_arguments += fmt::format("(char *)p{}, ", i);
    from_block += fmt::format("(char *)p.address[{}], ", i);
  }
  return fmt::format(
      "#if defined(GUF_OPENCL)\n"
      "GUF_GLOBAL({2}) {0}({1}::block p{3}{7}) {{ char *const base[] = {{{4}}}; {1}::{6}(p, "
      "base{8}); }}\n"
      "#else\n"
      "GUF_GLOBAL({2}) {0}(const {1}::block p) {{ {9}char *const base[] = {{{5}}}; "
      "{1}::{6}(p, base{10}); }}\n"
      "#endif\n",
      name, type, threads, arguments, from_arguments, from_block, method,
      shared ? ", __local char *shared" : "", shared ? ", (char *)shared" : "",
      shared ? "extern __attribute__((shared, aligned(16))) char guf_shared[]; " : "",
      shared ? ", guf_shared" : "");
}

}  // namespace

std::string generate_device_entries(const std::string &source, const std::vector<LoopRef> &loops) {
  std::string text = fmt::format("#include {}\n#include <gufunc/kernel.hpp>\n", quoted(source));
  int number = 0;
  for (const auto &[function, loop] : loops) {
    const std::string callee = fmt::format("guf_callee_{}", number);
    const std::string type = fmt::format("guf_entries_{}", number++);
    const size_t operands = loop->inputs.size() + loop->outputs.size();
    text += callee_struct(*loop, callee, true);
    // clang-15 takes a struct as an OpenCL kernel's argument only when it was instantiated before.
    const std::string complete = fmt::format("static_assert(sizeof({}::block) > 0, \"\");\n", type);
    if (!function->generalized()) {
      text +=
          fmt::format("typedef guf::device::elementwise<{}, guf::types<{}>, guf::types<{}>> {};\n",
                      callee, type_list(loop->inputs), type_list(loop->outputs), type);
      text += complete;
      text += entry(loop->stem + "_row", type, operands, "guf::device::kThreads", "row", false);
      text += entry(loop->stem + "_nd", type, operands, "guf::device::kThreads", "nd", false);
      continue;
    }
    text += fmt::format("typedef guf::device::generalized<{}, {}, {}> {};\n", callee,
                        loop->cooperative ? "true" : "false",
                        operand_list(*function, *loop, "device"), type);
    text += complete;
    text +=
        entry(loop->stem + "_thread", type, operands, "guf::device::kItemThreads", "thread", false);
    if (loop->cooperative) {
      text += entry(loop->stem + "_block", type, operands, "guf::device::kItemThreads",
                    "whole_block", true);
    }
  }
  return text;
}

}  // namespace gufunc::gufcc
