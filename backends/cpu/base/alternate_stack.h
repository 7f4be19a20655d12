// SPDX-License-Identifier: Apache-2.0
// An alternate signal stack for the threads of the cpu backend.
#ifndef GUFUNC_BACKENDS_CPU_BASE_ALTERNATE_STACK_H
#define GUFUNC_BACKENDS_CPU_BASE_ALTERNATE_STACK_H

#include <csignal>
#include <cstddef>

namespace gufunc::cpu {

// The alternate stack is an array on the thread's own stack, near its base. Signal handlers run on
// the alternate stack, so that a program's handler can report that a user's loop overflowed the
// thread's stack. A thread that already has an alternate stack, for example from a sanitizer, keeps
// that stack.
class AlternateStack {
 public:
  static constexpr size_t kBytes = size_t{64} << 10;

  AlternateStack() {
    stack_t stack = {};
    if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) return;
    stack.ss_sp = bytes_;
    stack.ss_size = kBytes;
    stack.ss_flags = 0;
    set_ = sigaltstack(&stack, nullptr) == 0;
  }
  AlternateStack(const AlternateStack &) = delete;
  AlternateStack &operator=(const AlternateStack &) = delete;
  ~AlternateStack() {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    if (set_) sigaltstack(&none, nullptr);
  }

 private:
  bool set_ = false;
  alignas(64) char bytes_[kBytes];
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_BASE_ALTERNATE_STACK_H
