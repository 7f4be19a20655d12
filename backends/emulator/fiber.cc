// SPDX-License-Identifier: Apache-2.0
#include "backends/emulator/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GUFUNC_EMULATOR_ASAN 1
#elif __has_feature(thread_sanitizer)
#define GUFUNC_EMULATOR_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GUFUNC_EMULATOR_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define GUFUNC_EMULATOR_TSAN 1
#endif

#if defined(GUFUNC_EMULATOR_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(GUFUNC_EMULATOR_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace gufunc::emulator {
namespace {

// The stack size of a fiber. Instrumented stack frames are several times larger.
#if defined(GUFUNC_EMULATOR_ASAN) || defined(GUFUNC_EMULATOR_TSAN)
constexpr size_t kStackBytes = 256u << 10;
#else
constexpr size_t kStackBytes = 64u << 10;
#endif

// Stacks have different offsets from their page, because stack tops with equal offsets would
// all use the same set of the cache.
constexpr size_t kColours = 32, kColourBytes = 128;

#if defined(GUFUNC_EMULATOR_ASAN)
inline void announce_switch(void **fake_stack, const Fiber &, const Fiber &to) {
  __sanitizer_start_switch_fiber(fake_stack, to.stack, to.stack_bytes);
}
inline void switch_done(void *fake_stack) {
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}
#elif defined(GUFUNC_EMULATOR_TSAN)
// For ThreadSanitizer, all fibers of a thread are one fiber, because a switch between 1024 separate
// fibers takes 25 us. ThreadSanitizer therefore treats the work-items of a block as sequential
// code. The calling thread is a separate fiber, so that its history does not accumulate abandoned
// stacks.
GUFUNC_EMULATOR_NO_RACE_CHECK inline void announce_switch(void **, const Fiber &from,
                                                          const Fiber &to) {
  if (from.race_fiber != to.race_fiber) __tsan_switch_to_fiber(to.race_fiber, 0);
}
GUFUNC_EMULATOR_NO_RACE_CHECK inline void switch_done(void *) {}
#else
inline void announce_switch(void **, const Fiber &, const Fiber &) {}
inline void switch_done(void *) {}
#endif

}  // namespace

bool FiberStacks::reserve(uint32_t count) {
  if (count <= count_) return true;
  release();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t stride = page + kStackBytes;
  void *memory = mmap(nullptr, stride * count, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<char *>(memory);
  bytes_ = stride * count;
  fibers_ = new (std::nothrow) Fiber[count];
  if (fibers_ == nullptr) {
    release();
    return false;
  }
  count_ = count;
#if defined(GUFUNC_EMULATOR_TSAN)
  void *const race_fiber = __tsan_create_fiber(0);
#endif
  for (uint32_t i = 0; i < count; ++i) {
    if (mprotect(memory_ + i * stride, page, PROT_NONE) != 0) {
      release();
      return false;
    }
    fibers_[i].stack = memory_ + i * stride + page;
    fibers_[i].stack_bytes = kStackBytes - (i % kColours) * kColourBytes;
#if defined(GUFUNC_EMULATOR_TSAN)
    fibers_[i].race_fiber = race_fiber;
#endif
  }
  return true;
}

void FiberStacks::release() {
#if defined(GUFUNC_EMULATOR_TSAN)
  if (count_ != 0 && fibers_[0].race_fiber != nullptr) __tsan_destroy_fiber(fibers_[0].race_fiber);
#elif defined(GUFUNC_EMULATOR_ASAN)
  // Clears the shadow memory, so that sanitizers do not find the old frames
  // at the next use of these addresses.
  if (memory_ != nullptr) __asan_unpoison_memory_region(memory_, bytes_);
#endif
  if (memory_ != nullptr) munmap(memory_, bytes_);
  delete[] fibers_;
  fibers_ = nullptr;
  memory_ = nullptr;
  count_ = 0;
}

void prepare_fiber(Fiber &fiber, FiberMain main, void *argument) {
#if defined(GUFUNC_EMULATOR_ASAN)
  __asan_unpoison_memory_region(fiber.stack, fiber.stack_bytes);
#endif
  fiber.fake_stack = nullptr;
  make_context(fiber.context, fiber.stack, fiber.stack_bytes, main, argument);
}

void adopt_thread(Fiber &here) {
#if defined(GUFUNC_EMULATOR_ASAN)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void *lowest = nullptr;
  pthread_attr_getstack(&attributes, &lowest, &here.stack_bytes);
  here.stack = static_cast<char *>(lowest);
  pthread_attr_destroy(&attributes);
#elif defined(GUFUNC_EMULATOR_TSAN)
  here.race_fiber = __tsan_get_current_fiber();
#else
  static_cast<void>(here);
#endif
}

GUFUNC_EMULATOR_NO_RACE_CHECK void switch_fiber(Fiber &from, Fiber &to) {
  announce_switch(&from.fake_stack, from, to);
  switch_context(from.context, to.context);
  switch_done(from.fake_stack);
}

GUFUNC_EMULATOR_NO_RACE_CHECK void finish_and_switch(Fiber &from, Fiber &to) {
  announce_switch(nullptr, from, to);
  switch_context(from.context, to.context);
}

GUFUNC_EMULATOR_NO_RACE_CHECK void fiber_entered() {
  switch_done(nullptr);
}

}  // namespace gufunc::emulator
