// SPDX-License-Identifier: Apache-2.0
// Tests how gufcc detects loops that use the stack in clang's intermediate code, and compiles such
// loops.
#include "llvm_code.h"

#include <gmock/gmock.h>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string definition(const std::string &name, const std::string &body) {
  return "define internal void @" + name + "(ptr %0) #2 {\n" + body + "}\n\n";
}
const std::string kAlloca = "  %3 = alloca [4 x float], align 16\n";
const std::string kPromised = "  %18 = load float, ptr %17, align 1, !llvm.access.group !14\n";

TEST(StackLoops, AreThoseOfPromisedLoops) {
  const std::string code =
      "; ModuleID = 'unit0_v3.cpp'\n" +
      definition("_ZN3guf4host11elementwiseIN12_GLOBAL__N_112guf_callee_3ENS_5typesE",
                 kAlloca + kPromised) +
      definition("_ZN3guf4host11elementwiseIN12_GLOBAL__N_113guf_callee_14ENS_5typesE",
                 kAlloca + "1:\n" + kPromised) +
      definition("_ZN3guf4host4foldIN12_GLOBAL__N_112guf_callee_5EfE", kPromised) +
      definition("_ZN3guf4host4foldIN12_GLOBAL__N_112guf_callee_6EfE", kAlloca) +
      definition("_ZN4user4ownsEv", kAlloca + kPromised) +
      "declare void @_ZN12_GLOBAL__N_112guf_callee_7E()\n";
  EXPECT_THAT(find_stack_loops(code), ElementsAre(3, 14));
  EXPECT_THAT(find_stack_loops(""), IsEmpty());
  for (size_t size = 0; size < code.size(); ++size) find_stack_loops(code.substr(0, size));
}

const char kKernels[] =
    "#include <gufunc/kernel.hpp>\n"
    "GUF_DEVICE float pick(float x, int i) {\n"
    "  const float all[4] = {x, -x, x + 1, x - 1};\n"
    "  return all[i & 3];\n"
    "}\n"
    "GUF_UFUNC(pick, \"fi->f\");\n"
    "GUF_DEVICE float plain(float x, float y) {\n"
    "  const float all[4] = {x, y, x + y, x - y};\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < 4; ++i) sum += all[i];\n"
    "  return sum;\n"
    "}\n"
    "GUF_UFUNC(plain, \"ff->f\");\n";

TEST_F(Gufcc, LoopsWithPlacesOnTheStackAreCompiledAgain) {
  const Command command = {write("pick.guf.cpp", kKernels),
                           "-o",
                           path("pick.so").string(),
                           "--targets",
                           "x86-64-v3",
                           "-v"};
  const ProcessResult built = run(command);
  EXPECT_EQ(built.status, 0) << built.output;
  EXPECT_THAT(built.output, HasSubstr("gufcc: unit0_v3: 1 loops with variables on the stack"));
  const ProcessResult again = run(command);
  EXPECT_THAT(again.output, HasSubstr("gufcc: unit0_v3 from the cache"));
  EXPECT_THAT(again.output, Not(HasSubstr("on the stack")));
}

// gufcc declares the iterations of elementwise loops to be independent, but not those of
// generalized functions, so it need not compile these again without the declaration. The function
// has memory on the stack and a loop of its own whose iterations are declared to be independent.
TEST_F(Gufcc, GeneralizedFunctionsAreCompiledOnce) {
  const std::string source =
      write("twice.guf.cpp",
            "#include <gufunc/kernel.hpp>\n"
            "template <class G, class X, class Y>\n"
            "GUF_DEVICE void twice(G g, X x, Y y) {\n"
            "  auto kept = g.template shared<float>(x.extent(0));\n"
            "  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) kept[i] = x[i];\n"
            "  g.sync();\n"
            "  GUF_INDEPENDENT\n"
            "  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) y[i] = 2 * kept[i];\n"
            "}\n"
            "GUF_GUFUNC(twice, \"(n)->(n)\", \"f->f\", \"group\");\n");
  const ProcessResult built =
      run({source, "-o", path("twice.so").string(), "--targets", "x86-64-v3", "--no-cache", "-v"});
  EXPECT_EQ(built.status, 0) << built.output;
  EXPECT_THAT(built.output, Not(HasSubstr("on the stack")));
}

TEST_F(Gufcc, AnOldCompilerIsRefused) {
  const std::string compiler = write(
      "compiler",
      "#!/bin/sh\n"
      "case $* in *-ir-dump-directory=*)\n"
      "  echo \"clang: Unknown command line argument '-ir-dump-directory=x'.\"; exit 1 ;; esac\n"
      "exec clang++-19 \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const ProcessResult built = run({write("pick.guf.cpp", kKernels), "-o", path("pick.so").string(),
                                   "--no-cache", "--compiler", compiler});
  EXPECT_EQ(built.status, 1);
  EXPECT_EQ(built.output,
            "gufcc: error: " + compiler +
                " is too old: kernels need clang 17 or later; clang 19 is recommended\n");
}

// gufcc needs the compiler's intermediate code to detect loops that would be compiled incorrectly.
TEST_F(Gufcc, ACompilerMustShowItsCode) {
  const std::string compiler =
      write("compiler",
            "#!/bin/sh\n"
            "for argument; do\n"
            "  case $argument in -mllvm | -print-before* | -ir-dump-directory*) ;;\n"
            "  *) set -- \"$@\" \"$argument\" ;; esac\n"
            "  shift\n"
            "done\n"
            "exec clang++-19 \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  const ProcessResult built = run({write("pick.guf.cpp", kKernels), "-o", path("pick.so").string(),
                                   "--targets", "x86-64-v3", "--no-cache", "--compiler", compiler});
  EXPECT_EQ(built.status, 1);
  EXPECT_THAT(built.output, HasSubstr("compiler wrote no LLVM IR"));
  EXPECT_FALSE(fs::exists(path("pick.so")));
}

}  // namespace
}  // namespace gufunc::gufcc
