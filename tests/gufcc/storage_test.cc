// SPDX-License-Identifier: Apache-2.0
// Tests gufcc without a usable temporary folder: a folder that does not exist, a limit of the size
// of files, and a full file system. gufcc reports one error with the folder and the cause, leaves
// no file behind, and does not change an existing output.
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include <cstdlib>

#include "tests/gufcc/gufcc_fixture.h"

namespace gufunc::gufcc {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kOld[] = "the module of an earlier build";

class Storage : public Gufcc {
 protected:
  void SetUp() override {
    Gufcc::SetUp();
    source_ = write("k.guf.cpp",
                    "#include <gufunc/kernel.hpp>\n"
                    "template <class T> GUF_DEVICE T f(T x) { return guf::exp(x); }\n"
                    "GUF_UFUNC(f, \"f->f d->d\");\n");
    temporary_ = path("temporary");
    fs::create_directory(temporary_);
  }

  // Compiles after the shell commands `before`.
  ProcessResult build(const std::string &before, const std::string &more = "") const {
    std::ofstream(path("k.so")) << kOld;
    const std::string command = fmt::format(
        "{}\nTMPDIR='{}' exec '{}' '{}' --cache-dir '{}' -o '{}' -j 2 {}", before,
        temporary_.string(), GUFCC, source_, path("cache").string(), path("k.so").string(), more);
    return run_process({"sh", "-c", command});
  }

  void expect_nothing_left() const {
    std::string content;
    EXPECT_TRUE(fs::is_empty(temporary_));
    ASSERT_TRUE(read_file(path("k.so"), &content, const_cast<Diagnostics *>(&diagnostics_)));
    EXPECT_EQ(content, kOld);
    for (const auto &entry : fs::directory_iterator(path(""))) {
      EXPECT_THAT(entry.path().filename().string(),
                  AnyOf("k.guf.cpp", "k.so", "cache", "temporary"));
    }
    if (!fs::exists(path("cache"))) return;
    for (const auto &entry : fs::directory_iterator(path("cache"))) {
      EXPECT_EQ(entry.path().extension(), ".o");
    }
  }

  // The only line of the output is an error with the folder and the cause.
  void expect_error(const ProcessResult &built, const std::string &cause) const {
    EXPECT_EQ(built.status, 1);
    EXPECT_THAT(built.output, StartsWith("gufcc: error: cannot "));
    EXPECT_THAT(built.output, HasSubstr(cause));
    EXPECT_THAT(built.output,
                AnyOf(HasSubstr(temporary_.string()), HasSubstr(path("k.so").string())));
    EXPECT_EQ(built.output.find('\n'), built.output.size() - 1) << built.output;
    expect_nothing_left();
  }

  std::string source_;
  fs::path temporary_;
};

TEST_F(Storage, ATemporaryFolderThatDoesNotExistIsNamed) {
  const fs::path missing = path("missing");
  std::ofstream(path("k.so")) << kOld;
  const ProcessResult built = run_process({"env", "TMPDIR=" + missing.string(), GUFCC, source_,
                                           "-o", path("k.so").string(), "--no-cache"});
  EXPECT_EQ(built.status, 1);
  EXPECT_EQ(built.output, "gufcc: error: cannot make a temporary folder in " + missing.string() +
                              ": No such file or directory; set TMPDIR to another folder\n");
  EXPECT_FALSE(fs::exists(missing));
  expect_nothing_left();
}

TEST_F(Storage, ATemporaryFolderThatIsAFileIsNamed) {
  temporary_ = source_;
  const ProcessResult built = build("");
  EXPECT_EQ(built.status, 1);
  EXPECT_EQ(built.output, "gufcc: error: cannot make a temporary folder in " + source_ +
                              ": Not a directory; set TMPDIR to another folder\n");
}

// With different limits, different steps of gufcc fail: writing its own files, preprocessing,
// compilation, or linking.
TEST_F(Storage, ALimitOfTheSizeOfFilesIsReported) {
  int failed = 0;
  for (const int kibibytes : {0, 1, 8, 32, 64, 128, 256, 512, 1024}) {
    fs::remove_all(path("cache"));
    const ProcessResult built =
        build(fmt::format("ulimit -f {}", kibibytes * 2), "--targets x86-64-v2");
    if (built.status == 0) continue;  // the limit is not reached
    ++failed;
    SCOPED_TRACE(kibibytes);
    expect_error(built, "File too large");
  }
  EXPECT_GE(failed, 5);
}

// With different sizes of the file system, different steps of gufcc fail.
TEST_F(Storage, AFullFileSystemIsReported) {
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
    GTEST_SKIP() << "not run: this process cannot make a mount namespace";
  int failed = 0;
  for (const int kibibytes : {4, 200, 420, 600, 1000, 1500, 2500}) {
    if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", temporary_.c_str(), "tmpfs", 0, fmt::format("size={}k", kibibytes).c_str()) !=
            0) {
      GTEST_SKIP() << "not run: this process cannot mount a file system";
    }
    fs::remove_all(path("cache"));
    const ProcessResult built = build("", "--targets x86-64-v2");
    if (built.status != 0) {
      ++failed;
      SCOPED_TRACE(kibibytes);
      expect_error(built, "No space left on device");
    }
    ASSERT_EQ(umount(temporary_.c_str()), 0);
  }
  EXPECT_GE(failed, 4);
}

}  // namespace
}  // namespace gufunc::gufcc
