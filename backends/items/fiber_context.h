// SPDX-License-Identifier: Apache-2.0
// The registers of a fiber that does not run. Own assembly on x86-64 and aarch64: swapcontext asks
// the kernel for the signal mask each time, which costs ten times as much.
#ifndef GUFUNC_BACKENDS_ITEMS_FIBER_CONTEXT_H
#define GUFUNC_BACKENDS_ITEMS_FIBER_CONTEXT_H

#include <cstddef>

#if !defined(GUFUNC_ITEMS_UCONTEXT) && \
    !(defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)))
#define GUFUNC_ITEMS_UCONTEXT 1
#endif

#if defined(GUFUNC_ITEMS_UCONTEXT)
#include <ucontext.h>
#endif

// ThreadSanitizer counts calls per fiber: functions within which fibers change are not for it.
#define GUFUNC_ITEMS_NO_RACE_CHECK __attribute__((no_sanitize("thread")))

namespace gufunc::items {

#if defined(GUFUNC_ITEMS_UCONTEXT)
struct Context {
  ucontext_t registers = {};
};
#else
struct Context {
  void *stack_pointer = nullptr;  // everything else lies on the stack
};
#endif

// Makes switch_context(…, context) call main(argument) on the given stack; main never returns.
void make_context(Context &context, char *stack, size_t bytes, void (*main)(void *),
                  void *argument);

// Saves the registers that a call preserves, floating-point control included, and loads others.
GUFUNC_ITEMS_NO_RACE_CHECK void switch_context(Context &from, const Context &to);

}  // namespace gufunc::items

#endif  // GUFUNC_BACKENDS_ITEMS_FIBER_CONTEXT_H
