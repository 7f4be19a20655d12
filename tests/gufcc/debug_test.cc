// SPDX-License-Identifier: Apache-2.0
// Tests gufcc -g: a module contains the line numbers of its kernels, and kernels on the cpu can
// print.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kPrints[] =
    "#include <cstdio>\n"
    "#include <gufunc/kernel.hpp>\n"
    "template <class T>\n"
    "GUF_DEVICE_NOINLINE T scaled(T x) {\n"
    "  const T by = x + T(1);\n"
    "  printf(\"by %g\\n\", double(by));\n"
    "  return x * by;\n"
    "}\n"
    "template <class T>\n"
    "GUF_DEVICE T f(T x) { return scaled(x); }\n"
    "GUF_UFUNC(f, \"f->f d->d\");\n";

TEST_F(Gufcc, DebuggingInformationNamesTheLinesOfTheKernel) {
  const std::string source = write("k.guf.cpp", kPrints), module = path("k.so").string();
  const ProcessResult built = run({source, "-g", "-o", module, "--targets", "x86-64-v2"});
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
  // gdb's command `break k.guf.cpp:5` looks up such lines.
  const ProcessResult lines = run_process(
      {"/bin/sh", "-c", "objdump --dwarf=decodedline '" + module + "' | grep k.guf.cpp"});
  for (const int line : {5, 7}) {
    EXPECT_THAT(lines.output, testing::ContainsRegex("k.guf.cpp +" + std::to_string(line) + " "));
  }
  ASSERT_EQ(run({write("plain.guf.cpp",
                       "#include <gufunc/kernel.hpp>\n"
                       "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n"),
                 "-o", path("plain.so").string(), "--targets", "x86-64-v2"})
                .status,
            0);
  EXPECT_THAT(run_process({"readelf", "-S", path("plain.so").string()}).output,
              Not(HasSubstr(".debug_line")));
}

TEST_F(Gufcc, AKernelPrintsOnlyWhereItIsDebugged) {
  const std::string source = write("k.guf.cpp", kPrints), module = path("k.so").string();
  const ProcessResult refused = run({source, "-o", module, "--targets", "x86-64-v2"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.output, HasSubstr("<cstdio> is not for kernels"));

  ASSERT_EQ(run({source, "-g", "-o", module, "--targets", "x86-64-v2"}).status, 0);
  void *const handle = dlopen(module.c_str(), RTLD_NOW);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_NE(dlsym(handle, "gufunc_module_v1"), nullptr);
  dlclose(handle);
  EXPECT_THAT(run_process({"nm", "-D", module}).output, HasSubstr("U printf"));
}

}  // namespace
}  // namespace gufunc::gufcc
