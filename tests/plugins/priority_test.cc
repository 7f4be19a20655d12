// SPDX-License-Identifier: Apache-2.0
// Tests that "auto" selects the backend with the highest priority, even if this backend is a plugin
// from outside the source tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

// Copies a plugin and replaces the priority in the copy's note. Both priorities must have the same
// number of digits.
void copy_plugin(const std::string &from, const fs::path &to, const std::string &before,
                 const std::string &after) {
  std::ostringstream content;
  content << std::ifstream(from, std::ios::binary).rdbuf();
  std::string bytes = content.str();
  const size_t place = bytes.find(before);
  ASSERT_NE(place, std::string::npos) << from;
  bytes.replace(place, after.size(), after);
  std::ofstream(to, std::ios::binary) << bytes;
}

class Priority : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("priority_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms(0755));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void install(const char *cpu_priority, const char *null_priority) {
    copy_plugin(GUFUNC_CPU_PLUGIN, folder_ / "libgufunc_backend_cpu.so", "priority=10;isa",
                std::string("priority=") + cpu_priority + ";isa");
    copy_plugin(GUFUNC_TEST_PLUGINS "/null/libgufunc_backend_null.so",
                folder_ / "libgufunc_backend_null.so", "priority=1;isa",
                std::string("priority=") + null_priority + ";isa");
  }
  // Returns the device that "auto" selects. Runs in a new process, because a process lists plugins
  // once.
  std::string auto_device(const char *selection = nullptr) const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      setenv("GUFUNC_BACKEND_PATH", folder_.c_str(), 1);
      if (selection != nullptr) setenv("GUFUNC_BACKENDS", selection, 1);
      guf_device device = nullptr;
      guf_device_info info = {};
      info.struct_size = sizeof info;
      if (guf_device_get(nullptr, "auto", &device, nullptr) != GUF_OK ||
          guf_device_get_info(device, &info, nullptr) != GUF_OK) {
        _exit(1);
      }
      _exit(write(ends[1], info.spec, sizeof info.spec) > 0 ? 0 : 1);
    }
    close(ends[1]);
    char spec[64] = "";
    EXPECT_GT(read(ends[0], spec, sizeof spec), 0);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return spec;
  }

  fs::path folder_;
};

TEST_F(Priority, TheHighestIsAutomatic) {
  install("10", "1");
  EXPECT_EQ(auto_device(), "cpu");
  install("00", "9");
  EXPECT_EQ(auto_device(), "null:0");
}

TEST_F(Priority, TheSelectionGoesBefore) {
  install("00", "9");
  EXPECT_EQ(auto_device("cpu,null"), "cpu");
}

}  // namespace
