// SPDX-License-Identifier: Apache-2.0
// Tests host-only features in a kernel that is compiled only for the cpu. gufcc rejects each
// feature by name at its line, and names the replacement.
#include <gmock/gmock.h>

#include "host_only.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Refusal {
  const char *name;
  const char *before;   // source text at namespace scope, on line 2
  const char *body;     // body of `float f(float x)`, on line 4
  const char *message;  // expected message after the file name
};

class HostOnlyCode : public Gufcc, public testing::WithParamInterface<Refusal> {
 protected:
  std::string source(const Refusal &row) const {
    return "#include <gufunc/kernel.hpp>\n" + std::string(row.before) +
           "\nGUF_DEVICE float f(float x) {\n  " + row.body + "\n}\nGUF_UFUNC(f, \"f->f\");\n";
  }
};

TEST_P(HostOnlyCode, IsRefusedAtItsLine) {
  const std::string output = failing(source(GetParam()), "all");
  EXPECT_THAT(output, HasSubstr("bad.guf.cpp" + std::string(GetParam().message)));
  // The message is printed once and not once per ISA level.
  EXPECT_EQ(output.find(GetParam().message), output.rfind(GetParam().message));
}

const Refusal kRefusals[] = {
    {"Printf", "extern \"C\" int printf(const char *, ...);",
     "printf(\"%g\", double(x)); return x;",
     ":4:3: error: a kernel cannot use 'printf', which only the host has; a kernel cannot print"},
    {"Puts", "extern \"C\" int puts(const char *);", "puts(\"here\"); return x;",
     ":4:3: error: a kernel cannot use 'puts', which only the host has; a kernel cannot print"},
    {"Malloc", "extern \"C\" void *malloc(unsigned long);", "return malloc(8) != nullptr ? x : 0;",
     ":4:10: error: a kernel cannot use 'malloc', which only the host has; a kernel has no private "
     "heap; g.shared<T>(n)"},
    {"New", "", "float *const a = new float[4]; a[0] = x; x = a[0]; delete[] a; return x;",
     ":4: error: a kernel cannot use new: a kernel has no private heap"},
    {"OperatorNew", "void *volatile kept;", "kept = ::operator new[](8); return x;",
     ":4: error: a kernel cannot use new: a kernel has no private heap"},
    {"Assembly", "", "asm(\"nop\"); return x;", ":4: error: a kernel cannot use inline assembly"},
    {"LongDouble", "", "return float((long double)(x) * x);",
     ":4: error: a kernel cannot use long double"},
    {"LongDoubleNumber", "", "return float(x * 1.5L);",
     ":4: error: a kernel cannot use long double"},
    {"BuiltinMathematics", "", "return __builtin_sinf(x);",
     ":4: error: a kernel cannot use 'sinf', which only the host has; use guf::sin"},
    {"BuiltinRound", "", "return __builtin_roundf(x) + __builtin_lgammaf(x);",
     ":4: error: a kernel cannot use 'lgammaf', which only the host has; use guf::lgamma"},
    {"UnknownFunction", "float elsewhere(float);", "return elsewhere(x);",
     ":4:10: error: 'elsewhere' is a function of the host; declare it GUF_DEVICE"},
    {"StaticVariable", "static int calls;", "return x + float(++calls);",
     ":4:22: error: a kernel cannot have the variable 'calls'; constants are GUF_TABLE"},
    {"VariableNamedAsTheManglingOfShort", "int s;", "return x + float(++s);",
     ":4:22: error: a kernel cannot have the variable 's'; constants are GUF_TABLE"},
    {"FunctionNamedAsTheManglingOfInt", "extern \"C\" float i(float);", "return i(x);",
     ":4:10: error: 'i' is a function of the host; declare it GUF_DEVICE"},
    {"NamespaceVariable", "namespace a { int calls = 3; }", "return x + float(a::calls);",
     ":4:23: error: a kernel cannot have the variable 'calls'; constants are GUF_TABLE"},
    {"InlineVariable", "inline float total = 3;", "return total += x;",
     ":4:10: error: a kernel cannot have the variable 'total'; constants are GUF_TABLE"},
    {"LocalStatic", "", "static float last; const float y = last; last = x; return y;",
     ":4: error: a kernel cannot have the variable 'f(float)::last'; constants are GUF_TABLE"},
    {"ThreadLocal", "thread_local float last;", "const float y = last; last = x; return y;",
     ":4:19: error: a kernel cannot have the variable 'last'; constants are GUF_TABLE"},
    {"StaticConstructor", "float at_start(); static const float kStart = at_start();",
     "return x + kStart;",
     ":4:14: error: a kernel cannot have the variable 'kStart'; constants are GUF_TABLE"},
    {"FunctionTable",
     "static float up(float x) { return x + 1; }\n"
     "static float down(float x) { return x - 1; } float (*const kWays[])(float) = {up, down};",
     "return kWays[int(x) & 1](x);",
     ":2: error: a kernel cannot have function pointers or virtual functions, here of 'up(float)'"},
    {"Virtual",
     "struct A { virtual float at(float x) const { return x; } };\n"
     "struct B : A { float at(float x) const override { return -x; } }; A *volatile some;",
     "B b; some = &b; return some->at(x);",
     ":5:8: error: a kernel cannot have the variable 'some'"},
    {"Exception", "", "if (x < 0) throw 1; return x;",
     ":4:14: error: a kernel cannot use exceptions"},
    {"TypeInformation", "struct A { virtual ~A(); };\n#include <typeinfo>\n#line 3",
     "return float(long(&typeid(x)));", ":4:22: error: a kernel cannot use typeid"},
};

INSTANTIATE_TEST_SUITE_P(Rows, HostOnlyCode, testing::ValuesIn(kRefusals),
                         [](const auto &row) { return std::string(row.param.name); });

TEST_F(Gufcc, AVariableOfAHeaderIsRefusedWhereItIsUsed) {
  write("counter.h", "#pragma once\n\ninline int calls;\n");
  const std::string output = failing(
      "#include <gufunc/kernel.hpp>\n#include \"counter.h\"\n"
      "GUF_DEVICE float f(float x) { return x + float(++calls); }\nGUF_UFUNC(f, \"f->f\");\n");
  EXPECT_THAT(output,
              HasSubstr("bad.guf.cpp:3:50: error: a kernel cannot have the variable 'calls'"));
}

// The source is rejected even if an older gufcc has stored its object in the cache.
TEST_F(Gufcc, HostOnlyCodeIsRefusedAgainFromTheCache) {
  const std::string text =
      "#include <gufunc/kernel.hpp>\nstatic int calls;\n"
      "GUF_DEVICE float f(float x) { return x + float(++calls); }\nGUF_UFUNC(f, \"f->f\");\n";
  EXPECT_THAT(failing(text), HasSubstr("the variable 'calls'"));
  EXPECT_THAT(failing(text),
              HasSubstr("bad.guf.cpp:3:50: error: a kernel cannot have the variable"));
}

TEST_F(Gufcc, FunctionsOfEveryTargetAreNotHostCode) {
  const ProcessResult built =
      run({write("good.guf.cpp",
                 "#include <gufunc/kernel.hpp>\n"
                 "GUF_TABLE double kTable[3] = {1, 2, 3};\n"
                 "struct Block { double values[400]; };\n"
                 "GUF_DEVICE_NOINLINE double last(const Block &b) { return b.values[399]; }\n"
                 "GUF_DEVICE double f(double x) {\n"
                 "  Block b = {}, c;\n"
                 "  b.values[int(x) & 255] = kTable[int(x) & 1];\n"
                 "  c = b;\n"
                 "  c.values[int(x) & 127] = x;\n"
                 "  return last(b) + last(c);\n"
                 "}\n"
                 "GUF_UFUNC(f, \"d->d\");\n"
                 "GUF_DEVICE int g(int x) {\n"
                 "  switch (x) { case 0: return 7; case 1: return x * x; case 2: return -x;\n"
                 "  case 3: return x / 3; case 4: return x << 2; default: return 0; }\n"
                 "}\n"
                 "GUF_UFUNC(g, \"i->i\");\n"),
           "-o", path("good.so").string()});
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.output, "");
}

TEST_F(Gufcc, CutObjectsAreNoObjects) {
  ASSERT_EQ(run({write("one.guf.cpp",
                       "#include <gufunc/kernel.hpp>\n"
                       "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n"),
                 "--object", "-o", path("one.o").string(), "--targets", "x86-64-v2"})
                .status,
            0);
  std::string bytes;
  ASSERT_TRUE(read_file(path("one.o"), &bytes, &diagnostics_));
  ASSERT_TRUE(ObjectFile().parse(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ObjectFile().parse(bytes.substr(0, size))) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {  // must not crash for any content
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    ObjectFile object;
    if (object.parse(std::move(changed))) find_host_only(object);
  }
}

}  // namespace
}  // namespace gufunc::gufcc
