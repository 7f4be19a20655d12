// SPDX-License-Identifier: Apache-2.0
// Tests gufcc's messages for mistakes in kernel sources. For every target, gufcc reports an error
// or a warning at the line of the mistake, in the terms of the source, and the message states the
// remedy.
#include <gmock/gmock.h>

#include <sstream>

#include "core/base/utf8.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

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
    {"ComplexTooNarrow",
     "GUF_DEVICE guf::c64 f(guf::c64 x) { return x; }\nGUF_UFUNC(f, \"D->D\");\n", 3,
     "f: parameter 1 is 'guf::complex<float>', too narrow for the complex128 that loop 'D->D' "
     "passes; make the function a template of its type"},
    {"ComplexesTooNarrow",
     "GUF_DEVICE guf::c64 f(guf::c64 x, guf::c64 y) { return x + y; }\nGUF_UFUNC(f, \"DD->D\");\n",
     3,
     "f: expected parameters (complex128, complex128) for loop 'DD->D', got 'guf::complex<float> "
     "(guf::complex<float>, guf::complex<float>)'; declare them so and return the output, or make "
     "the function a template"},
    {"RealForComplex", "GUF_DEVICE double f(double x) { return x; }\nGUF_UFUNC(f, \"D->D\");\n", 3,
     "f: parameter 1 is 'double', too narrow for the complex128 that loop 'D->D' passes"},
    {"OutputAsParameter",
     "GUF_DEVICE void f(double x, guf::out<float> y) { y = float(x); }\nGUF_UFUNC(f, \"d->d\");\n",
     3,
     "f: expected parameters (float64) for loop 'd->d', got 'void (double, float &)'; declare them "
     "so and return the output, or make the function a template"},
    {"OutputOfAnotherType",
     "GUF_DEVICE void f(double x, guf::out<float> y, guf::out<double> z) { y = float(x); z = x; }\n"
     "GUF_UFUNC(f, \"d->dd\");\n",
     3,
     "f: expected parameters (float64, guf::out of float64, guf::out of float64) for loop 'd->dd', "
     "got 'void (double, float &, double &)'; declare them so"},
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
     "outside of namespaces and braces; name the function with its namespace: GUF_UFUNC(ns::f, "
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
     "<vector> is not for kernels: only a host has it; kernels can include freestanding headers"},
    {"MathHeader",
     "#include <cmath>\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 2,
     "<cmath> is not for kernels"},
    {"MissingHeader",
     "#include \"mine.h\"\nGUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n", 2,
     "'mine.h' file not found; -I adds a folder; a kernel can include only freestanding headers "
     "of the system"},
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
     3,
     "a kernel cannot have the variable 'f(float)::last'; constants are GUF_TABLE at namespace "
     "scope, memory of a group is g.shared<T>(n), a value that outlives a call is an operand"},
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
     "the function calls itself endlessly; write a loop"},
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
     "guf::cast<T>(x) with the intended type"},
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
    {"DoubleNarrowedByAssignment",
     "GUF_DEVICE double f(double x) {\n  float y = x;\n  y *= 2;\n  return double(y);\n}\n"
     "GUF_UFUNC(f, \"d->d\");\n",
     3,
     "warning: a double is narrowed in a loop of double: 'double' becomes 'float', which loses "
     "precision; declare it double, and write float(x) where this is meant",
     true},
    {"DoubleNarrowedThroughAFloat",
     "template <class T>\nGUF_DEVICE T f(T x) {\n  const float y = float(x);\n  return T(1) + "
     "y;\n}\n"
     "GUF_UFUNC(f, \"f->f d->d\");\n",
     5,
     "warning: a loop of double loses precision through a float: 'float' becomes 'double' "
     "with the precision of 'float'; compute it in 'double'",
     true},
    {"IntegerAccumulator",
     "template <class X, class Y>\nGUF_DEVICE void f(X x, Y y) {\n  int s = 0;\n"
     "  for (guf::i64 i = 0; i < x.extent(0); ++i) s += x[i];\n  y() = s;\n}\n"
     "GUF_GUFUNC(f, \"(n)->()\", \"q->q\");\n",
     5,
     "warning: an integer of 64 bits is narrowed: it becomes 'int' by an implicit conversion, "
     "which drops its upper bits; declare it guf::i64, and write int(x) where this is meant",
     true},
    {"IntegerNarrowedByAssignment",
     "GUF_DEVICE guf::i64 f(guf::i64 x) {\n  const int y = x;\n  return y;\n}\nGUF_UFUNC(f, "
     "\"q->q\");\n",
     3, "warning: an integer of 64 bits is narrowed: it becomes 'int'", true},
    {"IntegerNarrowedBesideARawKernel",
     "#include <gufunc/raw_kernel.hpp>\nGUF_DEVICE guf::i64 f(guf::i64 x) {\n  const int y = x;\n"
     "  return y;\n}\nGUF_UFUNC(f, \"q->q\");\n"
     "GUF_DEVICE void fill(guf::block g, int *out) { out[0] = g.global_id(); "
     "}\nGUF_KERNEL(fill);\n",
     4, "warning: an integer of 64 bits is narrowed: it becomes 'int'", true},
    {"Alloca",
     "GUF_DEVICE float f(float x) {\n  float *a = (float *)__builtin_alloca(8);\n  a[0] = x;\n"
     "  return a[0];\n}\nGUF_UFUNC(f, \"f->f\");\n",
     3,
     "a kernel cannot use __builtin_alloca: devices need a stack of constant size; declare an "
     "array of constant size"},
    {"LargeArray",
     "GUF_DEVICE float f(float x) {\n  int at = int(x);\n  float a[262144];\n"
     "  for (int i = 0; i < 262144; ++i) a[i] = x;\n  return a[at];\n}\nGUF_UFUNC(f, \"f->f\");\n",
     4,
     "the variables of 'f' take 1048588 bytes of stack, 1048576 of them 'a': expected at most "
     "16384 bytes, which every device has; make the array smaller, pass it as an operand, or use "
     "g.shared<T>(n) of a cooperative function"},
    {"ArraysThatAreLargeTogether",
     "struct Pair { double a[512], b[512]; };\nGUF_DEVICE double f(double x) {\n  Pair p;\n"
     "  p.a[0] = x;\n  {\n    const Pair q = p;\n    return q.a[0] + p.b[0];\n  }\n}\n"
     "GUF_UFUNC(f, \"d->d\");\n",
     4, "the variables of 'f' take 16392 bytes of stack, 8192 of them 'p'"},
    {"LargeArrayOfALoopForTheHost",
     "GUF_DEVICE void f(float a, float b, float c, float d, float e, float g, float h, float i,\n"
     "                  float j, float k, guf::out<float> x, guf::out<float> y, guf::out<float> z) "
     "{\n"
     "  float big[5000];\n  big[int(a)] = a + b + c + d + e + g + h + i + j + k;\n"
     "  x = y = z = big[0];\n}\nGUF_UFUNC(f, \"ffffffffff->fff\");\n",
     4, "the variables of 'f' take 20064 bytes of stack, 20000 of them 'big'"},
    {"TargetAttribute",
     "__attribute__((noinline, target(\"avx2\")))\nGUF_DEVICE float f(float x) { return x; }\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     2,
     "a kernel cannot use the attribute target: it selects one processor, and gufcc compiles a "
     "kernel for each of --targets; leave it out"},
    {"TargetAttributeInBrackets",
     "[[gnu::target(\"avx2\")]] GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     2, "a kernel cannot use the attribute target"},
    {"TargetAttributeInAPragma",
     "#pragma clang attribute push(__attribute__((target(\"avx2\"))), apply_to = function)\n"
     "GUF_DEVICE float f(float x) { return x; }\n#pragma clang attribute pop\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     2, "a kernel cannot use the attribute target"},
    {"CycleCounter",
     "GUF_DEVICE float f(float x) {\n  return x + float(__builtin_readcyclecounter());\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     3, "a kernel cannot use __builtin_readcyclecounter: only some processors have it"},
    {"BuiltinOfAProcessor",
     "GUF_DEVICE float f(float x) {\n  __builtin_ia32_pause();\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3,
     "a kernel cannot use __builtin_ia32_pause: not every device or compiler has it; "
     "docs/kernel-reference.md lists the names in guf::"},
    {"ReturnAddress",
     "GUF_DEVICE float f(float x) {\n  return __builtin_return_address(0) ? x : "
     "0;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3, "a kernel cannot use __builtin_return_address: not every device or compiler has it"},
    {"Trap",
     "GUF_DEVICE float f(float x) {\n  if (x < 0) __builtin_trap();\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3,
     "a kernel cannot use __builtin_trap: it destroys the context of the device; to refuse a "
     "value, set the "
     "flag of the option \"failure=text\""},
    {"AtomicBuiltin",
     "GUF_DEVICE int f(int x) {\n  return __atomic_fetch_add(&x, 1, 0);\n}\nGUF_UFUNC(f, "
     "\"i->i\");\n",
     3,
     "a kernel cannot use __atomic_fetch_add: not every device has it; raw kernels have "
     "guf::atomic_add"},
    {"StdVector",
     "GUF_DEVICE float f(float x) {\n  std::vector<float> v(3, x);\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3,
     "a kernel cannot use std::vector; a kernel has no private heap; declare an array of "
     "constant size, or use g.shared<T>(n) of a cooperative function"},
    {"StdException",
     "GUF_DEVICE float f(float x) {\n  if (x < 0) throw std::runtime_error(\"x\");\n  return "
     "x;\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     3,
     "a kernel cannot use std::runtime_error; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"StdComplex",
     "GUF_DEVICE float f(float x) {\n  std::complex<float> z(x);\n  return x;\n}\nGUF_UFUNC(f, "
     "\"f->f\");\n",
     3, "a kernel cannot use std::complex; write guf::c64, guf::c128 or guf::complex<T>"},
    {"StdString",
     "GUF_DEVICE float f(float x) {\n  std::string s;\n  return x;\n}\nGUF_UFUNC(f, \"f->f\");\n",
     3,
     "a kernel cannot use std::string; a kernel has no text; convert it in the program that makes "
     "the call"},
    {"StdArray",
     "GUF_DEVICE float f(float x) {\n  std::array<float, 2> a = {x, x};\n  return a[0];\n}\n"
     "GUF_UFUNC(f, \"f->f\");\n",
     3, "std::array is not known here: #include <array> first"},
    {"BlockWithoutItsHeader",
     "GUF_DEVICE void f(guf::block g, float *x) { x[g.global_id()] = 1; }\nGUF_KERNEL(f);\n", 2,
     "guf::block belongs to raw kernels: #include <gufunc/raw_kernel.hpp>"},
};

class Mistakes : public Gufcc, public testing::WithParamInterface<Mistake> {
 protected:
  void expect_report(const char *targets) const {
    const Mistake &row = GetParam();
    const std::string file =
        write("bad.guf.cpp", "#include <gufunc/kernel.hpp>\n" + std::string(row.text));
    const ProcessResult built = run({file, "-o", path("bad.so").string(), "--targets", targets});
    if (built.output.find("any target of '") != std::string::npos) {
      GTEST_SKIP() << "not run: this machine has no tools for any target of " << targets;
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

// Names of the C library, of CUDA and of OpenCL in a source that does not declare them, as after
// the removal of an #include.
struct UnknownName {
  const char *expression;  // in a function of `float x`
  const char *message;
};

const UnknownName kUnknownNames[] = {
    {"INFINITY", "'INFINITY' is not known here; write T(guf::inf)"},
    {"NAN", "'NAN' is not known here; write T(guf::nan)"},
    {"M_PI", "'M_PI' is not known here; write T(guf::pi)"},
    {"FLT_MAX", "'FLT_MAX' is not known here; write guf::limits<T>"},
    {"INT_MAX", "'INT_MAX' is not known here; write guf::limits<T>"},
    {"(x == NULL)", "'NULL' is not known here; write nullptr"},
    {"printf(\"%g\", x)",
     "'printf' is not known here; a kernel cannot print: write the value to an output; to debug on "
     "the cpu, use gufcc -g --targets host"},
    {"time(0)", "'time' is not known here; a kernel has no clock; pass the time as an input"},
    {"clock()", "'clock' is not known here; a kernel has no clock"},
    {"rand()",
     "'rand' is not known here; a kernel has no state; guf::random of "
     "<gufunc/raw_kernel.hpp>"},
    {"malloc(4)", "'malloc' is not known here; a kernel has no private heap; g.shared<T>(n)"},
    {"alloca(4)",
     "'alloca' is not known here; a kernel has no private heap; declare an "
     "array of constant size"},
    {"assert(x > 0)",
     "'assert' is not known here; to refuse a value, set the flag of the option "
     "\"failure=text\""},
    {"abort()", "'abort' is not known here; to refuse a value"},
    {"exit(1)", "'exit' is not known here; to refuse a value"},
    {"memcpy(&x, &x, 4)", "'memcpy' is not known here; assign the elements in a loop"},
    {"getenv(\"X\")", "'getenv' is not known here; a kernel has no files and no environment"},
    {"abs(x)", "'abs' is not known here; use guf::abs"},
    {"isnan(x)", "'isnan' is not known here; use guf::isnan"},
    {"threadIdx.x", "'threadIdx' is not known here; a ufunc is called once per element"},
    {"__syncthreads()", "'__syncthreads' is not known here; write g.sync()"},
    {"atomicAdd(&x, x)", "'atomicAdd' is not known here; raw kernels have guf::atomic_add"},
    {"std::cout", "a kernel cannot use std::cout; a kernel cannot print"},
    {"std::numeric_limits<float>::max()",
     "a kernel cannot use std::numeric_limits; write "
     "guf::limits<T>"},
    {"std::accumulate(&x, &x, x)", "a kernel cannot use std::accumulate; write a loop"},
    {"std::clamp(x, x, x)", "a kernel cannot use std::clamp; write guf::min(guf::max(x, low)"},
};

// One source contains all names, each on its own line. gufcc must report exactly one error for
// each line, the first error of the line.
TEST_F(Gufcc, NamesOfOtherLibrariesAreReportedWithTheirReplacement) {
  std::string text = "#include <gufunc/kernel.hpp>\nGUF_DEVICE float f(float x) {\n";
  for (const UnknownName &row : kUnknownNames)
    text += fmt::format("  (void)({});\n", row.expression);
  const std::string output = failing(text + "  return x;\n}\nGUF_UFUNC(f, \"f->f\");\n");
  int line = 3;
  size_t errors = 0;
  for (size_t at = output.find(": error: "); at != std::string::npos;
       at = output.find(": error: ", at + 1)) {
    ++errors;
  }
  for (const UnknownName &row : kUnknownNames) {
    const size_t at = output.find(fmt::format("bad.guf.cpp:{}:", line++));
    ASSERT_NE(at, std::string::npos) << row.expression << "\n" << output;
    EXPECT_THAT(output.substr(at, output.find('\n', at) - at),
                HasSubstr(std::string(": error: ") + row.message));
  }
  EXPECT_EQ(errors, std::size(kUnknownNames) + 1) << output;  // the additional error is "do not
                                                              // compile"
}

// Conversions that are mistakes if they are implicit must be accepted if the source spells them
// out. The largest permitted stack must also be accepted.
TEST_F(Gufcc, ConversionsThatAreSpelledOutAreNoMistakes) {
  const ProcessResult built = run(
      {write(
           "k.guf.cpp",
           "#include <gufunc/kernel.hpp>\n"
           "GUF_DEVICE double f(double x) { return double(float(x)); }\n"
           "GUF_UFUNC(f, \"d->d\");\n"
           "GUF_DEVICE guf::i64 g(guf::i64 x) {\n  int s = 0;\n  s = int(s + x);\n  return s;\n}\n"
           "GUF_UFUNC(g, \"q->q\");\n"
           "GUF_DEVICE float h(float x, guf::u8 y) {\n  guf::u8 all[16352];\n"
           "  for (int i = 0; i < 16352; ++i) all[i] = y;\n  return x + float(all[int(x)]);\n}\n"
           "GUF_UFUNC(h, \"fB->f\");\n"
           "__attribute__((always_inline)) [[maybe_unused]] GUF_DEVICE int count(int x) {\n"
           "  return __builtin_expect(x > 1, 1) ? __builtin_popcount(unsigned(x)) : "
           "__builtin_clz(1u);\n}\n"
           "GUF_UFUNC(count, \"i->i\");\n"),
       "-o", path("k.so").string(), "--targets", "x86-64-v2"});
  EXPECT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
}

TEST_F(Gufcc, AForgottenHeaderOfTheDialectIsNamed) {
  const std::string output =
      failing("GUF_DEVICE float f(float x) { return x; }\nGUF_UFUNC(f, \"f->f\");\n");
  EXPECT_THAT(output, HasSubstr("bad.guf.cpp:2: error: GUF_UFUNC is not known here: #include "
                                "<gufunc/kernel.hpp> first"));
}

TEST_F(Gufcc, AllowedBuiltinsCompileForAllTargetsAndWithGcc) {
  const std::string source = write(
      "k.guf.cpp",
      "#include <gufunc/kernel.hpp>\nstruct Pair { int a, b; };\n"
      "GUF_DEVICE int f(int x) {\n  if (x == 1) __builtin_unreachable();\n"
      "  int y = 0, z = 0;\n  __builtin_memset(&y, 0, sizeof y);\n"
      "  __builtin_memcpy(&z, &x, sizeof z);\n"
      "  const int *const p = static_cast<const int *>(__builtin_assume_aligned(&z, 4));\n"
      "  const int *const q = __builtin_launder(__builtin_addressof(y));\n"
      "  const bool known = __builtin_FILE()[0] == 0 && __builtin_FUNCTION()[0] == 0;\n"
      "  return __builtin_abs(x) + int(__builtin_labs(x)) + int(__builtin_llabs(x)) + *p + *q +\n"
      "         __builtin_clz(unsigned(x)) + __builtin_clzll(unsigned(x)) + __builtin_ffs(x) +\n"
      "         __builtin_ffsll(x) + __builtin_popcount(unsigned(x)) +\n"
      "         __builtin_popcountll(unsigned(x)) + int(__builtin_expect(x, 0)) +\n"
      "         __builtin_LINE() + int(__builtin_offsetof(Pair, b)) + (known ? 1 : 0);\n}\n"
      "GUF_UFUNC(f, \"i->i\");\n"
      "GUF_DEVICE double g(double x) {\n"
      "  if (__builtin_isnan(x) || __builtin_isinf(x) || !__builtin_isfinite(x)) return 0;\n"
      "  if (__builtin_signbit(x)) return __builtin_inf() + __builtin_huge_val();\n"
      "  return __builtin_nan(\"\");\n}\nGUF_UFUNC(g, \"d->d\");\n"
      "GUF_DEVICE float h(float x) {\n"
      "  return x < 0 ? __builtin_inff() : x < 1 ? __builtin_huge_valf() : "
      "__builtin_nanf(\"\");\n}\n"
      "GUF_UFUNC(h, \"f->f\");\n");
  const ProcessResult built = run({source, "-o", path("k.so").string(), "--targets", "x86-64-v2"});
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.output, "");
  const ProcessResult checked = run({source, "--check", "nvptx64,amdgcn,gcc"});
  EXPECT_EQ(checked.status, 0);
  EXPECT_EQ(checked.output, "");
}

// The names constant, half, kernel, global and local are reserved only in OpenCL C++, which no
// backend uses.
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

TEST_F(Gufcc, AnErrorInTheFormulaPointsAtItsLine) {
  const std::string output = failing(
      "#include <gufunc/kernel.hpp>\n"
      "template <class T>\n"
      "GUF_DEVICE T f(T a) {\n"
      "  return a + a.nothing;\n"
      "}\n"
      "GUF_UFUNC(f, \"f->f\");\n",
      "all");
  const std::string file = path("bad.guf.cpp").string();
  EXPECT_EQ(output, file +
                        ":4:15: error: member reference base type 'float' is not a structure or "
                        "union\n"
                        "    4 |   return a + a.nothing;\n"
                        "      |              ~^~~~~~~~\n" +
                        file +
                        ":6: note: in instantiation of function template specialization "
                        "'f<float>' requested here\n"
                        "gufcc: error: the kernels do not compile\n");
}

TEST_F(Gufcc, AWrongNumberOfParametersPointsAtTheRegistration) {
  const char *rows[][2] = {
      {"GUF_UFUNC(two, \"fff->f\");",
       ":8: error: two: expected 3 parameters for loop 'fff->f' (3 inputs), got 2\n"},
      {"GUF_UFUNC(two, \"f->f\");",
       ":8: error: two: expected 1 parameter for loop 'f->f' (1 input), got 2\n"},
      {"GUF_UFUNC(ns::one, \"dd->d\");",
       ":8: error: ns::one: expected 2 parameters for loop 'dd->d' (2 inputs), got 1\n"},
      {"GUF_UFUNC(outs, \"f->f\");",
       ":8: error: outs: expected 1 parameter for loop 'f->f' (1 input), got 3\n"},
      {"GUF_UFUNC(two, \"ff->ff\");",
       ":8: error: two: expected 4 parameters for loop 'ff->ff' (2 inputs, 2 outputs), got 2\n"},
      {"GUF_UFUNC(two, \"ff->f\", \"failure=text\");",
       ":8: error: two: expected 3 parameters for loop 'ff->f' (2 inputs, bool &failed), got 2\n"},
      {"GUF_GUFUNC(core, \"(n),(n)->()\", \"ff->f\");",
       ":8: error: core: expected 3 parameters for loop 'ff->f' (2 inputs, 1 output), got 2\n"},
      {"GUF_GUFUNC(core, \"(n)->()\", \"f->f\", \"group\");",
       ":8: error: core: expected 3 parameters for loop 'f->f' (a group, 1 input, 1 output), got "
       "2\n"},
  };
  for (const auto &[registration, message] : rows) {
    const std::string text =
        "#include <gufunc/kernel.hpp>\n"
        "GUF_DEVICE float two(float a, float b) { return a + b; }\n"
        "namespace ns { template <class T> GUF_DEVICE T one(T a) { return a; } }\n"
        "template <class T>\n"
        "GUF_DEVICE void outs(T a, guf::out<T> x, guf::out<T> y) { x = y = a; }\n"
        "template <class X, class Y>\n"
        "GUF_DEVICE void core(X x, Y y) { y() = x[0]; }\n" +
        std::string(registration) + "\n";
    const std::string output = failing(text, "all");
    EXPECT_EQ(output, path("bad.guf.cpp").string() + message +
                          "gufcc: error: the kernels do not compile\n");
    EXPECT_THAT(run({path("bad.guf.cpp").string(), "--check", "nvptx64"}).output,
                HasSubstr(message));
  }
}

TEST_F(Gufcc, AWrongResultPointsAtTheRegistration) {
  const char *rows[][2] = {
      {"GUF_UFUNC(nothing, \"f->f\");",
       ":11: error: nothing: expected a result that converts to float32 for loop 'f->f', got one "
       "of type 'void'\n"},
      {"GUF_UFUNC(pair<float>, \"f->f\");",
       ":11: error: pair<float>: expected a result that converts to float32 for loop 'f->f', got "
       "one of type 'ns::Pair<float, int>'\n"},
      {"GUF_UFUNC(deduced, \"f->f F->F\");",
       ":11: error: deduced: expected a result that converts to complex64 for loop 'F->F', got one "
       "of type 'void'\n"},
      {"GUF_UFUNC(fails, \"f->e\", \"failure=text\");",
       ":11: error: fails: expected a result that converts to float16 for loop 'f->e', got one of "
       "type 'void'\n"},
      {"GUF_UFUNC(time, \"m->q\");",
       ":11: error: time: expected a result that converts to int64 for loop 'm->q', got one of "
       "type 'guf::timedelta'\n"},
  };
  for (const auto &[registration, message] : rows) {
    const std::string text =
        "#include <gufunc/kernel.hpp>\n"
        "GUF_DEVICE void nothing(float x) {}\n"
        "namespace ns { template <class A, class B> struct Pair { A a; B b; }; }\n"
        "template <class T> GUF_DEVICE ns::Pair<T, int> pair(T a) { return {a, 1}; }\n"
        "template <class T>\n"
        "GUF_DEVICE auto deduced(T x) {\n"
        "  if constexpr (sizeof(T) == 4) return x;\n"
        "}\n"
        "GUF_DEVICE void fails(float x, bool &failed) { failed = true; }\n"
        "GUF_DEVICE guf::timedelta time(guf::timedelta x) { return x; }\n" +
        std::string(registration) + "\n";
    const std::string output = failing(text, "all");
    EXPECT_EQ(output, path("bad.guf.cpp").string() + message +
                          "gufcc: error: the kernels do not compile\n");
    EXPECT_THAT(run({path("bad.guf.cpp").string(), "--check", "nvptx64"}).output,
                HasSubstr(message));
  }
}

// Every result type that guf::cast accepts must be accepted, even if another error is reported.
TEST_F(Gufcc, EveryResultThatCastAcceptsCompiles) {
  std::string text =
      "#include <gufunc/kernel.hpp>\n"
      "enum Colour { red }; enum class Shade : int { dark };\n"
      "struct Half { operator float() const { return .5f; } };\n";
  int number = 0;
  for (const char *type : {"bool", "char", "signed char", "unsigned short", "int", "long",
                           "long long", "guf::u64", "float", "double", "guf::b8", "guf::f16",
                           "guf::bf16", "guf::c64", "guf::c128", "Colour", "Shade", "Half"}) {
    text += fmt::format(
        "GUF_DEVICE {0} f{1}(double) {{ return {0}(); }}\n"
        "GUF_UFUNC(f{1}, \"f->f d->e i->F q->b\");\n",
        type, number++);
  }
  text +=
      "GUF_DEVICE guf::datetime time(guf::datetime x) { return x; }\nGUF_UFUNC(time, \"M->M\");\n"
      "struct identity_paths {\n"
      "  template <class T> static GUF_DEVICE bool in_fast_range(T x) { return x < 1; }\n"
      "  template <class T> static GUF_DEVICE T fast_path(T x) { return x; }\n"
      "  template <class T> static GUF_DEVICE T full_path(T x) { return x; }\n"
      "};\n"
      "template <class T> GUF_DEVICE auto identity(T x) { return "
      "guf::select_path<identity_paths>(x); }\n"
      "GUF_UFUNC(identity, \"f->f e->e\");\n"
      "GUF_DEVICE float wrong(float x) { return x.nothing; }\nGUF_UFUNC(wrong, \"f->f\");\n";
  const std::string output = failing(text);
  EXPECT_THAT(output, HasSubstr("'float' is not a structure or union"));
  EXPECT_THAT(output, Not(HasSubstr("expected a result")));
}

TEST_F(Gufcc, WrongTypesPointAtTheRegistration) {
  const std::string output = failing(
      "#include <gufunc/kernel.hpp>\n"
      "template <class T> GUF_DEVICE T f(T *a) { return *a; }\n\n"
      "GUF_UFUNC(f, \"f->f\");\n");
  EXPECT_THAT(output, HasSubstr("bad.guf.cpp:4:"));
  EXPECT_THAT(output, Not(HasSubstr("guf_probe_")));
}

TEST_F(Gufcc, APathThatNoIncludeCanSpellIsRefused) {
  const char *rows[][2] = {
      {"a\"b", "a quotation mark"}, {"a\\b", "a backslash"}, {"a\nb", "a line break"}};
  for (const auto &[folder, what] : rows) {
    fs::create_directory(path(folder));
    const std::string source =
        write(folder + std::string("/k.guf.cpp"), "#include <gufunc/kernel.hpp>\n");
    const ProcessResult result = run({source, "-o", path("k.so").string()});
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.output, "gufcc: error: cannot include the source " + base::printable(source) +
                                 ": its path has " + what + "\n");
  }
}

TEST_F(Gufcc, MathematicsOfTheHostIsRefusedByName) {
  const char *calls[] = {"std::sin(x)",    "sin(x)",  "sinf(x)",
                         "std::pow(x, x)", "fabs(x)", "::sqrt(x)"};
  const char *instead[] = {"guf::sin", "guf::sin",  "guf::sin",
                           "guf::pow", "guf::fabs", "guf::sqrt"};
  for (size_t i = 0; i < std::size(calls); ++i) {
    const std::string output = failing(
        "#include <gufunc/kernel.hpp>\ntemplate <class T> GUF_DEVICE T f(T x) {\n  return " +
        std::string(calls[i]) + ";\n}\nGUF_UFUNC(f, \"f->f\");\n");
    EXPECT_THAT(output, HasSubstr("bad.guf.cpp:3:")) << calls[i];
    EXPECT_THAT(output, HasSubstr(std::string("use ") + instead[i])) << calls[i];
  }
}

TEST_F(Gufcc, HeadersOfHostMathematicsAreRefused) {
  for (const char *header : {"cmath", "math.h", "complex", "random"}) {
    const std::string output = failing("#include <gufunc/kernel.hpp>\n#include <" +
                                       std::string(header) + ">\nGUF_UFUNC(f, \"f->f\");\n");
    EXPECT_THAT(output, HasSubstr("bad.guf.cpp:2: error:")) << header;
    EXPECT_THAT(output, HasSubstr("is not for kernels")) << header;
  }
}

TEST_F(Gufcc, HostedHeadersAreRefusedByName) {
  for (const char *header : {"vector", "string", "iostream", "functional", "algorithm", "stdlib.h",
                             "cstring", "bits/stdc++.h", "immintrin.h"}) {
    const std::string output = failing("#include <gufunc/kernel.hpp>\n#include <" +
                                       std::string(header) + ">\nGUF_UFUNC(f, \"f->f\");\n");
    EXPECT_EQ(output.find("bad.guf.cpp:2: error: <" + std::string(header) + "> is not for kernels"),
              path("").string().size())
        << output;
  }
}

// Freestanding headers, and the headers that they include, must be accepted.
TEST_F(Gufcc, FreestandingHeadersAreAccepted) {
  std::string text = "#include <gufunc/kernel.hpp>\n";
  for (const char *header : {"array",    "atomic",   "cfloat",      "climits",  "cstdarg",
                             "cstddef",  "cstdint",  "exception",   "float.h",  "initializer_list",
                             "limits",   "limits.h", "new",         "ratio",    "stddef.h",
                             "stdint.h", "tuple",    "type_traits", "typeinfo", "utility"}) {
    text += "#include <" + std::string(header) + ">\n";
  }
  text += "GUF_DEVICE float f(float x) { return std::array<float, 2>{x, 1}[0]; }\n";
  const ProcessResult result = run({write("good.guf.cpp", text + "GUF_UFUNC(f, \"f->f\");\n"), "-o",
                                    path("good.so").string(), "--targets", "x86-64-v2"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output, "");
}

// For every rejected function of the C library, the message names a guf:: replacement that exists.
TEST_F(Gufcc, EveryRefusedNameHasItsReplacement) {
  std::string header;
  ASSERT_TRUE(read_file(GUFUNC_INCLUDE "/gufunc/kernel/no_std_math.hpp", &header, &diagnostics_));
  std::string body = "#include <gufunc/kernel.hpp>\n";
  std::istringstream lines(header);
  size_t names = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("GUF_REFUSED_MATH(")) continue;
    body += "using guf::" + line.substr(17, line.find(')') - 17) + ";\n";
    ++names;
  }
  EXPECT_GT(names, 40u);
  const ProcessResult result =
      run_process({"clang++-19", "-std=c++17", "-fsyntax-only", "-I" GUFUNC_INCLUDE, "-x", "c++",
                   write("using.cpp", "namespace probe {\n" + body + "}\n")});
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace
}  // namespace gufunc::gufcc
