// SPDX-License-Identifier: Apache-2.0
// Tests the scanner: what it parses from preprocessed text, and the locations that it reports.
#include "scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gufunc::gufcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<RawRegistration> scan(const std::string &text, std::string *messages = nullptr) {
  std::vector<RawRegistration> found;
  Diagnostics diagnostics;
  const bool good = scan_registrations(text, 0, &found, &diagnostics);
  EXPECT_EQ(good, !diagnostics.failed());
  if (messages != nullptr) {
    *messages = diagnostics.text();
  } else {
    EXPECT_EQ(diagnostics.text(), "");
  }
  return found;
}

TEST(Scanner, ReadsKindFunctionAndStrings) {
  const auto found =
      scan("# 1 \"k.cpp\"\n\n__guf_register__(ufunc, ns::f<3, int>, \"ff->f\", \"doc=a, b\");\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, "ufunc");
  EXPECT_EQ(found[0].function, "ns::f<3,int>");
  EXPECT_THAT(found[0].arguments, ElementsAre("ff->f", "doc=a, b"));
  EXPECT_EQ(found[0].place.file, "k.cpp");
  EXPECT_EQ(found[0].place.line, 2);
}

TEST(Scanner, JoinsLiteralsAndResolvesEscapes) {
  const auto found = scan(
      "__guf_register__(ufunc, f, \"ff->f \"\n  \"dd->d\" \" FF->F\", \"doc=\\\"a\\\\b\\\"\")");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].arguments, ElementsAre("ff->f dd->d FF->F", "doc=\"a\\b\""));
}

TEST(Scanner, ReadsRawLiterals) {
  const auto found = scan(
      "# 1 \"k.cpp\"\n__guf_register__(ufunc, f, R\"(f->f)\" \" d->d\", R\"x(doc=a \"b)\" \\n, "
      "c)x\",\n"
      "R\"()\")\n__guf_register__(ufunc, g, \"f->f\")");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].arguments, ElementsAre("f->f d->d", "doc=a \"b)\" \\n, c", ""));
  EXPECT_EQ(found[1].place.line, 3);
}

TEST(Scanner, FollowsLineMarkersThroughIncludes) {
  const auto found = scan(
      "# 1 \"a.cpp\"\n# 1 \"b.h\" 1\nint x;\n__guf_register__(ufunc, g, \"f->f\");\n"
      "# 2 \"a.cpp\" 2\n\n#pragma once\n__guf_register__(ufunc, h, \"f->f\");\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].place.file, "b.h");
  EXPECT_EQ(found[0].place.line, 2);
  EXPECT_EQ(found[1].place.file, "a.cpp");
  EXPECT_EQ(found[1].place.line, 4);
}

TEST(Scanner, CountsOnlyRealBraces) {
  const auto depth_after = [](const std::string &before) {
    const auto found = scan(before + "\n__guf_register__(ufunc, f, \"f->f\")");
    return found.size() == 1 ? found[0].depth : -1;
  };
  EXPECT_EQ(depth_after("namespace a {"), 1);
  EXPECT_EQ(depth_after("namespace a { } void f() { { } }"), 0);
  EXPECT_EQ(depth_after("const char *s = \"{\\\"{\"; char c = '{', d = '\\'', e = '\"';"), 0);
  EXPECT_EQ(depth_after("auto r = R\"x({ )\" \" {)x\"; auto u = u8\"{\"; auto w = L'{';"), 0);
  EXPECT_EQ(depth_after("int n = 1'000'000; float x = 1'0.5e-3f; {"), 1);
}

TEST(Scanner, RefusedHeadersAreReportedWhereTheUserIncludesThem) {
  std::string messages;
  scan(
      "# 1 \"k.cpp\"\n# 1 \"/usr/include/random\" 1 3\n# 1 \"/tmp/cmath\" 1\n"
      "__guf_refused__(cmath)\n# 2 \"/usr/include/random\" 2 3\n# 2 \"k.cpp\" 2\n",
      &messages);
  EXPECT_THAT(messages, HasSubstr("k.cpp:1: error: <cmath> is not for kernels"));
  EXPECT_THAT(messages, HasSubstr("guf::sin"));
}

TEST(Scanner, NewAssemblyAndLongDoubleAreRefusedInFilesOfTheUser) {
  const auto diagnostics_of = [](const std::string &text, const std::string &flags = "") {
    std::string messages;
    scan("# 1 \"k.cpp\"\n# 1 \"h.h\" 1" + flags + "\n\n" + text + "\n", &messages);
    return messages;
  };
  for (const char *text : {"new float[4]", "::new int", "void *operator new(unsigned long);"}) {
    EXPECT_THAT(diagnostics_of(text), HasSubstr("h.h:2: error: a kernel cannot use new: ")) << text;
  }
  for (const char *text : {"asm(\"nop\")", "__asm__ volatile(\"\")", "__asm nop"}) {
    EXPECT_THAT(diagnostics_of(text),
                HasSubstr("h.h:2: error: a kernel cannot use inline assembly: "));
  }
  for (const char *text :
       {"long double x", "double long x", "1.5L", "1e-5L", ".5l", "2e3L", "0x1p3L"}) {
    EXPECT_THAT(diagnostics_of(text), HasSubstr("h.h:2: error: a kernel cannot use long double"))
        << text;
  }
  for (const char *text : {"new (place) Block", "renew; asm_; \"new asm\"", "long x; double y",
                           "10L", "0x1eL", "1e-5 - x", "a.l", "R\"(long double)\"", "1.5f"}) {
    EXPECT_EQ(diagnostics_of(text), "") << text;
  }
  EXPECT_EQ(diagnostics_of("asm(\"nop\"); long double x; new int", " 3"), "");
}

TEST(Scanner, MalformedRegistrations) {
  std::string messages;
  scan("# 7 \"k.cpp\"\n__guf_register__(ufunc, f, 3)", &messages);
  EXPECT_EQ(messages, "k.cpp:7: error: registration of f: expected a string literal, got '3'\n");
  scan("# 7 \"k.cpp\"\n__guf_register__(ufunc, \"f\", \"f->f\")", &messages);
  EXPECT_THAT(messages, HasSubstr("begins with the function's name"));
  scan("# 7 \"k.cpp\"\n__guf_register__(ufunc, f, \"f->f\"", &messages);
  EXPECT_THAT(messages, HasSubstr("cannot read"));
  for (const char *literal : {"L\"f->f\"", "u8R\"(f->f)\"", "R\"(f->f)", "R\"x(f->f)\"", "R\""}) {
    scan("# 7 \"k.cpp\"\n__guf_register__(ufunc, f, " + std::string(literal) + ")", &messages);
    EXPECT_THAT(messages, HasSubstr("cannot read")) << literal;
  }
}

TEST(Scanner, SurvivesEveryTruncation) {
  const std::string text =
      "# 1 \"a.cpp\" 1 3\nnamespace a { auto r = R\"x(})x\"; }\n"
      "__guf_register__(gufunc, f, \"(n)\", \"f\\\" d\", \"x\", "
      "R\"y(doc=z)y\");\n__guf_refused__(cmath)\n";
  for (size_t size = 0; size <= text.size(); ++size) {
    std::vector<RawRegistration> found;
    Diagnostics diagnostics;
    // The copy has exactly this size, so that AddressSanitizer detects every read beyond its end.
    const std::vector<char> copy(text.begin(), text.begin() + static_cast<long>(size));
    scan_registrations(std::string_view(copy.data(), copy.size()), 0, &found, &diagnostics);
  }
}

}  // namespace
}  // namespace gufunc::gufcc
