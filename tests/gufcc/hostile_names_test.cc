// SPDX-License-Identifier: Apache-2.0
// Tests source file names that compilers could interpret as an option or as a response file with
// options.
#include <gmock/gmock.h>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kGood[] =
    "#include <gufunc/kernel.hpp>\n#include \"@own.h\"\n#include <@far.h>\n"
    "GUF_DEVICE float f(float x) { return x + OWN + FAR; }\nGUF_UFUNC(f, \"f->f\");\n";

class HostileNames : public Gufcc {
 protected:
  void SetUp() override {
    Gufcc::SetUp();
    fs::create_directory(path("@inc"));
    fs::create_directory(path("-finc"));
    write("@own.h", "#define OWN 1\n");
    write("@inc/@far.h", "#define FAR 2\n");
    write("-finc/@far.h", "#define FAR 2\n");
  }
  // Runs gufcc in the folder with relative names, as a user would type them.
  ProcessResult run_here(const std::string &arguments) const {
    return run_process({"/bin/sh", "-c",
                        "cd '" + folder_.path().string() +
                            "' && exec '" GUFCC "' --cache-dir @cache --targets x86-64-v2 " +
                            arguments});
  }
};

TEST_F(HostileNames, AreNamesOfFiles) {
  for (const char *name : {"@x.guf.cpp", "-fplugin=x.guf.cpp", "-I.guf.cpp", "x y.guf.cpp"}) {
    write(name, kGood);
    for (const char *folder : {"@inc", "-finc"}) {
      const ProcessResult built = run_here(std::string("-I ") + folder +
                                           " --depfile @x.d -o @x.so --name x -- '" + name + "'");
      EXPECT_EQ(built.status, 0) << name;
      EXPECT_EQ(built.output, "") << name;
      EXPECT_TRUE(fs::exists(path("@x.so")));
      std::string depfile;
      ASSERT_TRUE(read_file(path("@x.d"), &depfile, &diagnostics_));
      EXPECT_THAT(depfile, HasSubstr(path(std::string(folder) + "/@far.h").string()));
      fs::remove(path("@x.so"));
    }
    EXPECT_THAT(run_here("-I@inc --list -- '" + std::string(name) + "'").output, HasSubstr("f->f"));
    EXPECT_EQ(run_here("-I@inc --check gcc,nvptx64 -- '" + std::string(name) + "'").output, "");
  }
}

// The file @x.guf.cpp would be a list of options that load a plugin into the compiler.
TEST_F(HostileNames, NoListOfOptionsIsRead) {
  write("@x.guf.cpp", "-fplugin=/nowhere/evil.so\n");
  const ProcessResult built = run_here("-o x.so @x.guf.cpp");
  EXPECT_EQ(built.status, 1);
  EXPECT_THAT(built.output, Not(HasSubstr("evil.so: cannot open")));
  EXPECT_THAT(built.output, HasSubstr("no GUF_UFUNC, GUF_GUFUNC or GUF_KERNEL"));
}

TEST_F(HostileNames, MessagesNameFilesAsTyped) {
  fs::create_directory(path("sub"));
  write("sub/k.guf.cpp",
        "#include <gufunc/kernel.hpp>\n#include \"own.h\"\n#include <@far.h>\n"
        "GUF_DEVICE float f(float x) { return x + FAR; }\nGUF_UFUNC(f, \"f->q\", \"bad\");\n");
  write("sub/own.h", "static_assert(sizeof(int) == 2, \"of its own\");\n");
  EXPECT_THAT(run_here("-I @inc -o x.so sub/k.guf.cpp").output,
              testing::StartsWith("sub/k.guf.cpp:5: error: 'bad' is not an option"));
  write("sub/k.guf.cpp",
        "#include <gufunc/kernel.hpp>\n#include \"own.h\"\n#include <@far.h>\n"
        "GUF_DEVICE float f(float x) { return x + FAR + nothing; }\nGUF_UFUNC(f, \"f->f\");\n");
  write("@inc/@far.h", "#define FAR 1\nint far = wrong;\n");
  const std::string output = run_here("-I @inc -o x.so sub/k.guf.cpp").output;
  EXPECT_THAT(output, HasSubstr("\nsub/k.guf.cpp:4:48: error: use of undeclared identifier"));
  EXPECT_THAT(output, HasSubstr("sub/own.h:1:15: error: static assertion failed"));
  EXPECT_THAT(output, HasSubstr("\n@inc/@far.h:2:11: error: use of undeclared identifier 'wrong'"));
  EXPECT_THAT(output, Not(HasSubstr(folder_.path().string())));
}

}  // namespace
}  // namespace gufunc::gufcc
