// SPDX-License-Identifier: Apache-2.0
// Keeps the thread's floating-point control as it was: libraries linked with fast-math set
// flush-to-zero in a constructor, and that would change the caller's own results.
#ifndef GUFUNC_CORE_BACKEND_FLOAT_STATE_H
#define GUFUNC_CORE_BACKEND_FLOAT_STATE_H

#include <cstdint>

namespace gufunc::backend {

// Saves at construction, restores at destruction.
class FloatState {
 public:
  FloatState() : saved_(read()) {}
  ~FloatState() { write(saved_); }
  FloatState(const FloatState &) = delete;
  FloatState &operator=(const FloatState &) = delete;

 private:
#if defined(__x86_64__)
  using Word = uint32_t;
  static Word read() { return __builtin_ia32_stmxcsr(); }
  static void write(Word word) { __builtin_ia32_ldmxcsr(word); }
#elif defined(__aarch64__)
  using Word = uint64_t;
  static Word read() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
  using Word = uint32_t;
  static Word read() { return 0; }
  static void write(Word) {}
#endif
  const Word saved_;
};

}  // namespace gufunc::backend

#endif  // GUFUNC_CORE_BACKEND_FLOAT_STATE_H
