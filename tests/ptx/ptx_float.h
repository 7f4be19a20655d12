// SPDX-License-Identifier: Apache-2.0
// Floating-point types and arithmetic of PTX. Functions expect the default floating-point
// environment, and restore it.
#ifndef GUFUNC_TESTS_PTX_PTX_FLOAT_H
#define GUFUNC_TESTS_PTX_PTX_FLOAT_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ptx {

enum class Rounding : uint8_t { kNearest, kZero, kDown, kUp };

struct Half {
  uint16_t bits;
};
struct HalfPair {
  Half low, high;
};

double widen(Half value);
// Rounds to half precision. NaN becomes 0x7fff.
Half narrow_half(double value, Rounding rounding);

// Sets the rounding mode of the host while it exists.
class HostRounding {
 public:
  explicit HostRounding(Rounding rounding);
  ~HostRounding();
  HostRounding(const HostRounding &) = delete;
  HostRounding &operator=(const HostRounding &) = delete;

 private:
  bool changed_;
};

// Hides a value from the optimizer, so that no arithmetic moves across a change of the rounding
// mode.
template <class T>
inline T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

// Evaluates f() in a rounding mode.
template <Rounding kRounding, class F>
inline auto rounded(F f) {
  if constexpr (kRounding == Rounding::kNearest) {
    return f();
  } else {
    const HostRounding mode(kRounding);
    return opaque(f());
  }
}

// Replaces a NaN by the canonical NaN of single precision. PTX ISA, "Floating-Point Instructions":
// single-precision instructions return 0x7fffffff. In double precision the payload is unspecified.
inline float canonical(float value) {
  return std::isnan(value) ? std::bit_cast<float>(0x7FFF'FFFFu) : value;
}
inline double canonical(double value) {
  return value;
}
inline Half canonical(Half value) {
  return (value.bits & 0x7FFF) > 0x7C00 ? Half{0x7FFF} : value;
}

// Replaces a subnormal number by a zero of the same sign.
inline float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}
template <bool kFlush, class T>
inline T maybe_flushed(T value) {
  if constexpr (kFlush && std::is_same_v<T, float>) {
    return flushed(value);
  } else {
    return value;
  }
}

// Clamps to [0, 1]. NaN becomes +0.
template <bool kSaturate, class T>
inline T maybe_saturated(T value) {
  if constexpr (kSaturate) {
    return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
  } else {
    return value;
  }
}

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_FLOAT_H
