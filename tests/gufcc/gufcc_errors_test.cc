// SPDX-License-Identifier: Apache-2.0
// Tests gufcc's messages for mistakes in kernels. Each message has the line of the user's source
// and uses the terms of the source.
#include <gmock/gmock.h>

#include <sstream>

#include "core/base/utf8.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

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
