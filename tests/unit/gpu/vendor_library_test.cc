// SPDX-License-Identifier: Apache-2.0
// Makes each allocation of the loader fail while it opens a vendor's library. The error must be
// GUF_E_NO_MEMORY, and must not report a missing driver. Each case runs in its own process, because
// a library is never closed.
#include "backends/gpu/runtime/vendor_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/plugins/failing_malloc.h"
#include "tests/support/fresh_error.h"

namespace gufunc::gpu {
namespace {

constexpr const char *kNames[] = {"libnot_there.so.7", GUFUNC_TEST_DRIVER};

enum Found { kSucceeded, kLackedMemory, kAnotherStatus };

int open_without(long k) {
  guf_error error = fresh_error();
  VendorLibrary library;
  left = k;
  const guf_status status = library.open(kNames, 2, &error);
  const bool reached = left.load() <= 0;
  left = -1;
  if (status == GUF_OK) return reached ? kLackedMemory : kSucceeded;
  VendorLibrary second;
  if (status == GUF_E_NO_MEMORY && second.open(kNames, 2, &error) == GUF_OK) return kLackedMemory;
  std::fprintf(stderr, "allocation %ld: %d, %s\n", k, status, error.message);
  return kAnotherStatus;
}

void sweep(int at_least) {
  int failures = 0;
  bool reached_the_end = false;
  for (long k = 1; k < 1000 && !reached_the_end; ++k) {
    const pid_t child = fork();
    if (child == 0) _exit(open_without(k));
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "allocation " << k << ": status " << status;
    EXPECT_NE(WEXITSTATUS(status), kAnotherStatus) << "allocation " << k;
    if (WEXITSTATUS(status) == kSucceeded) reached_the_end = true;
    if (WEXITSTATUS(status) == kLackedMemory) ++failures;
  }
  EXPECT_TRUE(reached_the_end);
  EXPECT_GE(failures, at_least);
}

TEST(VendorLibrary, LacksMemoryWhereItIsOpened) {
  sweep(10);
}

TEST(VendorLibrary, LacksMemoryWhereItIsLoadedAlready) {
  ASSERT_NE(dlopen(GUFUNC_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  sweep(1);
}

TEST(VendorLibrary, AMissingOneIsNoDriver) {
  guf_error error = fresh_error();
  VendorLibrary library;
  EXPECT_EQ(library.open(kNames, 1, &error), GUF_E_NO_DRIVER) << error.message;
}

}  // namespace
}  // namespace gufunc::gpu
