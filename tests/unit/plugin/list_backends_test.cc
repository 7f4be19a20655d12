// SPDX-License-Identifier: Apache-2.0
// Tests which files are listed as backends, in which order, and which files are skipped. Listing
// must not run code of a plugin, so every plugin in this test ends the process if its code runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/log.h"
#include "core/plugin/list_backends.h"
#include "core/plugin/registry.h"
#include "tests/unit/elf_sample.h"

namespace gufunc::plugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

class ListBackends : public ::testing::Test {
 protected:
  void SetUp() override {
    umask(022);
    root_ = fs::path(::testing::TempDir()) / ("list_backends_" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
    rules_.trust = {geteuid(), geteuid(), false, getegid(), getegid()};
    char line[base::kLogWidth];
    base::LogLevel level;
    while (base::log_take(line, sizeof line, &level)) {
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  // Writes a plugin that contains a backend note and no other loadable content.
  fs::path plugin(const std::string &folder, const std::string &name, int priority = 1,
                  const std::string &note_name = "") {
    const std::string text = "name=" + (note_name.empty() ? name : note_name) +
                             ";abi=0-0;priority=" + std::to_string(priority) + ";isa=x86-64";
    std::vector<uint8_t> note(text.begin(), text.end());
    note.push_back(0);
    const fs::path path = root_ / folder / ("libgufunc_backend_" + name + ".so");
    fs::create_directories(path.parent_path());
    const auto bytes = testing::ElfSample(0x6201, note).bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::vector<std::string> names() {
    EXPECT_EQ(list_backends(rules_, &list_, nullptr), GUF_OK);
    std::vector<std::string> found;
    for (const auto &record : list_) {
      found.push_back(record->name + (record->listed.status == GUF_OK ? "" : "!"));
    }
    return found;
  }
  std::string folder(const char *name) const { return root_ / name; }

  fs::path root_;
  ListingRules rules_;
  std::vector<std::unique_ptr<Record>> list_;
};

TEST_F(ListBackends, TheLibrarysOwnFolderThenTheInstalledOne) {
  plugin("lib/gufunc/1", "near", 1);
  plugin("usr/lib", "far", 9);
  rules_.sources.library_folder = folder("lib");
  rules_.sources.plugin_folder = folder("usr/lib");
  EXPECT_THAT(names(), ElementsAre("far", "near"));
  EXPECT_EQ(list_[0]->path, folder("usr/lib") + "/libgufunc_backend_far.so");
  EXPECT_EQ(list_[0]->priority, 9u);
}

TEST_F(ListBackends, ThePathReplacesAndTheAdditionComesFirst) {
  plugin("a", "one");
  plugin("b", "two");
  plugin("c", "three");
  rules_.sources.plugin_folder = folder("c");
  rules_.sources.path_add = folder("b");
  EXPECT_THAT(names(), ElementsAre("three", "two"));
  rules_.sources.path = folder("a") + ":" + folder("nonexistent");
  EXPECT_THAT(names(), ElementsAre("one"));
}

TEST_F(ListBackends, PrivilegedProcessesIgnoreTheEnvironment) {
  plugin("a", "one");
  plugin("c", "three");
  rules_.sources.plugin_folder = folder("c");
  rules_.sources.path = folder("a");
  rules_.sources.path_add = folder("a");
  rules_.sources.privileged = true;
  EXPECT_THAT(names(), ElementsAre("three"));
}

TEST_F(ListBackends, RelativeAndEmptyElementsAreNoFolders) {
  plugin("here", "cwd");
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "here");
  for (const char *path : {".", "./", "", ":", "::", "../here", "here:.:", " /tmp"}) {
    rules_.sources.path_add = path;
    rules_.sources.plugin_folder = path;
    rules_.sources.library_folder = "";
    EXPECT_THAT(names(), IsEmpty()) << path;
  }
  fs::current_path(before);
}

TEST_F(ListBackends, OnlyFilesNamedAsPlugins) {
  plugin("a", "good");
  fs::copy(plugin("b", "x"), root_ / "a/libgufunc_backend_x.so.1");
  fs::copy(plugin("b", "x"), root_ / "a/gufunc_backend_x.so");
  fs::copy(plugin("b", "x"), root_ / "a/libgufunc_backend_.so");
  fs::copy(plugin("b", "x"), root_ / "a/libgufunc_backend_X.so");
  rules_.sources.path = folder("a");
  EXPECT_THAT(names(), ElementsAre("good"));
}

TEST_F(ListBackends, OneFileCountsOnceWhateverItsNames) {
  const fs::path file = plugin("a", "one");
  fs::create_directories(root_ / "b");
  fs::create_hard_link(file, root_ / "b/libgufunc_backend_one.so");
  fs::create_directories(root_ / "c");
  fs::create_symlink(file, root_ / "c/libgufunc_backend_one.so");
  rules_.sources.path = folder("c") + ":" + folder("b") + ":" + folder("a");
  EXPECT_THAT(names(), ElementsAre("one"));
  EXPECT_EQ(list_[0]->path, folder("c") + "/libgufunc_backend_one.so");
}

TEST_F(ListBackends, TheUsableCopyOfHighestPriorityWins) {
  plugin("a", "one", 1);
  plugin("b", "one", 3);
  plugin("c", "one", 2);
  std::ofstream(plugin("d", "one", 9)) << "no ELF file";
  rules_.sources.path = folder("d") + ":" + folder("a") + ":" + folder("b") + ":" + folder("c");
  EXPECT_THAT(names(), ElementsAre("one"));
  EXPECT_EQ(list_[0]->priority, 3u);
}

TEST_F(ListBackends, TheNoteMustContainTheNameOfTheFile) {
  plugin("a", "one", 1, "two");
  rules_.sources.path = folder("a");
  EXPECT_THAT(names(), ElementsAre("one!"));
  EXPECT_EQ(list_[0]->listed.status, GUF_E_BAD_FILE);
  EXPECT_THAT(list_[0]->listed.reason, HasSubstr("its note names backend 'two'"));
}

TEST_F(ListBackends, WorldWritableFilesAreUntrusted) {
  const fs::path file = plugin("a", "one");
  fs::permissions(file, fs::perms(0646));
  rules_.sources.path = folder("a");
  EXPECT_THAT(names(), ElementsAre("one!"));
  EXPECT_EQ(list_[0]->listed.status, GUF_E_UNTRUSTED);
  EXPECT_THAT(list_[0]->listed.reason, HasSubstr("everybody may write it (mode 0646)"));
  EXPECT_EQ(open_backend(*list_[0], nullptr), GUF_E_UNTRUSTED);
  fs::permissions(file, fs::perms(0644));
  EXPECT_THAT(names(), ElementsAre("one"));
  fs::permissions(root_ / "a", fs::perms(01777));
  EXPECT_THAT(names(), ElementsAre("one!"));
  EXPECT_THAT(list_[0]->listed.reason, HasSubstr("directory"));
}

// With a umask of 002, files are writable by their group, which is often the private group of one
// user. Group write permission is therefore accepted if the group is the effective group of the
// process or the group of the library file. A privileged process never accepts it.
TEST_F(ListBackends, OnlyOurOwnGroupsMayWrite) {
  const fs::path file = plugin("a/b/c", "one");
  rules_.sources.path = folder("a/b/c");
  struct stat status;
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  for (const fs::path &place : {file, root_ / "a/b/c", root_ / "a/b", root_ / "a"}) {
    const fs::perms before = fs::status(place).permissions();
    fs::permissions(place, before | fs::perms::group_write);
    rules_.trust.privileged = true;
    rules_.trust.effective_group = rules_.trust.library_group = status.st_gid;
    EXPECT_THAT(names(), ElementsAre("one!")) << place;
    EXPECT_EQ(list_[0]->listed.status, GUF_E_UNTRUSTED);
    EXPECT_THAT(list_[0]->listed.reason,
                HasSubstr("group " + std::to_string(status.st_gid) + " may write it"));
    rules_.trust.privileged = false;
    EXPECT_THAT(names(), ElementsAre("one")) << place;
    if (geteuid() == 0) {
      ASSERT_EQ(chown(place.c_str(), 0, 4711), 0);
      EXPECT_THAT(names(), ElementsAre("one!")) << place;
      rules_.trust.library_group = 4711;
      EXPECT_THAT(names(), ElementsAre("one")) << place;
    }
    fs::permissions(place, before);
  }
}

TEST_F(ListBackends, DirectoriesAboveOfStrangersAreUntrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "not run: only root can give directories away";
  plugin("a/b/c", "one");
  rules_.sources.path = folder("a/b/c");
  for (const char *place : {"a/b", "a"}) {
    ASSERT_EQ(chown((root_ / place).c_str(), 4711, 0), 0);
    for (const bool privileged : {true, false}) {
      rules_.trust.privileged = privileged;
      EXPECT_THAT(names(), ElementsAre("one!")) << place;
      EXPECT_THAT(list_[0]->listed.reason, HasSubstr("its owner is user 4711"));
    }
    // User 65534 is the owner that the kernel reports for a user without an id in this user
    // namespace. Directories above the mounts of a container often have such an owner.
    ASSERT_EQ(chown((root_ / place).c_str(), 65534, 0), 0);
    EXPECT_THAT(names(), ElementsAre("one")) << place;
    rules_.trust.privileged = true;
    EXPECT_THAT(names(), ElementsAre("one!")) << place;
    ASSERT_EQ(chown((root_ / place).c_str(), 0, 0), 0);
  }
  // In a sticky directory such as /tmp, no user can replace files of another user.
  fs::permissions(root_ / "a", fs::perms(01777));
  EXPECT_THAT(names(), ElementsAre("one"));
  fs::permissions(root_ / "a", fs::perms(0777));
  EXPECT_THAT(names(), ElementsAre("one!"));
  // A symbolic link in a trusted directory does not hide the real location of the file.
  fs::create_directory_symlink(root_ / "a/b/c", root_ / "link");
  rules_.sources.path = folder("link");
  EXPECT_THAT(names(), ElementsAre("one!"));
}

TEST_F(ListBackends, FilesOfStrangersAreUntrusted) {
  if (geteuid() != 0) GTEST_SKIP() << "not run: only root can give files away";
  const fs::path file = plugin("a", "one");
  rules_.sources.path = folder("a");
  ASSERT_EQ(chown(file.c_str(), 4711, 4711), 0);
  EXPECT_THAT(names(), ElementsAre("one!"));
  EXPECT_THAT(list_[0]->listed.reason, HasSubstr("its owner is user 4711"));
  rules_.trust.library_owner = 4711;
  EXPECT_THAT(names(), ElementsAre("one"));
  rules_.trust.effective_user = 4711;
  rules_.trust.library_owner = 0;
  EXPECT_THAT(names(), ElementsAre("one"));
  rules_.trust.effective_user = 0;
  ASSERT_EQ(chown(file.c_str(), 0, 0), 0);
  ASSERT_EQ(chown((root_ / "a").c_str(), 4711, 4711), 0);
  EXPECT_THAT(names(), ElementsAre("one!"));
}

TEST_F(ListBackends, SpecialFilesDoNotHang) {
  fs::create_directories(root_ / "a/libgufunc_backend_folder.so");
  ASSERT_EQ(mkfifo((root_ / "a/libgufunc_backend_fifo.so").c_str(), 0644), 0);
  fs::create_symlink("/dev/zero", root_ / "a/libgufunc_backend_device.so");
  fs::create_symlink("nowhere", root_ / "a/libgufunc_backend_dangling.so");
  rules_.sources.path = folder("a");
  EXPECT_THAT(names(), ElementsAre("dangling!", "device!", "fifo!", "folder!"));
  for (const auto &record : list_) EXPECT_EQ(record->listed.status, GUF_E_IO) << record->name;
}

TEST_F(ListBackends, ConfigurationFilesNamePluginsOutsideTheFolder) {
  const fs::path file = plugin("opt/odd", "elsewhere");
  fs::rename(file, root_ / "opt/odd/plugin.so");
  fs::create_directories(root_ / "etc");
  std::ofstream(root_ / "etc/10-odd.conf")
      << "# a comment\n\nrelative/plugin.so\n  " << (root_ / "opt/odd/plugin.so").string()
      << " \t\r\n/nonexistent/plugin.so\n";
  std::ofstream(root_ / "etc/ignored.txt") << (root_ / "opt/odd/plugin.so").string();
  rules_.sources.conf_folder = folder("etc");
  EXPECT_THAT(names(), ElementsAre("elsewhere"));
  fs::permissions(root_ / "etc/10-odd.conf", fs::perms(0666));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(ListBackends, SelectionOrdersAndSwitchesOff) {
  for (const char *name : {"cpu", "cuda", "opencl", "roc"}) plugin("a", name);
  rules_.sources.path = folder("a");
  rules_.selection = "roc,cpu,absent";
  EXPECT_THAT(names(), ElementsAre("roc", "cpu", "cuda!", "opencl!"));
  EXPECT_EQ(list_[2]->listed.status, GUF_E_NO_BACKEND);
  EXPECT_EQ(list_[2]->listed.reason, "backend cuda is disabled by GUFUNC_BACKENDS");
  char line[base::kLogWidth];
  base::LogLevel level;
  ASSERT_TRUE(base::log_take(line, sizeof line, &level));
  EXPECT_STREQ(line, "GUFUNC_BACKENDS names 'absent', which is not installed");
  rules_.selection = "";
  rules_.disabled = "c*,rocm";
  EXPECT_THAT(names(), ElementsAre("cpu", "cuda!", "opencl", "roc")) << "host memory needs cpu";
}

TEST_F(ListBackends, ListsTheSearchPathOfTheProcess) {
  SearchSources sources;
  ASSERT_EQ(process_sources(&sources, nullptr), GUF_OK);
  EXPECT_FALSE(sources.privileged);
  EXPECT_TRUE(fs::exists(sources.library_folder)) << sources.library_folder;
  EXPECT_EQ(sources.library_folder[0], '/');
  EXPECT_EQ(sources.plugin_folder[0], '/');
  EXPECT_EQ(sources.conf_folder[0], '/');
}

}  // namespace
}  // namespace gufunc::plugin
