// SPDX-License-Identifier: Apache-2.0
// Tests the first use of a driver, each case in its own process. The tests check the status that
// the probe of the plugin returns, the reason in its message, and the elapsed time, and that the
// process prints nothing.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/gpu/fault_codes.h"
#include "tests/gpu/gpu_fixture.h"
#include "tests/gpu/probe_report.h"

namespace gufunc::gpu_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSoon = 2000000;  // in microseconds; with sanitizers, most of this time is spent
                                    // by the sanitizer
#else
constexpr int64_t kSoon = 100000;
#endif

struct Found {
  ProbeReport report = {};
  std::string printed;  // text on stdout and stderr
};

using Settings = std::vector<std::string>;  // environment variables as "NAME=value"

std::string plugin_file() {
  return std::string(GUFUNC_TEST_PLUGIN_DIR) + "/libgufunc_backend_" + pick("cuda", "roc") + ".so";
}

std::string read_all(int descriptor) {
  std::string all;
  char part[4096];
  for (ssize_t got = 0; (got = read(descriptor, part, sizeof(part))) > 0;) {
    all.append(part, static_cast<size_t>(got));
  }
  close(descriptor);
  return all;
}

// Runs probe_child in an environment that contains only `settings` and the variables of the
// sanitizers.
Found probe(const Settings &settings, const char *mode = "",
            const std::string &driver = pick("libcuda.so.1", "libamdhip64.so.6")) {
  int results[2], outputs[2];
  EXPECT_EQ(pipe2(results, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(outputs, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, outputs[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, outputs[1], STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, results[1], 100);
  std::string plugin = plugin_file(), library = driver, number = "100", word = mode;
  std::string program = GUFUNC_TEST_PROBE_CHILD;
  char *arguments[] = {program.data(), plugin.data(), library.data(),
                       number.data(),  word.data(),   nullptr};
  Settings variables = settings;
  variables.push_back("ASAN_OPTIONS=detect_leaks=0");
  std::vector<char *> environment;
  for (std::string &one : variables) environment.push_back(one.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environment.data()),
            0);
  posix_spawn_file_actions_destroy(&actions);
  close(results[1]);
  close(outputs[1]);
  Found found;
  const std::string bytes = read_all(results[0]);
  found.printed = read_all(outputs[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(bytes.size(), sizeof(found.report));
  if (bytes.size() == sizeof(found.report)) memcpy(&found.report, bytes.data(), bytes.size());
  EXPECT_EQ(found.report.done, 1) << "the child did not come to its end";
  EXPECT_LT(found.report.microseconds, kSoon);
  EXPECT_EQ(found.printed, "");
  return found;
}

// Returns settings with which the simulated driver is loaded instead of the real driver.
Settings simulated(const std::string &setting = "GUFUNC_SIM_DEVICES=1") {
  return {"LD_LIBRARY_PATH=" GUFUNC_TEST_SIM_DIR, setting};
}

testing::AssertionResult contains(const char *text, const std::string &expected) {
  if (std::string(text).find(expected) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "got '" << text << "', expected '" << expected << "'";
}

// Expects that no device exists, and that the reason names this function and code.
void expect_reason(const Found &found, const char *function, int code) {
  EXPECT_EQ(found.report.status, GUF_E_NO_DEVICE) << found.report.message;
  EXPECT_EQ(found.report.native_code, code);
  EXPECT_EQ(found.report.ndevices, 0);
  EXPECT_TRUE(contains(found.report.message, "no device: "));
  EXPECT_TRUE(contains(found.report.message, function));
  EXPECT_TRUE(contains(found.report.message, "(" + std::to_string(code) + ")"));
  EXPECT_STREQ(found.report.driver, pick("CUDA 13.0", "HIP 6.4"));
}

TEST(Probe, ADeviceIsFound) {
  const Found found = probe(simulated());
  EXPECT_EQ(found.report.status, GUF_OK) << found.report.message;
  EXPECT_EQ(found.report.ndevices, 1);
  EXPECT_STREQ(found.report.driver, pick("CUDA 13.0", "HIP 6.4"));
}

// Opening a plugin, as the list of backends does, must not open the driver.
TEST(Probe, NoFunctionIsCalledBefore) {
  const Found found = probe(simulated());
  EXPECT_EQ(found.report.library, 2) << "the driver's library was there before the probe";
  EXPECT_EQ(found.report.calls_before, 0u);
}

TEST(Probe, NoLibrary) {
  const Found found = probe({});
  if (found.report.library != 0) GTEST_SKIP() << "this machine has the vendor's driver";
  EXPECT_EQ(found.report.status, GUF_E_NO_DRIVER);
  EXPECT_TRUE(contains(found.report.message, pick("libcuda.so.1", "libamdhip64.so.7")));
  EXPECT_EQ(contains(found.report.message, "; also not found: libamdhip64.so.6, libamdhip64.so.5"),
            !is_cuda());
  EXPECT_TRUE(contains(found.report.message, "cannot be opened"));
}

TEST(Probe, TheToolkitsStub) {
  if (!is_cuda()) GTEST_SKIP() << "HIP has no stub";
  const Found found = probe(simulated("GUFUNC_SIM_FAULT=cuInit:1:34"));
  EXPECT_EQ(found.report.status, GUF_E_NO_DRIVER);
  EXPECT_EQ(found.report.native_code, 34);
  EXPECT_TRUE(contains(found.report.message, "stub"));
}

TEST(Probe, NoDevices) {
  const Found found = probe(simulated("GUFUNC_SIM_DEVICES=0"));
  EXPECT_EQ(found.report.status, GUF_E_NO_DEVICE);
  EXPECT_EQ(found.report.ndevices, 0);
  EXPECT_TRUE(contains(found.report.message, "no device: "));
}

TEST(Probe, EveryCodeOfTheFirstCalls) {
  for (const FaultCode &code : fault_codes()) {
    for (const char *const function :
         {pick("cuInit", "hipInit"), pick("cuDeviceGetCount", "hipGetDeviceCount")}) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(code.code));
      const Found found = probe(simulated("GUFUNC_SIM_FAULT=" + std::string(function) +
                                          ":1:" + std::to_string(code.code)));
      if (code.code == 34 && found.report.status == GUF_E_NO_DRIVER)
        continue;  // TheToolkitsStub
                   // tests this code
      expect_reason(found, function, code.code);
    }
  }
}

// A driver can have devices even if it fails to report its version or its function addresses.
TEST(Probe, CodesOfQueriesThatMayFail) {
  for (const int code : {1, 3, 4, 100, 500, 801, 999}) {
    for (const char *const function :
         {pick("cuDriverGetVersion", "hipRuntimeGetVersion"), "cuGetProcAddress_v2"}) {
      const Found found = probe(
          simulated("GUFUNC_SIM_FAULT=" + std::string(function) + ":0:" + std::to_string(code)));
      EXPECT_EQ(found.report.status, GUF_OK) << function << ": " << found.report.message;
      EXPECT_EQ(found.report.ndevices, 1);
      const bool version = std::string(function) != "cuGetProcAddress_v2";
      EXPECT_TRUE(contains(found.report.driver, version     ? "unknown version"
                                                : is_cuda() ? "CUDA 13.0"
                                                            : "HIP 6.4"));
    }
  }
}

// If a required function is missing, the message names it. Optional functions may be missing.
TEST(Probe, MissingFunctions) {
  std::ifstream file(is_cuda() ? GUFUNC_TEST_CUDA_API : GUFUNC_TEST_HIP_API);
  const std::regex row("X\\((\\w+, )?(cu\\w+|hip\\w+), (\\d+, \"(\\w*)\", )?(true|false)");
  int needed = 0, optional = 0;
  for (std::string line; std::getline(file, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, row)) continue;
    const std::string function = found[2].str() + found[4].str();
    SCOPED_TRACE(function);
    const Found without = probe(simulated("GUFUNC_SIM_MISSING=" + function));
    if (found[5] == "true") {
      ++needed;
      EXPECT_EQ(without.report.status, GUF_E_DRIVER_OLD);
      EXPECT_TRUE(contains(without.report.message, function));
      EXPECT_TRUE(contains(without.report.message, "expected"));
    } else {
      ++optional;
      EXPECT_EQ(without.report.status, GUF_OK) << without.report.message;
      EXPECT_EQ(without.report.ndevices, 1);
    }
  }
  EXPECT_GT(needed, 40);
  EXPECT_GT(optional, 7);
}

TEST(Probe, OldVersions) {
  const Found found =
      probe(simulated(pick("GUFUNC_SIM_VERSION=11020", "GUFUNC_SIM_VERSION=50221153")));
  EXPECT_EQ(found.report.status, GUF_OK) << found.report.message;
  EXPECT_EQ(found.report.ndevices, 1);
  EXPECT_STREQ(found.report.driver, pick("CUDA 11.2", "HIP 5.2"));
}

// A folder for copies of the simulated driver. The destructor deletes it.
class DriverCopies {
 public:
  DriverCopies() {
    std::string pattern = testing::TempDir() + "gufunc_drivers_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~DriverCopies() { std::filesystem::remove_all(folder_); }

  // Copies the driver to `name` and sets the copy's soname to `soname`, which must not be longer
  // than the original soname.
  std::string add(const std::string &name, const std::string &soname) const {
    const std::string own = pick("libcuda.so.1", "libamdhip64.so.6");
    std::ifstream source(std::string(GUFUNC_TEST_SIM_DIR "/") + own, std::ios::binary);
    std::stringstream content;
    content << source.rdbuf();
    std::string bytes = content.str();
    const size_t place = bytes.find(own + '\0');
    EXPECT_NE(place, std::string::npos) << own;
    EXPECT_LE(soname.size(), own.size());
    if (place != std::string::npos)
      bytes.replace(place, soname.size() + 1, soname.c_str(), soname.size() + 1);
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  const std::filesystem::path &folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

// Expects that the plugin uses the driver that the program has loaded, and loads no other copy.
void expect_loaded_is_used(const Settings &settings, const std::string &library) {
  const Found found = probe(settings, "loaded", library);
  EXPECT_EQ(found.report.status, GUF_OK) << found.report.message;
  EXPECT_EQ(found.report.library, 1);
  EXPECT_EQ(found.report.calls_before, 0u);
  EXPECT_GT(found.report.calls_after, 0u) << library << " was passed by";
}

// For example, a program is distributed with HIP 6 and runs on a machine with ROCm 7.
TEST(Probe, ALoadedVersionComesBeforeALaterOne) {
  if (is_cuda()) GTEST_SKIP() << "the driver of CUDA has one name";
  const DriverCopies copies;
  copies.add("libamdhip64.so.7", "libamdhip64.so.7");
  const std::string loaded = copies.add("elsewhere.so", "libamdhip64.so.6");
  expect_loaded_is_used({"LD_LIBRARY_PATH=" + copies.folder().string()}, loaded);
}

// Python wheels contain copies of drivers with a hash in the file name and an arbitrary soname.
TEST(Probe, ALoadedCopyOfAnotherNameIsUsed) {
  const DriverCopies copies;
  const std::string loaded =
      copies.add(pick("libcuda-1a2b3c.so.1", "libamdhip64-1a2b3c.so"), "libown.so");
  expect_loaded_is_used(simulated(), loaded);
}

// The plugin must not use another library of the vendor as the driver, even if its name begins like
// the name of the driver.
TEST(Probe, ANameThatOnlyBeginsAlikeIsPassedBy) {
  const DriverCopies copies;
  const std::string other = copies.add(pick("libcudart.so.12", "libamdhip64x.so.6"), "libother.so");
  const Found found = probe(simulated(), "loaded", other);
  EXPECT_EQ(found.report.status, GUF_OK) << found.report.message;
  EXPECT_EQ(found.report.calls_after, 0u);
}

// Probes Debian's HIP runtime, which is a real driver library, on a machine without a GPU.
TEST(Probe, TheRealRuntimeWithoutADevice) {
  if (is_cuda()) GTEST_SKIP() << "NVIDIA's driver is in no free archive";
  if (access(GUFUNC_TEST_HIP_RUNTIME "/libamdhip64.so.5", R_OK) != 0) {
    GTEST_SKIP() << "no " GUFUNC_TEST_HIP_RUNTIME "/libamdhip64.so.5: script/setup unpacks it";
  }
  if (access("/dev/kfd", F_OK) == 0) GTEST_SKIP() << "this machine may have an AMD GPU";
  const Found found = probe({"LD_LIBRARY_PATH=" GUFUNC_TEST_HIP_RUNTIME}, "", "libamdhip64.so.5");
  EXPECT_EQ(found.report.library, 2);
  EXPECT_EQ(found.report.status, GUF_E_NO_DEVICE);
  EXPECT_NE(found.report.native_code, 0);
  EXPECT_EQ(found.report.ndevices, 0);
  EXPECT_TRUE(contains(found.report.driver, "HIP 5.2"));
  EXPECT_TRUE(contains(found.report.message, "no device: hipInit failed with hipError"));
}

TEST(Probe, AForkedChildIsRefusedAndTheParentGoesOn) {
  const Found found = probe(simulated(), "fork");
  EXPECT_EQ(found.report.status, GUF_OK) << found.report.message;
  EXPECT_EQ(found.report.forked_wrong, 0);
  EXPECT_EQ(found.report.parent_wrong, 0);
}

}  // namespace
}  // namespace gufunc::gpu_test
