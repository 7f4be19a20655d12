// SPDX-License-Identifier: Apache-2.0
// Tests the cache key of an object, which depends on the source text and the flags and not on the
// location of files.
#include <gmock/gmock.h>

#include <sstream>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

class CacheKey : public Gufcc {
 protected:
  // Compiles the text in a separate folder with absolute paths, as CMake does.
  ProcessResult build_in(const std::string &folder, const std::string &text,
                         const Command &more = {}) const {
    fs::create_directories(path(folder) / "include");
    write(folder + "/include/factor.h", "#pragma once\n#define FACTOR 2\n");
    Command command = {write(folder + "/k.guf.cpp", text),
                       "-o",
                       path(folder + "/k.so").string(),
                       "-I" + (path(folder) / "include").string(),
                       "-D",
                       "FOLDER=" + folder,
                       "-v",
                       "--targets",
                       "x86-64-v2,x86-64-v3,ptx_75,sm_90,gfx942"};
    if (std::string(GUFUNC_CUDA_HOME) != "") {
      command.insert(command.end(), {"--cuda-home", GUFUNC_CUDA_HOME});
    }
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  }

  static int count(const std::string &output, const std::string &end) {
    int found = 0;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) found += line.ends_with(end);
    return found;
  }
  // Counts the compilations of kernels. Compilations of the table and links are not counted,
  // because they run in every build.
  static int compilations(const std::string &output) {
    int found = 0;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
      found += (line.find(" -O3 ") != std::string::npos ||
                line.find(" -DGUF_EMULATE ") != std::string::npos ||
                line.find(".to_sass.ptx") != std::string::npos) &&
               line.find(" -E ") == std::string::npos &&
               line.find("emulation_table") == std::string::npos;
    }
    return found;
  }
};

constexpr char kKernel[] =
    "#include <gufunc/kernel.hpp>\n#include \"factor.h\"\n"
    "template <class T> GUF_DEVICE T f(T x) { return x * FACTOR; }\nGUF_UFUNC(f, \"f->f\");\n";

TEST_F(CacheKey, TwoCopiesOfATreeShareEveryObject) {
  const Command items = {"--emulate", path("emu.so").string()};
  const ProcessResult first = build_in("one", kKernel, items);
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_EQ(count(first.output, " from the cache"), 0);
  EXPECT_GE(compilations(first.output), 3);
  const ProcessResult second = build_in("another/place", kKernel, items);
  ASSERT_EQ(second.status, 0) << second.output;
  EXPECT_EQ(compilations(second.output), 0) << second.output;
  EXPECT_GE(count(second.output, " from the cache"), 3) << second.output;
}

TEST_F(CacheKey, APathThatTheKernelUsesIsPartOfItsObject) {
  const char *texts[] = {
      // The preprocessor replaces __FILE__, and the compiler replaces __builtin_FILE(), with the
      // path of the source.
      "GUF_DEVICE int f(int x) { return x + int(sizeof(__FILE__)); }",
      "constexpr int length(const char *s) {\n  int n = 0;\n  while (s[n] != 0) ++n;\n  return "
      "n;\n}\n"
      "GUF_DEVICE int f(int x) {\n  constexpr int n = length(__builtin_FILE());\n  return x + "
      "n;\n}",
  };
  for (const char *text : texts) {
    const std::string whole =
        "#include <gufunc/kernel.hpp>\n" + std::string(text) + "\nGUF_UFUNC(f, \"i->i\");\n";
    const auto build = [&](const std::string &folder) {
      fs::create_directories(path(folder));
      return run({write(folder + "/k.guf.cpp", whole), "-o", path("k.so").string(), "-v",
                  "--targets", "x86-64-v2"});
    };
    ASSERT_EQ(build("short").status, 0);
    // The cache contains the object and the result of the source check.
    EXPECT_EQ(count(build("short").output, " from the cache"), 2) << text;
    EXPECT_EQ(count(build("a_longer_one").output, " from the cache"), 0) << text;
  }
}

TEST_F(CacheKey, LinesThatTheKernelUsesArePartOfItsObject) {
  const auto build = [&](const std::string &lines) {
    return run({write("k.guf.cpp", "#include <gufunc/kernel.hpp>\n" + lines +
                                       "GUF_DEVICE int f(int x) { return x + __builtin_LINE(); }\n"
                                       "GUF_UFUNC(f, \"i->i\");\n"),
                "-o", path("k.so").string(), "-v", "--targets", "x86-64-v2"})
        .output;
  };
  EXPECT_EQ(count(build("\n"), " from the cache"), 0);
  EXPECT_EQ(count(build("\n"), " from the cache"), 2);
  EXPECT_EQ(count(build("\n\n"), " from the cache"), 0);
}

// A build that takes objects from the cache repeats the warnings of the compilation, in whatever
// order the targets are built.
TEST_F(CacheKey, WarningsAreGivenAgain) {
  const std::string text =
      "#include <gufunc/kernel.hpp>\n"
      "GUF_DEVICE float f(float x) { int unused = 3; return x; }\nGUF_UFUNC(f, \"f->f\");\n";
  for (const char *targets : {"x86-64-v2,x86-64-v3", "x86-64-v3", "x86-64-v2", "all", "all"}) {
    const ProcessResult built =
        run({write("k.guf.cpp", text), "-o", path("k.so").string(), "--targets", targets});
    EXPECT_EQ(built.status, 0);
    EXPECT_EQ(built.output.find("k.guf.cpp:2:35: warning: unused variable 'unused'"),
              built.output.find("k.guf.cpp:2:35"))
        << targets << ": " << built.output;
    EXPECT_THAT(built.output, HasSubstr("unused variable 'unused'")) << targets;
  }
}

TEST_F(CacheKey, AFolderThatOthersCanWriteToIsNotUsedAndReportedOnce) {
  fs::create_directory(path("cache"));
  fs::permissions(path("cache"), fs::perms::all);
  const Command command = {write("k.guf.cpp",
                                 "#include <gufunc/kernel.hpp>\n"
                                 "GUF_DEVICE float f(float x) { return x; }\n"
                                 "GUF_UFUNC(f, \"f->f\");\n"),
                           "-o", path("k.so").string()};
  for (int i = 0; i < 2; ++i) {
    const ProcessResult built = run(command);
    EXPECT_EQ(built.status, 0);
    EXPECT_EQ(built.output,
              "gufcc: warning: the cache of compiled objects is not used: other users "
              "can write to " +
                  path("cache").string() + "; chmod go-w " + path("cache").string() + "\n");
  }
  EXPECT_TRUE(fs::is_empty(path("cache")));
}

}  // namespace
}  // namespace gufunc::gufcc
