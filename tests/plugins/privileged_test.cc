// SPDX-License-Identifier: Apache-2.0
// Tests that privileged processes do not trust the environment, argv[0] or other users' files. A
// process is privileged if its program has the setuid bit, the setgid bit or file capabilities.
// Only root can give a file these privileges, so the tests are skipped for other users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

constexpr uid_t kCaller = 4711;  // starts the helper, and owns the plugin and the module in "env"
constexpr uid_t kOwner = 4712;   // owner of the setuid helper, and group of the setgid helper

class Privileged : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "not run: only root can give a file privileges";
    umask(022);
    root_ = fs::path(::testing::TempDir()) / ("privileged_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_ / "env/gufunc/1");
    helper_ = root_ / "helper";
    fs::copy(GUFUNC_TEST_HELPER, helper_);
    // The loader finds this plugin through the environment or through a false argv[0].
    fs::copy(plugin_source(), plugin());
    fs::copy(GUFUNC_TEST_MODULE, module());
    fs::create_directories(root_ / "own");
    fs::copy(GUFUNC_TEST_MODULE, own_module());
    fs::copy(GUFUNC_TEST_MODULE, group_module());
    ASSERT_EQ(chmod(group_module().c_str(), 0664), 0);
    fs::create_directories(root_ / "group/inner");
    fs::copy(GUFUNC_TEST_MODULE, module_below_group());
    ASSERT_EQ(chmod((root_ / "group").c_str(), 0775), 0);
    fs::create_directories(root_ / "foreign/inner");
    fs::copy(GUFUNC_TEST_MODULE, module_below_foreign());
    ASSERT_EQ(chown((root_ / "foreign").c_str(), kCaller, 0), 0);
    ASSERT_EQ(chown(module().c_str(), kCaller, kCaller), 0);
    ASSERT_EQ(chown((root_ / "env/gufunc/1").c_str(), kCaller, kCaller), 0);
    ASSERT_EQ(chown(plugin().c_str(), kCaller, kCaller), 0);
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }
  static std::string plugin_source() {
    return GUFUNC_TEST_PLUGINS "/bad/libgufunc_backend_fine.so";
  }
  // The caller can change module(), and only root can change own_module(). Members of root's group
  // can change the file group_module(), and can replace module_below_group() by changing a folder
  // above it. The caller can replace module_below_foreign(), although file and folder are root's,
  // because the caller owns a folder above.
  std::string module() const { return root_ / "env/module.so"; }
  std::string own_module() const { return root_ / "own/module.so"; }
  std::string group_module() const { return root_ / "own/group.so"; }
  std::string module_below_group() const { return root_ / "group/inner/module.so"; }
  std::string module_below_foreign() const { return root_ / "foreign/inner/module.so"; }
  std::string plugin() const { return root_ / "env/gufunc/1/libgufunc_backend_fine.so"; }

  // Runs the helper as another user with a hostile environment and argv[0], and returns its output.
  std::string run() const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const std::string folder = root_ / "env/gufunc/1", name = root_ / "env/helper";
      setenv("GUFUNC_BACKEND_PATH", folder.c_str(), 1);
      setenv("GUFUNC_BACKEND_PATH_ADD", folder.c_str(), 1);
      setenv("GUFUNC_BACKENDS", "fine", 1);
      setenv("GUFUNC_NULL", "devices=2", 1);
      const bool ready = setgroups_and_user();
      if (ready)
        execl(helper_.c_str(), name.c_str(), plugin().c_str(), module().c_str(),
              own_module().c_str(), group_module().c_str(), module_below_group().c_str(),
              module_below_foreign().c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    close(ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return text;
  }
  static bool setgroups_and_user() {
    return setresgid(kCaller, kCaller, kCaller) == 0 && setresuid(kCaller, kCaller, kCaller) == 0;
  }

  void expect_distrust() const {
    const std::string seen = run();
    if (seen.find("privileged 0") != std::string::npos) {
      GTEST_SKIP() << "not run: this file system gives no privileges (nosuid)";
    }
    EXPECT_THAT(seen, HasSubstr("privileged 1\n"));
    EXPECT_THAT(seen, HasSubstr("path ''\n"));
    EXPECT_THAT(seen, HasSubstr("add ''\n"));
    EXPECT_THAT(seen, HasSubstr("selection ''\n"));
    EXPECT_THAT(seen, HasSubstr("config ''\n"));
    EXPECT_THAT(seen, HasSubstr("folder '" + root_.string() + "'\n")) << "not argv[0]'s";
    EXPECT_THAT(seen, Not(HasSubstr("backend fine")));
    EXPECT_THAT(seen, HasSubstr("load 905\n")) << "an explicit path is not exempt";
    EXPECT_THAT(seen, HasSubstr("module 905\nmodule 0\nmodule 905\nmodule 905\nmodule 905\n"))
        << "nor is that of a module";
  }

  fs::path root_, helper_;
};

TEST_F(Privileged, UnmarkedItSeesTheEnvironment) {
  const std::string seen = run();
  EXPECT_THAT(seen, HasSubstr("privileged 0\n"));
  EXPECT_THAT(seen, HasSubstr("selection 'fine'\n"));
  EXPECT_THAT(seen, HasSubstr("config 'devices=2'\n"));
  EXPECT_THAT(seen, HasSubstr("backend fine 0\n"));
  EXPECT_THAT(seen, HasSubstr("load 0\n"));
  EXPECT_THAT(seen, HasSubstr("module 0\nmodule 0\nmodule 0\nmodule 0\nmodule 0\n"));
}

TEST_F(Privileged, BySetuid) {
  ASSERT_EQ(chown(helper_.c_str(), kOwner, kOwner), 0);
  ASSERT_EQ(chmod(helper_.c_str(), 04755), 0);
  expect_distrust();
}

TEST_F(Privileged, BySetgid) {
  ASSERT_EQ(chown(helper_.c_str(), 0, kOwner), 0);
  ASSERT_EQ(chmod(helper_.c_str(), 02755), 0);
  expect_distrust();  // the effective user is still the caller, who owns the plugin
}

TEST_F(Privileged, ByFileCapabilities) {
  vfs_cap_data capability = {};
  capability.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  capability.data[0].permitted = 1U << CAP_NET_RAW;
  if (setxattr(helper_.c_str(), "security.capability", &capability, sizeof capability, 0) != 0) {
    GTEST_SKIP() << "not run: this file system keeps no capabilities";
  }
  expect_distrust();
}

}  // namespace
