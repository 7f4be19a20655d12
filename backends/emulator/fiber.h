// SPDX-License-Identifier: Apache-2.0
// The stacks of work-items and the switch between work-items. The function of a fiber never
// returns: it ends with finish_and_switch, or the fiber is abandoned.
#ifndef GUFUNC_BACKENDS_EMULATOR_FIBER_H
#define GUFUNC_BACKENDS_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

#include "backends/emulator/fiber_context.h"

namespace gufunc::emulator {

// The type of the function that a fiber runs.
using FiberMain = void (*)(void *argument);

// A context of execution: a fiber with its own stack, or the thread that entered the first fiber.
struct Fiber {
  Context context;
  char *stack = nullptr;  // lowest usable byte; NULL for a thread
  size_t stack_bytes = 0;
  void *fake_stack = nullptr;  // used by AddressSanitizer
  void *race_fiber = nullptr;  // used by ThreadSanitizer
};

// Adjacent stacks, each above its own guard page.
// Threads  an object is used by one thread only
class FiberStacks {
 public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks() { release(); }

  // Ensures that there are at least `count` fibers. If there are fewer, replaces all of them.
  // Returns false if there is no memory.
  bool reserve(uint32_t count);
  Fiber &at(uint32_t index) { return fibers_[index]; }

  // Frees the stacks, which abandons the fibers that use them.
  void release();

 private:
  Fiber *fibers_ = nullptr;
  uint32_t count_ = 0;
  char *memory_ = nullptr;
  size_t bytes_ = 0;
};

// Makes `fiber` call main(argument) at the next switch to it.
// The fiber may have run another function before.
void prepare_fiber(Fiber &fiber, FiberMain main, void *argument);

// Stores the data that sanitizers need about the calling thread in `here`, which represents the
// thread.
void adopt_thread(Fiber &here);

// Saves the state of the caller in `from` and resumes `to`.
void switch_fiber(Fiber &from, Fiber &to);

// Resumes `to` at the end of the function of `from`. `from` must not be resumed before
// prepare_fiber().
void finish_and_switch(Fiber &from, Fiber &to);

// Must be the first call in the function of a fiber.
void fiber_entered();

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_FIBER_H
