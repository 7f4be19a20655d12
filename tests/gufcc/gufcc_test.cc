// SPDX-License-Identifier: Apache-2.0
// Tests gufcc as users run it: its output files, its messages, and its cache.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/module_table.h>
#include <sys/stat.h>

#include <cmath>
#include <csignal>

#include "core/module/module_digest.h"
#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kScale[] =
    "#include <gufunc/kernel.hpp>\n"
    "#include \"factor.h\"\n"
    "GUF_DEVICE_NOINLINE int helper(int x) { return x + 1; }\n"
    "template <class T>\n"
    "GUF_DEVICE T scale(T x) {\n"
    "  return x * T(FACTOR) + T(helper(0));\n"
    "}\n"
    "GUF_UFUNC(scale, \"f->f \" \"d->d\", \"doc=twice\");\n";

constexpr char kOne[] =
    "#include <gufunc/kernel.hpp>\n"
    "GUF_DEVICE float one(float x) { return x; }\nGUF_UFUNC(one, \"f->f\");\n";

TEST_F(Gufcc, BuildsAModuleThatRuns) {
  write("factor.h", "#define FACTOR 2\n");
  const ProcessResult built =
      run({write("scale.guf.cpp", kScale), "-o", path("scale.so").string()});
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
  void *handle = dlopen(path("scale.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto *table = static_cast<const guf_module_v1 *>(dlsym(handle, "gufunc_module_v1"));
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table, dlsym(handle, "gufunc_module_v1_scale"));
  EXPECT_EQ(table->struct_size, sizeof(guf_module_v1));
  EXPECT_EQ(table->kernel_abi, static_cast<uint32_t>(GUF_KERNEL_ABI));
  EXPECT_STREQ(table->name, "scale");
  ASSERT_EQ(table->nfunctions, 1u);
  EXPECT_STREQ(table->functions[0].doc, "twice");
  EXPECT_EQ(table->functions[0].signature, nullptr);
  ASSERT_EQ(table->functions[0].nloops, 2u);
  EXPECT_EQ(table->functions[0].loops[1].types[0], static_cast<guf_dtype>(GUF_F64));
  EXPECT_STREQ(table->functions[0].loops[0].name, "guf_ew_scale_f_f");
  ASSERT_EQ(table->nimages, 3u);
  EXPECT_STREQ(table->images[0].target, "x86-64-v2");
  // Image 0 is for the lowest ISA level, which every machine that runs the tests supports.
  const auto entry = reinterpret_cast<guf_loop_numpy>(table->images[0].entries[0]);
  float in[5] = {1, 2, 3, 4, 5}, out[5] = {};
  char *args[] = {reinterpret_cast<char *>(in), reinterpret_cast<char *>(out)};
  const int64_t n = 5, steps[] = {4, 4};
  entry(args, &n, steps, nullptr);
  EXPECT_THAT(out, testing::ElementsAre(3, 5, 7, 9, 11));
  dlclose(handle);
}

TEST_F(Gufcc, TheModuleCarriesItsDigestAndNeedsOnlyTheCLibrary) {
  write("factor.h", "#define FACTOR 2\n");
  ASSERT_EQ(run({write("scale.guf.cpp", kScale), "-o", path("scale.so").string()}).status, 0);
  std::string content;
  ASSERT_TRUE(read_file(path("scale.so"), &content, &diagnostics_));
  base::ElfFile elf;
  module::ModuleNote note;
  std::array<uint8_t, 32> digest;
  uint64_t offset = 0;
  ASSERT_EQ(base::ElfFile::open(std::as_bytes(std::span(content)), &elf, nullptr), GUF_OK);
  ASSERT_EQ(module::compute_digest(elf, &note, &digest, &offset, nullptr), GUF_OK);
  EXPECT_EQ(note.version, 1u);
  EXPECT_EQ(note.kernel_abi, static_cast<uint32_t>(GUF_KERNEL_ABI));
  EXPECT_EQ(note.digest, digest);

  // strip rewrites the section headers, which the digest does not cover.
  ASSERT_EQ(run_process({"strip", path("scale.so").string()}).status, 0);
  ASSERT_TRUE(read_file(path("scale.so"), &content, &diagnostics_));
  ASSERT_EQ(base::ElfFile::open(std::as_bytes(std::span(content)), &elf, nullptr), GUF_OK);
  ASSERT_EQ(module::compute_digest(elf, &note, &digest, &offset, nullptr), GUF_OK);
  EXPECT_EQ(note.digest, digest);

  const std::string needed = run_process({"readelf", "-dW", path("scale.so").string()}).output;
  EXPECT_THAT(needed, Not(HasSubstr("libstdc++")));
  EXPECT_THAT(needed, Not(HasSubstr("libgcc")));
  const std::string symbols =
      run_process({"nm", "-D", "--defined-only", path("scale.so").string()}).output;
  EXPECT_EQ(std::count(symbols.begin(), symbols.end(), '\n'), 2);
}

// Texts in the table equal the texts in the source, even if they contain trigraphs, format
// specifiers, quotes or backslashes.
TEST_F(Gufcc, TextsOfTheTableAreThoseOfTheSource) {
  const std::string source =
      write("texts.guf.cpp",
            "#include <gufunc/kernel.hpp>\n"
            "GUF_DEVICE float f(float x, bool &failed) { failed = x < 0; return x; }\n"
            "GUF_UFUNC(f, \"f->f\", \"failure=what?"
            "?! 100% \\\\ %s?"
            "?/\", R\"(doc=a \"raw\" \\text)\");\n");
  const ProcessResult built =
      run({source, "-o", path("texts.so").string(), "--targets", "x86-64-v2"});
  ASSERT_EQ(built.status, 0) << built.output;
  EXPECT_EQ(built.output, "");
  void *handle = dlopen(path("texts.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  const auto *table = static_cast<const guf_module_v1 *>(dlsym(handle, "gufunc_module_v1"));
  EXPECT_STREQ(table->functions[0].failure,
               "what?"
               "?! 100% \\ %s?"
               "?/");
  EXPECT_STREQ(table->functions[0].doc, "a \"raw\" \\text");
  dlclose(handle);
}

// "??->?" looks like a trigraph but is a type string. The code is copied from the documentation.
TEST_F(Gufcc, CooperativeBoolAndSeveralOutputsCompileEverywhere) {
  const std::string source = write(
      "all.guf.cpp",
      "#include <gufunc/kernel.hpp>\n"
      "template <class G, class X, class Y>\n"
      "GUF_DEVICE void demean(G g, X x, Y y) {\n"
      "  const guf::i64 n = x.extent(0);\n"
      "  const auto mean = g.sum(n, [&](guf::i64 i) { return x[i]; }) / n;\n"
      "  for (guf::i64 i = g.rank(); i < n; i += g.size()) y[i] = x[i] - mean;\n"
      "}\n"
      "GUF_GUFUNC(demean, \"(n)->(n)\", \"e->e f->f d->d\", \"group\");\n"
      "GUF_TABLE float kStep[2] = {1, 2};\n"
      "GUF_DEVICE float step(float x) { return kStep[x > 0]; }\n"
      "GUF_UFUNC(step, \"f->f e->e E->E\");\n"
      "GUF_DEVICE bool nand(bool a, bool b) { return !(a && b); }\n"
      "GUF_UFUNC(nand, \"?"
      "?->?\");\n"
      "template <class T>\n"
      "GUF_DEVICE void halves(T a, guf::out<T> x, guf::out<T> y) { x = a / T(2); y = a - x; }\n"
      "GUF_UFUNC(halves, \"f->ff F->FF\");\n");
  const ProcessResult built = run({source, "-o", path("all.so").string()});
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.output, "");
  const ProcessResult checked = run({source, "--check", "nvptx64,amdgcn,opencl,gcc"});
  EXPECT_EQ(checked.status, 0);
  EXPECT_EQ(checked.output, "");
}

// The build with g++ rejects extensions that only clang supports.
TEST_F(Gufcc, GccIsACheckedBuild) {
  const std::string source =
      write("clang.guf.cpp",
            "#include <gufunc/kernel.hpp>\n"
            "GUF_DEVICE float f(float x) {\n"
            "  typedef float two __attribute__((ext_vector_type(2))); return two(x).y;\n"
            "}\nGUF_UFUNC(f, \"f->f\");\n");
  EXPECT_EQ(run({source, "-o", path("clang.so").string()}).status, 0);
  const ProcessResult checked = run({source, "--check", "gcc"});
  EXPECT_EQ(checked.status, 1);
  EXPECT_THAT(checked.output, HasSubstr(source + ":3:"));
}

TEST_F(Gufcc, NoRulesOmitsTheCheckOfOtherBackends) {
  const std::string source = write("half.guf.cpp",
                                   "#include <gufunc/kernel.hpp>\n"
                                   "GUF_DEVICE float half_of(float x) { return x * 0.5; }\n"
                                   "GUF_UFUNC(half_of, \"f->f\");\n");
  Command command = {source, "-o", path("half.so").string(), "--targets", "x86-64-v2"};
  const ProcessResult with_rules = run(command);
  EXPECT_EQ(with_rules.status, 0);
  EXPECT_THAT(with_rules.output, HasSubstr(source + ":2:"));
  command.emplace_back("--no-rules");
  const ProcessResult without = run(command);
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(without.output, "");
}

// Each ISA level must have its own copy of the inline function `helper`.
TEST_F(Gufcc, LevelsShareNoFunction) {
  write("factor.h", "#define FACTOR 2\n");
  const std::string source =
      write("share.guf.cpp",
            "#include <gufunc/kernel.hpp>\n"
            "GUF_DEVICE_NOINLINE float helper(const float *x) { float s = 0; for (int "
            "i = 0; i < "
            "16; ++i) s += x[i]; return s; }\n"
            "GUF_DEVICE float f(float x) { float t[16] = {x}; return helper(t); }\n"
            "GUF_UFUNC(f, \"f->f\");\n");
  ASSERT_EQ(run({source, "-o", path("share.so").string(), "-j2"}).status, 0);
  const std::string symbols = run_process({"nm", "-C", path("share.so").string()}).output;
  size_t copies = 0;
  for (size_t at = symbols.find("helper("); at != std::string::npos;
       at = symbols.find("helper(", at + 1)) {
    ++copies;
  }
  EXPECT_EQ(copies, 3u) << symbols;
}

TEST_F(Gufcc, TheSecondBuildTakesObjectsFromTheCache) {
  write("factor.h", "#define FACTOR 2\n");
  const Command command = {write("scale.guf.cpp", kScale), "-o", path("scale.so").string(), "-v"};
  EXPECT_THAT(run(command).output, Not(HasSubstr("from the cache")));
  std::string first, second;
  ASSERT_TRUE(read_file(path("scale.so"), &first, &diagnostics_));
  const std::string again = run(command).output;
  EXPECT_THAT(again, HasSubstr("unit0_v2 from the cache"));
  EXPECT_THAT(again, HasSubstr("unit0_v4 from the cache"));
  ASSERT_TRUE(read_file(path("scale.so"), &second, &diagnostics_));
  EXPECT_EQ(first, second) << "builds are reproducible";

  write("factor.h", "#define FACTOR 3\n");
  EXPECT_THAT(run(command).output, Not(HasSubstr("from the cache")));
}

TEST_F(Gufcc, DamagedObjectsOfTheCacheAreCompiledAnew) {
  write("factor.h", "#define FACTOR 2\n");
  const Command command = {write("scale.guf.cpp", kScale), "-o", path("scale.so").string(), "-v"};
  ASSERT_EQ(run(command).status, 0);
  std::string first, content;
  ASSERT_TRUE(read_file(path("scale.so"), &first, &diagnostics_));
  const auto damage_with = [&](auto damage) {
    for (const auto &kept : fs::directory_iterator(path("cache"))) {
      ASSERT_TRUE(read_file(kept.path(), &content, &diagnostics_));
      damage(&content);
      ASSERT_TRUE(write_file(kept.path(), content, &diagnostics_));
    }
    const ProcessResult again = run(command);
    EXPECT_EQ(again.status, 0) << again.output;
    EXPECT_THAT(again.output, Not(HasSubstr("from the cache")));
    ASSERT_TRUE(read_file(path("scale.so"), &content, &diagnostics_));
    EXPECT_EQ(content, first);
    EXPECT_THAT(run(command).output, HasSubstr("unit0_v4 from the cache"));
  };
  damage_with([](std::string *object) { (*object)[object->size() / 2] ^= 1; });
  damage_with([](std::string *object) { object->resize(object->size() / 2); });
  damage_with([](std::string *object) { object->clear(); });
}

TEST_F(Gufcc, TheDepfileNamesTheFilesThatWereRead) {
  write("factor.h", "#define FACTOR 2\n");
  ASSERT_EQ(run({write("scale.guf.cpp", kScale), "-o", path("scale.so").string(), "--depfile",
                 path("scale.d").string()})
                .status,
            0);
  std::string text;
  ASSERT_TRUE(read_file(path("scale.d"), &text, &diagnostics_));
  EXPECT_TRUE(text.starts_with(path("scale.so").string() + ":"));
  EXPECT_THAT(text, HasSubstr(path("scale.guf.cpp").string()));
  EXPECT_THAT(text, HasSubstr(path("factor.h").string()));
  EXPECT_THAT(text, HasSubstr("gufunc/kernel/host_loops.hpp"));
  EXPECT_THAT(text, Not(HasSubstr("unit0")));  // no intermediate file is listed
}

TEST_F(Gufcc, ListPrintsFunctions) {
  const ProcessResult result =
      run({"--list", write("k.guf.cpp",
                           "#include <gufunc/kernel.hpp>\n"
                           "#define LOOPS \"bb->b hh->h \" \"ff->f\"\n"
                           "GUF_UFUNC(f, LOOPS, \"identity=one\");\n"
                           "GUF_GUFUNC(g, \"(n)\", \"d\", \"roles=inout\");\n")});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output,
            "NAME  SIGNATURE    TYPES              REMARKS\n"
            "f     elementwise  bb->b hh->h ff->f  identity one\n"
            "g     (n)          d                  inout\n");
}

TEST_F(Gufcc, Refusals) {
  const std::string source =
      write("k.guf.cpp", "#include <gufunc/kernel.hpp>\nGUF_UFUNC(f, \"f->f\");\n");
  EXPECT_THAT(run({source, "-o", path("x.so").string(), "--targets", "sm_9"}).output,
              HasSubstr("'sm_9' is not a target; valid are host all x86-64-v2"));
  EXPECT_THAT(run({source, "-o", path("1x.so").string()}).output,
              HasSubstr("'1x' is not a module name"));
  EXPECT_THAT(run({source}).output, HasSubstr("-o FILE"));
  EXPECT_THAT(run({"nothing.guf.cpp", "-o", "x.so"}).output,
              HasSubstr("cannot read the source nothing"));
  EXPECT_THAT(run({source, "-o", path("x.so").string(), "--compiler", "nope"}).output,
              HasSubstr("'nope' does not run; on Debian: apt install clang-19"));
  EXPECT_THAT(run({source, "-o", path("x.so").string(), "--compiler", "g++"}).output,
              HasSubstr("'g++' is not clang; on Debian: apt install clang-19"));
  EXPECT_THAT(run({source, "--check", "vax"}).output,
              HasSubstr("valid are nvptx64 amdgcn opencl gcc"));
  EXPECT_THAT(run({write("e.guf.cpp", "int x;\n"), "-o", path("x.so").string()}).output,
              HasSubstr("no GUF_UFUNC, GUF_GUFUNC or GUF_KERNEL"));
}

TEST_F(Gufcc, AnOutputThatIsNoRegularFileIsRefusedAndStays) {
  const std::string source = write("one.guf.cpp", kOne);
  fs::create_directory(path("folder"));
  fs::create_symlink("itself", path("itself"));
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", path("to_fifo"));
  for (const char *name : {"folder", "itself", "fifo", "to_fifo"}) {
    const ProcessResult result =
        run({source, "-o", path(name).string(), "--targets", "x86-64-v2", "--object"});
    EXPECT_EQ(result.status, 1) << name;
    EXPECT_THAT(result.output, HasSubstr("cannot write " + path(name).string() + ": it ")) << name;
  }
  EXPECT_TRUE(fs::is_directory(path("folder")));
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_TRUE(fs::is_symlink(path("to_fifo")));
}

TEST_F(Gufcc, WithoutItsDepfileNoModuleIsWritten) {
  const std::string source = write("one.guf.cpp", kOne);
  for (const char *object : {"--object", "--no-cache"}) {
    const ProcessResult result = run({source, "-o", path("one.o").string(), "--targets",
                                      "x86-64-v2", object, "--depfile", path("no/one.d").string()});
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output, HasSubstr("cannot write " + path("no/one.d").string()));
    EXPECT_FALSE(fs::exists(path("one.o")));
  }
}

TEST_F(Gufcc, AnOutputIsWrittenBehindItsLinksAndLeavesNothingBeside) {
  const std::string source = write("one.guf.cpp", kOne);
  fs::create_directory(path("to"));
  fs::create_directory(path("from"));
  fs::create_symlink("../to/new.o", path("from/dangling.o"));
  fs::create_symlink("dangling.o", path("from/one.o"));
  for (int i = 0; i < 2; ++i) {  // the first run creates the file, the second replaces it
    const ProcessResult result =
        run({source, "-o", path("from/one.o").string(), "--targets", "x86-64-v2", "--object"});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_TRUE(fs::is_symlink(path("from/one.o")));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("to/new.o"))));
    EXPECT_EQ(fs::status(path("to/new.o")).permissions() & fs::perms::owner_all,
              fs::perms::owner_read | fs::perms::owner_write);
  }
  for (const char *name : {"from", "to"}) {
    const auto files = fs::directory_iterator(path(name));
    EXPECT_EQ(std::distance(begin(files), end(files)), std::string(name) == "to" ? 1 : 2) << name;
  }
}

TEST_F(Gufcc, AWrongCommandLineIsStatusTwo) {
  const std::string source =
      write("k.guf.cpp", "#include <gufunc/kernel.hpp>\nGUF_UFUNC(f, \"f->f\");\n");
  const std::string output = path("x.so").string();
  for (const Command &wrong :
       {Command{}, Command{source, "-o", output, "--nothing"}, Command{source, "-o", output, "-j0"},
        Command{source, "-o", output, "-j", "-1"}, Command{source, "-o", output, "-jx"},
        Command{source, "-o", output, "-j1.5"}, Command{source, "-o", output, "--fp=quick"},
        Command{source, "-o", output, "--targets", "vax"}, Command{source, "--check", "vax"},
        Command{source, "-o", path("1x.so").string()}, Command{source}}) {
    const ProcessResult result = run(wrong);
    EXPECT_EQ(result.status, 2) << command_line(wrong) << "\n" << result.output;
    EXPECT_NE(result.output, "");
  }
  EXPECT_THAT(run({source, "-o", output, "-j0"}).output,
              HasSubstr("Value 0 not in range 1 to 1024"));
  EXPECT_EQ(run({"--help"}).status, 0);
  EXPECT_EQ(run({"nothing.guf.cpp", "-o", output}).status, 1);
}

// The compiler in this test sends a signal to gufcc and continues to run.
TEST_F(Gufcc, ASignalLeavesNoIntermediateFiles) {
  const std::string source = write("k.guf.cpp", "");
  fs::create_directory(path("tmp"));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string compiler =
        write("compiler", "#!/bin/sh\nkill -" + std::to_string(number) + " $PPID\nexec sleep 1\n");
    fs::permissions(compiler, fs::perms::owner_all);
    const ProcessResult result =
        run_process({"env", "--default-signal", "TMPDIR=" + path("tmp").string(), GUFCC, source,
                     "--no-cache", "-o", path("x.so").string(), "--compiler", compiler});
    EXPECT_EQ(result.status, 128 + number) << result.output;
    EXPECT_TRUE(fs::is_empty(path("tmp")));
  }
}

TEST_F(Gufcc, StrictKeepsEveryRoundingAndFastContracts) {
  const std::string source =
      write("mad.guf.cpp",
            "#include <gufunc/kernel.hpp>\n"
            "template <class T> GUF_DEVICE T mad(T a, T b) { return a * a - b; }\n"
            "GUF_UFUNC(mad, \"ff->f\", \"name=strict_mad\");\n"
            "GUF_UFUNC(mad, \"ff->f\", \"name=fast_mad\", \"fp=fast\");\n");
  ASSERT_EQ(run({source, "-o", path("mad.so").string(), "--targets", "x86-64-v3"}).status, 0);
  const std::string code = run_process({"objdump", "-d", path("mad.so").string()}).output;
  const std::string table = run_process({"nm", path("mad.so").string()}).output;
  EXPECT_THAT(table, HasSubstr("guf_ew_strict_mad_ff_f__v3"));
  // The module must contain fused instructions, but only in the fast function.
  EXPECT_THAT(code, HasSubstr("vfmsub"));
  const ProcessResult strict =
      run({write("only.guf.cpp",
                 "#include <gufunc/kernel.hpp>\n"
                 "template <class T> GUF_DEVICE T mad(T a, T b) { return a * a - b; }\n"
                 "GUF_UFUNC(mad, \"ff->f\");\n"),
           "-o", path("only.so").string(), "--targets", "x86-64-v3"});
  ASSERT_EQ(strict.status, 0);
  EXPECT_THAT(run_process({"objdump", "-d", path("only.so").string()}).output,
              Not(HasSubstr("vfmsub")));
}

// Tests source file names that compilers could interpret as an option or as a response file with
// options.

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
