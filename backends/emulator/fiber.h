// SPDX-License-Identifier: Apache-2.0
// Stacks of work-items and the switch between them. The function of a fiber never returns: it ends
// with finish_and_switch, or the fiber is never entered again.
#ifndef GUFUNC_BACKENDS_EMULATOR_FIBER_H
#define GUFUNC_BACKENDS_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

#include "backends/emulator/fiber_context.h"

namespace gufunc::emulator {

// The function that a fiber runs.
using FiberMain = void (*)(void *argument);

// One context of execution: a fiber with its own stack, or the thread that entered the first fiber.
struct Fiber {
  Context context;
  char *stack = nullptr;  // lowest usable byte; NULL for the thread itself
  size_t stack_bytes = 0;
  void *fake_stack = nullptr;  // for AddressSanitizer
  void *race_fiber = nullptr;  // for ThreadSanitizer
};

// Adjacent stacks, each above a guard page.
// Threads  an object is used by one thread only.
class FiberStacks {
 public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks() { release(); }

  // Creates at least `count` fibers and replaces existing ones. Returns false if there is no
  // memory.
  bool reserve(uint32_t count);
  Fiber &at(uint32_t index) { return fibers_[index]; }

  // Frees the stacks and abandons everything that is still on them.
  void release();

 private:
  Fiber *fibers_ = nullptr;
  uint32_t count_ = 0;
  char *memory_ = nullptr;
  size_t bytes_ = 0;
};

// Makes `fiber` call main(argument) at the next switch to it, also if it ran another
// function before.
void prepare_fiber(Fiber &fiber, FiberMain main, void *argument);

// Records the data of the calling thread that sanitizers need. `here` represents the thread.
void adopt_thread(Fiber &here);

// Saves the caller's state in `from` and resumes `to`.
void switch_fiber(Fiber &from, Fiber &to);

// The same at the end of a fiber's function: `from` is not entered again before prepare_fiber.
void finish_and_switch(Fiber &from, Fiber &to);

// Must be the first call in a fiber's function.
void fiber_entered();

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_FIBER_H
