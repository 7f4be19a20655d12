// SPDX-License-Identifier: Apache-2.0
// The registers of a fiber that is not running, and the function that switches between fibers. The
// function is written in assembly for x86-64 and aarch64, because swapcontext sets the signal mask
// with a system call and therefore takes ten times as long.
#ifndef GUFUNC_BACKENDS_EMULATOR_FIBER_CONTEXT_H
#define GUFUNC_BACKENDS_EMULATOR_FIBER_CONTEXT_H

#include <cstddef>

#if !defined(GUFUNC_EMULATOR_UCONTEXT) && \
    !(defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)))
#define GUFUNC_EMULATOR_UCONTEXT 1
#endif

#if defined(GUFUNC_EMULATOR_UCONTEXT)
#include <ucontext.h>
#endif

// ThreadSanitizer tracks the call stack of each fiber,
// so functions that switch fibers must not be instrumented.
#define GUFUNC_EMULATOR_NO_RACE_CHECK __attribute__((no_sanitize("thread")))

namespace gufunc::emulator {

#if defined(GUFUNC_EMULATOR_UCONTEXT)
struct Context {
  ucontext_t registers = {};
};
#else
struct Context {
  void *stack_pointer = nullptr;  // all other registers are on the stack
};
#endif

// Initialises a context so that a switch to it calls main(argument) on the given stack.
// main must never return.
void make_context(Context &context, char *stack, size_t bytes, void (*main)(void *),
                  void *argument);

// Saves the callee-saved registers, including the floating-point control,
// in `from` and restores the registers of `to`.
GUFUNC_EMULATOR_NO_RACE_CHECK void switch_context(Context &from, const Context &to);

}  // namespace gufunc::emulator

#endif  // GUFUNC_BACKENDS_EMULATOR_FIBER_CONTEXT_H
