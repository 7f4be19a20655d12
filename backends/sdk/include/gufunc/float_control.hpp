// SPDX-License-Identifier: Apache-2.0
// The floating-point control of a thread: rounding mode, flush-to-zero, exception masks, x87
// precision. Kernels are compiled for the default control, with which every thread starts. The
// library and the plugins use this file; docs/plugin_contract.md specifies which of the two sets
// the control.
#ifndef GUFUNC_FLOAT_CONTROL_HPP
#define GUFUNC_FLOAT_CONTROL_HPP

#include <cstdint>

namespace gufunc {

/** The control words of a thread. On x86-64 they include the exception flags of SSE. */
class FloatControl {
 public:
#if defined(__x86_64__)
  static FloatControl read() {
    FloatControl control;
    control.sse_ = __builtin_ia32_stmxcsr();
    asm volatile("fnstcw %0" : "=m"(control.x87_));
    return control;
  }

  bool is_default() const { return (sse_ & ~kFlags) == kDefaultSse && x87_ == kDefaultX87; }

  /** Sets the thread's control to the default. */
  static void set_default() { FloatControl().write(); }

  /** Sets the thread's control to this one. Raised exception flags stay raised, except that all
   * x87 flags are cleared if one of them would trap under this control. */
  void write() const {
    __builtin_ia32_ldmxcsr(sse_ | (__builtin_ia32_stmxcsr() & kFlags));
    write_x87();
  }
  /** Does the same as write(), but sets the exception flags of SSE to their values at read(). */
  void restore() const {
    __builtin_ia32_ldmxcsr(sse_);
    write_x87();
  }

 private:
  void write_x87() const {
    uint16_t status;
    asm volatile("fnstsw %0" : "=m"(status));
    if ((status & ~x87_ & kFlags) != 0) asm volatile("fnclex");
    asm volatile("fldcw %0" : : "m"(x87_) : "memory");
  }

  static constexpr uint32_t kFlags = 0x3F;
  static constexpr uint32_t kDefaultSse = 0x1F80;
  static constexpr uint16_t kDefaultX87 = 0x37F;
  uint32_t sse_ = kDefaultSse;
  uint16_t x87_ = kDefaultX87;
#elif defined(__aarch64__)
  static FloatControl read() {
    FloatControl control;
    asm volatile("mrs %0, fpcr" : "=r"(control.fpcr_));
    return control;
  }
  bool is_default() const { return fpcr_ == 0; }
  static void set_default() { FloatControl().write(); }
  void write() const { asm volatile("msr fpcr, %0" : : "r"(fpcr_) : "memory"); }
  void restore() const { write(); }

 private:
  uint64_t fpcr_ = 0;
#else
  static FloatControl read() { return {}; }
  bool is_default() const { return true; }
  static void set_default() {}
  void write() const {}
  void restore() const {}
#endif
};

/** Restores the default control of the thread after code that may have changed it. */
inline void ensure_default_float_control() {
  if (__builtin_expect(!FloatControl::read().is_default(), 0)) FloatControl::set_default();
}

/** Sets the default control until the end of the scope, then restores the thread's control. If the
 * thread already has the default, the cost is one read. Code in the scope must not change the
 * control. */
class DefaultFloatControl {
 public:
  DefaultFloatControl() : before_(FloatControl::read()) {
    if (__builtin_expect(!before_.is_default(), 0)) FloatControl::set_default();
  }
  ~DefaultFloatControl() {
    if (__builtin_expect(!before_.is_default(), 0)) before_.write();
  }
  DefaultFloatControl(const DefaultFloatControl &) = delete;
  DefaultFloatControl &operator=(const DefaultFloatControl &) = delete;

 private:
  const FloatControl before_;
};

/** At the end of the scope, restores the thread's control, including exception flags, even if code
 * in the scope has changed it. For example, the constructor of a library that was linked with
 * -ffast-math sets flush-to-zero. */
class KeepFloatControl {
 public:
  KeepFloatControl() : before_(FloatControl::read()) {}
  ~KeepFloatControl() { before_.restore(); }
  KeepFloatControl(const KeepFloatControl &) = delete;
  KeepFloatControl &operator=(const KeepFloatControl &) = delete;

 private:
  const FloatControl before_;
};

}  // namespace gufunc

#endif  // GUFUNC_FLOAT_CONTROL_HPP
