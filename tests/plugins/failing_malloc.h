// SPDX-License-Identifier: Apache-2.0
// Replaces the process's allocators with versions of which one call fails. One source file of a
// program may include the header. Sanitizers have their own allocators.
#ifndef GUFUNC_TESTS_PLUGINS_FAILING_MALLOC_H
#define GUFUNC_TESTS_PLUGINS_FAILING_MALLOC_H

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

extern "C" void *__libc_malloc(std::size_t size);
extern "C" void *__libc_calloc(std::size_t count, std::size_t size);
extern "C" void *__libc_realloc(void *place, std::size_t size);

namespace {

// Decremented by each allocation; the allocation that makes it 0 fails. If negative, no allocation
// fails.
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

#endif  // GUFUNC_TESTS_PLUGINS_FAILING_MALLOC_H
