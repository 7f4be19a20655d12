// SPDX-License-Identifier: Apache-2.0
// Makes each allocation fail once while a module is loaded or a backend is used for the first time,
// including allocations inside the dynamic loader. The call must return GUF_E_NO_MEMORY, and never
// report an invalid or missing file. The next call, with enough memory, must succeed.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/plugins/failing_malloc.h"
#include "tests/support/fresh_error.h"

namespace {

// The result of a process in which one allocation fails during the first use of the cpu backend.
enum Found { kSucceeded, kLackedMemory, kAnotherStatus, kRemembered };

int first_use_without(long k) {
  guf_error error = fresh_error();
  guf_device device = nullptr;
  left = k;
  const guf_status status = guf_device_get(nullptr, "cpu", &device, &error);
  const bool reached = left.load() <= 0;
  left = -1;
  // The call may succeed although an allocation failed.
  if (status == GUF_OK) return reached ? kLackedMemory : kSucceeded;
  if (status != GUF_E_NO_MEMORY) {
    std::fprintf(stderr, "allocation %ld: %d, %s\n", k, status, error.message);
    return kAnotherStatus;
  }
  const guf_status later = guf_device_get(nullptr, "cpu", &device, &error);
  if (later == GUF_OK) return kLackedMemory;
  std::fprintf(stderr, "after allocation %ld: %d, %s\n", k, later, error.message);
  return kRemembered;
}

// This process must not have used the library before, because each child tests the first use.
TEST(LoaderMemory, ABackendThatIsFirstUsed) {
  int failures = 0;
  bool reached_the_end = false;
  for (long k = 1; k < 10000 && !reached_the_end; ++k) {
    const pid_t child = fork();
    if (child == 0) _exit(first_use_without(k));
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << k << ": status " << status;
    const int found = WEXITSTATUS(status);
    EXPECT_LE(found, kLackedMemory) << "allocation " << k;
    if (found == kSucceeded) reached_the_end = true;
    if (found != kSucceeded) ++failures;
  }
  EXPECT_TRUE(reached_the_end);
  EXPECT_GT(failures, 30);
}

constexpr char kModule[] = GUFUNC_TEST_MODULES "/fork_sample.so";

guf_status load_and_forget(guf_error *error) {
  guf_module module = nullptr;
  const guf_status status = guf_module_load(nullptr, kModule, 0, &module, error);
  guf_module_release(module, nullptr);
  guf_poll(0, nullptr, nullptr);
  return status;
}

TEST(LoaderMemory, OfAModuleThatIsLoaded) {
  guf_error error = fresh_error();
  ASSERT_EQ(load_and_forget(&error), GUF_OK) << error.message;
  int failures = 0;
  for (long k = 1; k < 10000; ++k) {
    left = k;
    guf_module module = nullptr;
    const guf_status status = guf_module_load(nullptr, kModule, 0, &module, &error);
    const bool reached = left.load() <= 0;
    left = -1;
    guf_module_release(module, nullptr);
    guf_poll(0, nullptr, nullptr);
    if (status != GUF_OK) ++failures;
    EXPECT_TRUE(status == GUF_OK || status == GUF_E_NO_MEMORY)
        << "allocation " << k << ": " << status << ", " << error.message;
    if (!reached && status == GUF_OK) break;
  }
  EXPECT_GT(failures, 15);
  EXPECT_EQ(load_and_forget(&error), GUF_OK) << error.message;
}

}  // namespace
