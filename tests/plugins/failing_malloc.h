// SPDX-License-Identifier: Apache-2.0
// Replaces the allocators of the process, so that one chosen call fails. Only one source file of a
// program may include this header. Programs with sanitizers cannot include it, because sanitizers
// replace the same allocators.
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

// Number of allocations until one fails: each allocation decrements a positive number, and the
// allocation that makes the number 0 fails. If the number is 0 or negative, no allocation fails.
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
