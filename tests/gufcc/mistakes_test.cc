// SPDX-License-Identifier: Apache-2.0
// Tests typical mistakes in kernel sources. Each causes an error or a warning at its line that
// states the remedy, for every target.
#include <gmock/gmock.h>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;

struct Mistake {
  const char *name;
  const char *text;  // source text from line 2 on, after #include <gufunc/kernel.hpp>
  int line;          // line number in the message
  const char *message;
  bool warns = false;  // the source compiles, with a warning
};

const Mistake kMistakes[] = {
    // Mistakes in registrations.
    {"TooFewParameters", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"ff->f\");\n", 3,
     "f: expected 2 parameters for loop 'ff->f' (2 inputs), got 1"},
    {"TooManyParameters",
     "GUF_DEVICE float f(float x, float y) { return x + y; }\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "f: expected 1 parameter for loop 'f->f' (1 input), got 2"},
    {"NoResult", "GUF_DEVICE void f(float x) { x = 1; }\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "expected a result that converts to float32 for loop 'f->f', got one of type 'void'"},
    {"ArgumentTooNarrow",
     "GUF_DEVICE float f(float x, float y) { return x * y; }\nGUF_UFUNC(f, \"ff->f dd->d\");\n", 3,
     "f: parameter 1 is 'float', too narrow for the float64 that loop 'dd->d' passes; make the "
     "function a template of its type, or register it for its own types alone"},
    {"IntegerArgumentTooNarrow",
     "GUF_DEVICE int f(int x) { return x; }\nGUF_UFUNC(f, \"i->i q->i\");\n", 3,
     "f: parameter 1 is 'int', too narrow for the int64 that loop 'q->i' passes"},
    {"FloatForInt", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"i->f\");\n", 3,
     "f: parameter 1 is 'float', too narrow for the int32 that loop 'i->f' passes"},
    {"SignedForUnsigned", "GUF_DEVICE int f(int x) { return x; }\nGUF_UFUNC(f, \"I->i\");\n", 3,
     "f: parameter 1 is 'int', too narrow for the uint32 that loop 'I->i' passes"},
    {"ScalarOfAViewTooNarrow",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, float by, Y y) { y() = x[0] * by; }\n"
     "GUF_GUFUNC(f, \"(n),()->()\", \"dd->d\");\n",
     4, "f: parameter 2 is 'float', too narrow for the float64 that loop 'dd->d' passes"},
    {"ResultTooNarrow",
     "GUF_DEVICE float f(double x) { return float(x); }\nGUF_UFUNC(f, \"d->d\");\n", 3,
     "f: the result of type 'float' is narrower than the float64 of loop 'd->d'; return that"},
    {"IntegerResultTooNarrow",
     "GUF_DEVICE int f(guf::i64 x) { return int(x); }\nGUF_UFUNC(f, \"q->q\");\n", 3,
     "f: the result of type 'int' is narrower than the int64 of loop 'q->q'"},
    {"ResultNarrowerThanAnotherType",
     "GUF_DEVICE float f(float x, float y) { return x * y; }\nGUF_UFUNC(f, \"ff->d\");\n", 3,
     "f: the result of type 'float' is narrower than the float64 of loop 'ff->d'"},
    {"ResultNarrowerThanOneArgument",
     "GUF_DEVICE float f(float x) { return x * x; }\nGUF_UFUNC(f, \"f->d\");\n", 3,
     "f: the result of type 'float' is narrower than the float64 of loop 'f->d'"},
    {"IntegerResultNarrowerThanArguments",
     "GUF_DEVICE int f(int x) { return x * x; }\nGUF_UFUNC(f, \"i->q\");\n", 3,
     "f: the result of type 'int' is narrower than the int64 of loop 'i->q'"},
    {"ResultNarrowerThanAComplex",
     "GUF_DEVICE float f(guf::c128 x) { return float(x.re); }\nGUF_UFUNC(f, \"D->D\");\n", 3,
     "f: the result of type 'float' is narrower than the complex128 of loop 'D->D'"},
    {"OutputByValue",
     "GUF_DEVICE void f(float x, float a, float b) { a = b = x; }\nGUF_UFUNC(f, \"f->ff\");\n", 3,
     "f: output 1 is parameter 2, which is passed by value, so nothing is written; declare it "
     "guf::out<T>"},
    {"OutputByDeducedReference",
     "template <class T>\nGUF_DEVICE void f(T x, T &a, T &b) { a = b = x; }\nGUF_UFUNC(f, "
     "\"f->ff\");\n",
     4,
     "f: output 1 is parameter 2, a reference whose type is deduced, which devices with address "
     "spaces lack; declare it guf::out<T>"},
    {"FlagByValue",
     "GUF_DEVICE float f(float x, bool failed) { failed = x < 0; return x; }\n"
     "GUF_UFUNC(f, \"f->f\", \"failure=negative\");\n",
     3,
     "f: the flag is parameter 2, which is passed by value, so nothing is written; declare it "
     "bool &failed"},
    {"UnknownType", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"x->f\");\n", 3,
     "'x' is not a type; valid are ? b B h H i I q Q e E f d F D"},
    {"NoOutputType", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f\");\n", 3,
     "an elementwise function has inputs and one to three outputs, as in \"ff->f\""},
    {"NoTypes", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f);\n", 3, "lacks its types"},
    {"MisspelledOption",
     "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\", \"nam=g\");\n", 3,
     "'nam' is not an option; did you mean 'name'? valid are name= doc="},
    {"MisspelledRole",
     "template <class X>\nGUF_DEVICE void f(X x) { x[0] = 1; }\n"
     "GUF_GUFUNC(f, \"(n)->\", \"f\", \"roles=inuot\");\n",
     4, "roles: expected in, out or inout, got 'inuot'"},
    {"MisspelledIdentity",
     "GUF_DEVICE float f(float x, float y) { return x + y; }\n"
     "GUF_UFUNC(f, \"ff->f\", \"identity=zeros\");\n",
     3, "identity: expected none, reorderable, zero, one, minus_one, minus_inf, got 'zeros'"},
    {"UnknownDimensionOfARule",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, Y y) { y[0] = x[0]; }\n"
     "GUF_GUFUNC(f, \"(n)->(p)\", \"f->f\", \"rule=p=m+1\");\n",
     4, "'m' is not a dimension of the signature, which has n, p"},
    {"UnknownDimensionThatARuleSets",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, Y y) { y[0] = x[0]; }\n"
     "GUF_GUFUNC(f, \"(n)->(p)\", \"f->f\", \"rule=q=n+1\");\n",
     4, "'q' is not a dimension of the signature, which has n, p"},
    {"WrongSignature",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, Y y) { y[0] = x[0]; }\n"
     "GUF_GUFUNC(f, \"(n->(p)\", \"f->f\");\n",
     4, "signature: expect ',' or ')' at position 2 in \"(n->(p)\""},
    {"TwiceTheSameLoop",
     "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     4, "f has the loop f->f already, from "},
    {"InANamespace",
     "namespace a {\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n}\n", 4,
     "outside of any namespace or braces; name the function with its namespace: GUF_UFUNC(ns::f, "
     "...)"},
    {"OptionsWithoutQuotes",
     "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\", inplace_safe);\n", 3,
     "expected a string literal, got 'inplace_safe'"},
    {"NoSemicolon", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\")\nint i();\n",
     3, "expected ';' after the registration"},
    {"UnknownFunction", "GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(g, \"f->f\");\n", 3,
     "'g' is not declared before its registration"},
    // Mistakes in the code that the function uses.
    {"NoGufDevice", "float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "'f' is a function of the host; declare it GUF_DEVICE"},
    {"HelperWithoutGufDevice",
     "float g(float x) { return x; }\nGUF_DEVICE float f(float x) {\n  return g(x);\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     4, "'g' is a function of the host; declare it GUF_DEVICE"},
    {"DoubleConstant",
     "template <class T>\nGUF_DEVICE T f(T x) {\n  return x * 0.5;\n}\nGUF_UFUNC(f, \"f->f "
     "d->d\");\n",
     4,
     "warning: double arithmetic in a loop of float: 'float' becomes 'double', which costs up to "
     "64 "
     "times as much on a GPU; write a constant as T(0.5) or 0.5f",
     true},
    {"StdMathematics",
     "GUF_DEVICE float f(float x) {\n  return std::sin(x);\n}\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "use guf::sin in a kernel"},
    {"MathematicsOfC",
     "GUF_DEVICE float f(float x) {\n  return sqrtf(x);\n}\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "use guf::sqrt in a kernel"},
    {"StdMax",
     "GUF_DEVICE float f(float x) {\n  return std::max(x, 0.0f);\n}\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "a kernel cannot use std::max; use guf::max"},
    {"HostedHeader",
     "#include <vector>\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 2,
     "<vector> is not for kernels: only a host has it; freestanding headers are for them"},
    {"MathHeader",
     "#include <cmath>\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 2,
     "<cmath> is not for kernels"},
    {"MissingHeader",
     "#include \"mine.h\"\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 2,
     "'mine.h' file not found; -I adds a folder; a kernel has no headers of the system but "
     "freestanding ones"},
    {"UnknownGufFunction",
     "GUF_DEVICE float f(float x) {\n  return guf::sinus(x);\n}\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "no member named 'sinus' in namespace 'guf'; did you mean 'sinh'?; docs/kernel-reference.md "
     "lists"},
    {"SizedTypeOfC",
     "GUF_DEVICE int f(int x) {\n  int64_t y = x;\n  return int(y);\n}\nGUF_UFUNC(f, \"i->i\");\n",
     3, "int64_t is not known here: write guf::i64"},
    {"Throw",
     "GUF_DEVICE float f(float x) {\n  if (x < 0) throw 1;\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3,
     "a kernel cannot use exceptions; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"New",
     "GUF_DEVICE float f(float x) {\n  float *p = new float(x);\n  return *p;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3, "a kernel cannot use new: a kernel has no private heap; g.shared<T>(n)"},
    {"Malloc",
     "extern \"C\" void *malloc(unsigned long);\nGUF_DEVICE float f(float x) {\n"
     "  return malloc(4) != nullptr ? x : 0;\n}\nGUF_UFUNC(f, \"f->f\");\n",
     4, "a kernel cannot use 'malloc', which only the host has; a kernel has no private heap"},
    {"Printf",
     "extern \"C\" int printf(const char *, ...);\nGUF_DEVICE float f(float x) {\n"
     "  printf(\"here\");\n  return x;\n}\nGUF_UFUNC(f, \"f->f\");\n",
     4,
     "a kernel cannot use 'printf', which only the host has; a kernel cannot print: write the "
     "value to an output; to debug on the cpu, use gufcc -g --targets host"},
    {"GlobalVariable",
     "int calls;\nGUF_DEVICE float f(float x) {\n  ++calls;\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     4, "a kernel cannot have the variable 'calls'; constants are GUF_TABLE at namespace scope"},
    {"StaticVariable",
     "GUF_DEVICE float f(float x) {\n  static float last;\n  last += x;\n  return last;\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     3, "a kernel cannot have the variable"},
    {"ThreadLocal",
     "thread_local float last;\nGUF_DEVICE float f(float x) {\n  return last += x;\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     4, "a kernel cannot have the variable 'last'"},
    {"VariableLength",
     "GUF_DEVICE float f(float x, int n) {\n  float a[n];\n  a[0] = x;\n  return a[n - 1];\n}\n"
     "GUF_UFUNC(f, \"fi->f\");\n",
     3,
     "a kernel cannot have an array of variable length, which devices lack; give it a constant "
     "size"},
    {"Recursion",
     "GUF_DEVICE int f(int n) {\n  return n < 2 ? n : f(n - 1) + f(n - 2);\n}\nGUF_UFUNC(f, "
     "\"i->i\");\n",
     2, "f(int) calls itself, which devices without a stack cannot run; write a loop"},
    {"EndlessRecursion",
     "GUF_DEVICE int f(int n) {\n  return n * f(n - 1);\n}\nGUF_UFUNC(f, \"i->i\");\n", 2,
     "the function calls itself without an end, which no device runs; write a loop"},
    {"MutualRecursion",
     "GUF_DEVICE int odd(int n);\nGUF_DEVICE int even(int n) {\n  return n == 0 ? 1 : odd(n - 1) + "
     "odd(n - 2);\n}\nGUF_DEVICE int odd(int n) {\n  return n == 0 ? 0 : even(n - 1) * even(n - "
     "2);\n}\nGUF_UFUNC(even, \"i->i\");\n",
     6, "odd(int) calls itself, which devices without a stack cannot run; write a loop"},
    {"RecursionInARawKernel",
     "#include <gufunc/raw_kernel.hpp>\nGUF_DEVICE int f(int n) {\n  return n < 2 ? n : f(n - 1) + "
     "f(n - 2);\n}\n"
     "GUF_DEVICE void count(guf::block, guf::view<int, 1> out) { out[0] = f(out[0]); }\n"
     "GUF_KERNEL(count);\n",
     3, "f(int) calls itself, which devices without a stack cannot run; write a loop"},
    {"Virtual",
     "struct A { virtual float at(float x) const { return x; } };\nGUF_DEVICE float f(float x) {\n"
     "  A a;\n  return a.at(x);\n}\nGUF_UFUNC(f, \"f->f\");\n",
     5, "'at' is a function of the host; declare it GUF_DEVICE"},
    {"Assembly",
     "GUF_DEVICE float f(float x) {\n  asm(\"nop\");\n  return x;\n}\nGUF_UFUNC(f, \"f->f\");\n", 3,
     "a kernel cannot use inline assembly: it depends on the processor"},
    {"LongDouble",
     "GUF_DEVICE double f(double x) {\n  long double y = x;\n  return double(y);\n}\nGUF_UFUNC(f, "
     "\"d->d\");\n",
     3, "a kernel cannot use long double or a wider float: devices lack it; use double"},
    {"ComputedGoto",
     "GUF_DEVICE int f(int x) {\n  void *to[] = {&&a, &&b};\n  goto *to[x & 1];\na:\n  return "
     "1;\nb:\n"
     "  return 2;\n}\nGUF_UFUNC(f, \"i->i\");\n",
     3, "a kernel cannot jump to an address, which devices lack; use switch"},
    {"TypeInformation",
     "#include <typeinfo>\nGUF_DEVICE float f(float x) {\n  return typeid(x) == typeid(int);\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     4, "a kernel cannot use typeid, which devices lack; choose by template argument"},
    {"ShadowedName",
     "GUF_DEVICE float f(float x) {\n  float y = x;\n  for (int i = 0; i < 3; ++i) {\n    float y "
     "= x;\n"
     "    x += y;\n  }\n  return y;\n}\nGUF_UFUNC(f, \"f->f\");\n",
     5, "declaration shadows a local variable [-Wshadow]; rename one of them", true},
    {"Uninitialized",
     "GUF_DEVICE float f(float x) {\n  float y;\n  return x + y;\n}\nGUF_UFUNC(f, \"f->f\");\n", 4,
     "variable 'y' is uninitialized when used here [-Wuninitialized]; give it a value: without one "
     "it differs between devices",
     true},
    {"NoReturn",
     "GUF_DEVICE float f(float x) {\n  if (x > 0) return x;\n}\nGUF_UFUNC(f, \"f->f\");\n", 4,
     "does not return a value in all control paths [-Wreturn-type]; the result is undefined there",
     true},
    {"Narrowing",
     "GUF_DEVICE int f(double x) {\n  const int n{x};\n  return n;\n}\nGUF_UFUNC(f, \"d->i\");\n",
     3,
     "type 'double' cannot be narrowed to 'int' in initializer list [-Wc++11-narrowing]; write "
     "guf::cast<T>(x) with the type that is meant"},
    {"BitField",
     "struct Flags { unsigned low : 3; };\nGUF_DEVICE int f(int x) {\n  const Flags a = {9};\n"
     "  return a.low + x;\n}\nGUF_UFUNC(f, \"i->i\");\n",
     4,
     "changes value from 9 to 1 [-Wbitfield-constant-conversion]; make the field wider, or write a "
     "value that it holds",
     true},
    {"WritesAnInput",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, Y y) {\n  x[0] = 1;\n  y[0] = 2;\n}\n"
     "GUF_GUFUNC(f, \"(n)->(n)\", \"f->f\");\n",
     4,
     "expression is not assignable; an element of an input is a value: write to an output, or give "
     "the input the role inout"},
    {"BlockWithoutItsHeader",
     "GUF_DEVICE void f(guf::block g, float *x) { x[g.global_id()] = 1; }\nGUF_KERNEL(f);\n", 2,
     "guf::block is of raw kernels: #include <gufunc/raw_kernel.hpp>"},
};

class Mistakes : public Gufcc, public testing::WithParamInterface<Mistake> {
 protected:
  void expect_report(const char *targets) const {
    const Mistake &row = GetParam();
    const std::string file =
        write("bad.guf.cpp", "#include <gufunc/kernel.hpp>\n" + std::string(row.text));
    Command command = {file, "-o", path("bad.so").string(), "--targets", targets};
    if (const std::string home = GUFUNC_CUDA_HOME; !home.empty()) {
      command.insert(command.end(), {"--cuda-home", home});  // PTX images need libdevice
    }
    const ProcessResult built = run(command);
    if (built.output.find("no target of '") != std::string::npos) {
      GTEST_SKIP() << "not run: this machine has the tools of no target of " << targets;
    }
    EXPECT_EQ(built.status, row.warns ? 0 : 1) << built.output;
    const size_t at = built.output.find(row.message);
    ASSERT_NE(at, std::string::npos) << targets << ":\n" << built.output;
    const size_t line = built.output.rfind('\n', at) + 1;  // if rfind found nothing, npos + 1 is 0
    EXPECT_THAT(built.output.substr(line, at - line),
                testing::StartsWith(file + ":" + std::to_string(row.line) + ":"))
        << built.output;
  }
};

TEST_P(Mistakes, AreReportedAtTheirLineForTheCpu) {
  expect_report("x86-64-v2");
}

TEST_P(Mistakes, AreReportedAtTheirLineForDevices) {
  expect_report("ptx_75,gfx942,gfx1100");
}

INSTANTIATE_TEST_SUITE_P(Rows, Mistakes, testing::ValuesIn(kMistakes),
                         [](const auto &row) { return std::string(row.param.name); });

TEST_F(Gufcc, AForgottenHeaderOfTheDialectIsNamed) {
  const std::string output =
      failing("GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n");
  EXPECT_THAT(output, HasSubstr("bad.guf.cpp:2: error: GUF_UFUNC is not known here: #include "
                                "<gufunc/kernel.hpp> first"));
}

// These names are reserved in OpenCL C++ only, which no backend uses.
TEST_F(Gufcc, TablesInFunctionsAndTheNamesOfOpenClAreAccepted) {
  const ProcessResult built =
      run({write("k.guf.cpp",
                 "#include <gufunc/kernel.hpp>\nGUF_TABLE float constant[2] = {1, 2};\n"
                 "namespace half {\nGUF_DEVICE float kernel(float x) { return x; }\n}\n"
                 "GUF_DEVICE float f(float x) {\n  static constexpr float kFirst[2] = {1, 2};\n"
                 "  constexpr float kSecond[2] = {3, 4};\n  const int global = x > 0 ? 1 : 0;\n"
                 "  const float local = kFirst[global] + kSecond[global] + constant[global];\n"
                 "  return half::kernel(local);\n}\nGUF_UFUNC(f, \"f->f\");\n"),
           "-o", path("k.so").string(), "--targets", "x86-64-v2"});
  EXPECT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
}

TEST_F(Gufcc, AModuleWithoutATargetIsNotWritten) {
  const ProcessResult built =
      run({write("k.guf.cpp",
                 "#include <gufunc/kernel.hpp>\nGUF_DEVICE float f(float x) { return x; }\n"
                 "GUF_UFUNC(f, \"f->f\");\n"),
           "-o", path("k.so").string(), "--targets", "spirv12"});
  EXPECT_NE(built.status, 0);
  EXPECT_FALSE(fs::exists(path("k.so")));
}

}  // namespace
}  // namespace gufunc::gufcc
