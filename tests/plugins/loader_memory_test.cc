// SPDX-License-Identifier: Apache-2.0
// Every allocation of a module's load fails once, those inside the dynamic loader too: the answer
// is GUF_E_NO_MEMORY, never that the file is bad.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" void *__libc_malloc(std::size_t size);
extern "C" void *__libc_calloc(std::size_t count, std::size_t size);
extern "C" void *__libc_realloc(void *place, std::size_t size);

namespace {

// Counts down; the allocation that takes it to 0 fails. Negative: none fails.
std::atomic<long> left{-1};

bool fails_now() {
  long seen = left.load();
  while (seen > 0 && !left.compare_exchange_weak(seen, seen - 1)) {
  }
  if (seen != 1) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" void *malloc(std::size_t size) {
  return fails_now() ? nullptr : __libc_malloc(size);
}
extern "C" void *calloc(std::size_t count, std::size_t size) {
  return fails_now() ? nullptr : __libc_calloc(count, size);
}
extern "C" void *realloc(void *place, std::size_t size) {
  return fails_now() ? nullptr : __libc_realloc(place, size);
}

namespace {

constexpr char kModule[] = GUFUNC_TEST_MODULES "/fork_sample.so";

guf_status load_and_forget(guf_error *error) {
  guf_module module = nullptr;
  const guf_status status = guf_module_load(nullptr, kModule, 0, &module, error);
  guf_module_release(module, nullptr);
  guf_poll(0, nullptr, nullptr);
  return status;
}

TEST(LoaderMemory, OfAModuleThatIsLoaded) {
  guf_error error = {};
  error.struct_size = sizeof error;
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
