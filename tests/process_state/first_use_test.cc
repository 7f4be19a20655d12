// SPDX-License-Identifier: Apache-2.0
// Tests the first use of the library in a process that has too few free file descriptors or too
// little address space. The call must report the missing resource. The next call, for which
// enough is available, must succeed.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace {

// Leaves the process only `left_free` free file descriptors, until this object is destroyed.
class FewDescriptors {
 public:
  static constexpr int kMax = 20;
  static constexpr guf_status kStatus = GUF_E_IO;
  static constexpr int kCode = EMFILE;

  explicit FewDescriptors(int left_free) {
    const rlimit limit = {32, 32};
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = 0; (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) open_.push_back(fd);
    for (int i = 0; i < left_free && !open_.empty(); ++i) {
      close(open_.back());
      open_.pop_back();
    }
  }
  ~FewDescriptors() {
    for (const int fd : open_) close(fd);
  }
  FewDescriptors(const FewDescriptors &) = delete;
  FewDescriptors &operator=(const FewDescriptors &) = delete;

 private:
  std::vector<int> open_;
};

// Leaves the process only `steps` * 128 KiB of address space, until this object is destroyed.
class LittleMemory {
 public:
  static constexpr int kMax = 1000;
  static constexpr guf_status kStatus = GUF_E_NO_MEMORY;
  static constexpr int kCode = 0;  // most failed allocations have no native code

  explicit LittleMemory(int steps) {
    getrlimit(RLIMIT_AS, &before_);
    unsigned long pages = 0;
    FILE *const statm = std::fopen("/proc/self/statm", "re");
    if (statm == nullptr || std::fscanf(statm, "%lu", &pages) != 1) _exit(127);
    std::fclose(statm);
    const rlim_t used = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
    const rlimit limit = {used + static_cast<rlim_t>(steps) * 128 * 1024, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }
  LittleMemory(const LittleMemory &) = delete;
  LittleMemory &operator=(const LittleMemory &) = delete;

 private:
  rlimit before_ = {};
};

using Use = std::function<guf_status(guf_error *)>;

// The result of a process that lacked a resource when it first used the library.
enum Found { kSucceeded, kReported, kUnclear, kRemembered };

template <class Shortage>
int use_with(int amount, const Use &use) {
  guf_error error = fresh_error();
  guf_status status = GUF_OK;
  {
    const Shortage shortage(amount);
    status = use(&error);
  }
  if (status == GUF_OK) return kSucceeded;
  const bool names_it =
      Shortage::kCode == 0 || (error.native_code == Shortage::kCode &&
                               std::strstr(error.message, std::strerror(Shortage::kCode)));
  if (status != Shortage::kStatus || !names_it) {
    std::fprintf(stderr, "amount %d: status %d (%d), %s\n", amount, status, error.native_code,
                 error.message);
    return kUnclear;
  }
  if (use(&error) == GUF_OK) return kReported;
  std::fprintf(stderr, "after amount %d: %s\n", amount, error.message);
  return kRemembered;
}

// Makes the first use of the library in one child process per amount of the resource, with
// increasing amounts, until an amount suffices. The parent process must not use the library,
// because a child inherits the library's state.
template <class Shortage>
void expect_another_try(const Use &use) {
  int failures = 0;
  for (int amount = 0;; ++amount) {
    ASSERT_LT(amount, Shortage::kMax);
    const pid_t child = fork();
    if (child == 0) _exit(use_with<Shortage>(amount, use));
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "amount " << amount << ": status " << status;
    const int found = WEXITSTATUS(status);
    ASSERT_LE(found, kReported) << "amount " << amount;
    if (found == kSucceeded) break;
    ++failures;
  }
  EXPECT_GT(failures, 0);
}

guf_status open_device(const char *spec, guf_error *error) {
  guf_device device = nullptr;
  return guf_device_get(nullptr, spec, &device, error);
}

guf_status negate(guf_error *error) {
  float in[] = {1, 2, 3}, out[3] = {};
  const int64_t shape[] = {3};
  guf_tensor tensors[2] = {};
  for (int i = 0; i < 2; ++i) {
    tensors[i].struct_size = sizeof(guf_tensor);
    tensors[i].dtype = GUF_F32;
    tensors[i].ndim = 1;
    tensors[i].shape = shape;
    tensors[i].address = reinterpret_cast<uint64_t>(i == 0 ? in : out);
  }
  const guf_status status = guf_apply(nullptr, "negative", 2, tensors, error);
  return status == GUF_OK && out[2] != -3 ? GUF_E_INTERNAL : status;
}

TEST(FirstUse, OfACallWithoutDescriptors) {
  expect_another_try<FewDescriptors>(negate);
}

TEST(FirstUse, OfADeviceWithoutDescriptors) {
  expect_another_try<FewDescriptors>([](guf_error *error) { return open_device("cpu", error); });
}

// A context keeps the automatic device that it has chosen, so a temporary lack of a resource must
// not make the context choose another device. With a simulated driver, the expected device is not
// the cpu.
TEST(FirstUse, OfTheAutomaticDeviceWithoutDescriptors) {
  const char *const simulated = secure_getenv("GUFUNC_TEST_AUTO");
  const std::string expected = simulated == nullptr ? "cpu" : simulated;
  expect_another_try<FewDescriptors>([&](guf_error *error) -> guf_status {
    guf_device device = nullptr;
    const guf_status status = guf_device_get(nullptr, "auto", &device, error);
    guf_device_info info = {};
    info.struct_size = sizeof info;
    if (status != GUF_OK || guf_device_get_info(device, &info, error) != GUF_OK) return status;
    return info.backend == expected ? GUF_OK : GUF_E_INTERNAL;
  });
}

TEST(FirstUse, OfTheListWithoutDescriptors) {
  expect_another_try<FewDescriptors>([](guf_error *error) {
    uint32_t count = 0;
    const guf_status status = guf_backend_count(&count, error);
    return status == GUF_OK && count == 0 ? GUF_E_INTERNAL : status;
  });
}

// All backends are probed. A backend without a driver is described as not usable.
TEST(FirstUse, OfAllBackendsWithoutDescriptors) {
  expect_another_try<FewDescriptors>([](guf_error *error) {
    uint32_t count = 0;
    guf_status status = guf_backend_count(&count, error);
    for (uint32_t i = 0; status == GUF_OK && i < count; ++i) {
      guf_backend_info info = {};
      info.struct_size = sizeof info;
      status = guf_backend_get_info(i, 1, &info, error);
      const bool is_shortage = info.state == GUF_E_IO || info.state == GUF_E_NO_MEMORY;
      if (status == GUF_OK && is_shortage) status = GUF_E_INTERNAL;
    }
    return status;
  });
}

// Sanitizers reserve more address space than this test leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(FirstUse, OfACallWithoutMemory) {
  expect_another_try<LittleMemory>(negate);
}
#endif

}  // namespace
