// SPDX-License-Identifier: Apache-2.0
// Floating-point control words that a program may have set before a call.
#ifndef GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORDS_H
#define GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORDS_H

#include <cstdint>
#include <vector>

struct FloatWord {
  const char *name;
  uint32_t mxcsr;
  uint16_t x87;
};

inline constexpr uint32_t kMxcsrFlags = 0x3F;
inline constexpr FloatWord kDefaultWord = {"default", 0x1F80, 0x37F};
inline const std::vector<FloatWord> kHostileWords = {
    {"flush to zero", 0x9F80, 0x37F},
    {"denormals are zero", 0x1FC0, 0x37F},
    {"as -ffast-math sets it", 0x9FC0, 0x37F},
    {"downward", 0x3F80, 0x77F},
    {"upward", 0x5F80, 0xB7F},
    {"toward zero", 0x7F80, 0xF7F},
    {"all exceptions trap", 0x0000, 0x340},
    {"x87 of 24 bits", 0x1F80, 0x07F},
    {"x87 alone upward", 0x1F80, 0xB7F},
    {"upward, flushed, trapping", 0xC040, 0x840},
};

inline FloatWord read_word() {
  FloatWord word = {"read", __builtin_ia32_stmxcsr(), 0};
  asm volatile("fnstcw %0" : "=m"(word.x87));
  return word;
}
inline void set_word(const FloatWord &word) {
  asm volatile("fnclex");
  __builtin_ia32_ldmxcsr(word.mxcsr);
  asm volatile("fldcw %0" : : "m"(word.x87));
}
inline bool same_control(const FloatWord &a, const FloatWord &b) {
  return ((a.mxcsr ^ b.mxcsr) & ~kMxcsrFlags) == 0 && a.x87 == b.x87;
}

// Sets a control word of the thread until the end of a scope.
class WithWord {
 public:
  explicit WithWord(const FloatWord &word) : before_(read_word()) { set_word(word); }
  ~WithWord() { set_word(before_); }
  WithWord(const WithWord &) = delete;
  WithWord &operator=(const WithWord &) = delete;

 private:
  const FloatWord before_;
};

#endif  // GUFUNC_TESTS_PROCESS_STATE_FLOAT_WORDS_H
