// SPDX-License-Identifier: Apache-2.0
// Stacks of work-items and the switch between them. A fiber runs a function that never returns; it
// is left for good by finish_and_switch, or simply never entered again.
#ifndef GUFUNC_BACKENDS_ITEMS_FIBER_H
#define GUFUNC_BACKENDS_ITEMS_FIBER_H

#include <cstddef>
#include <cstdint>

#include "backends/items/fiber_context.h"

namespace gufunc::items {

// Runs on a fiber.
using FiberMain = void (*)(void *argument);

// One line of control: a fiber with a stack of its own, or the thread that entered the first one.
struct Fiber {
  Context context;
  char *stack = nullptr;  // lowest usable byte; none for the thread's own
  size_t stack_bytes = 0;
  void *fake_stack = nullptr;  // AddressSanitizer's
  void *race_fiber = nullptr;  // ThreadSanitizer's
};

// Stacks that lie side by side, each above a page that may not be touched.
// Threads  belongs to one.
class FiberStacks {
 public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks() { release(); }

  // Makes at least `count` fibers; those that were there are replaced. False: no memory.
  bool reserve(uint32_t count);
  Fiber &at(uint32_t index) { return fibers_[index]; }

  // Forgets the stacks and whatever still stands on them.
  void release();

 private:
  Fiber *fibers_ = nullptr;
  uint32_t count_ = 0;
  char *memory_ = nullptr;
  size_t bytes_ = 0;
};

// Makes `fiber` call main(argument) when it is next switched to, whatever it did before.
void prepare_fiber(Fiber &fiber, FiberMain main, void *argument);

// `here` is the thread's own line of control: learns what sanitizers have to know of it.
void adopt_thread(Fiber &here);

// Saves the caller's state in `from` and goes on where `to` stands.
void switch_fiber(Fiber &from, Fiber &to);

// The same at the end of a fiber's function: `from` is not entered again before prepare_fiber.
void finish_and_switch(Fiber &from, Fiber &to);

// The first thing that a fiber's function calls.
void fiber_entered();

}  // namespace gufunc::items

#endif  // GUFUNC_BACKENDS_ITEMS_FIBER_H
