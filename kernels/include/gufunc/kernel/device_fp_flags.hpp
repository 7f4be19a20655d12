// SPDX-License-Identifier: Apache-2.0
// Floating-point flags of one step (docs/fp-flags.md), computed from the bits of its operands and
// result.
#ifndef GUFUNC_KERNEL_DEVICE_FP_FLAGS_HPP
#define GUFUNC_KERNEL_DEVICE_FP_FLAGS_HPP

#include "device_block.hpp"
#include "time.hpp"
#include "types.hpp"

namespace guf {
namespace device {

// The values of guf_fp_flag. The status word contains these bits and kStatusFailed. The field
// `fp_flags` of a block selects the flags to compute. Host code selects kFpUnderflow only for
// functions whose tiny results are rounded, and kFpIntegerDivide only for functions whose last
// input is a divisor.
enum fp_flag_bit : u32 {
  kFpDivide = 1u << 0,
  kFpOverflow = 1u << 1,
  kFpUnderflow = 1u << 2,
  kFpInvalid = 1u << 3,
  kFpIntegerDivide = 1u << 4
};

enum value_class : u32 {
  kIsNaN = 1u << 0,
  kIsInfinite = 1u << 1,
  kIsZero = 1u << 2,
  kIsTiny = 1u << 3  // magnitude below the smallest normal number, also zero; only for real types
};

namespace detail {

template <class T>
GUF_FN u32 classify_float(T x) {
  typedef typename float_bits<T>::word Bits;
  constexpr Bits infinity = float_bits<T>::infinity;
  constexpr Bits smallest_normal = float_bits<T>::smallest_normal;
  const Bits sign = (Bits)((Bits)1 << (8 * sizeof(Bits) - 1));
  const Bits bits = (Bits)(bit_cast<Bits>(x) & (Bits)~sign);
  return (bits > infinity ? kIsNaN : 0u) | (bits == infinity ? kIsInfinite : 0u) |
         (bits == 0 ? kIsZero : 0u) | (bits < smallest_normal ? kIsTiny : 0u);
}

template <class T>
struct classifier {  // integers and bool have no class
  static constexpr bool any = is_float<T>::value || is_stored_float<T>::value;
  static GUF_FN u32 go(T x) {
    if constexpr (any) {
      return classify_float(x);
    } else {
      return 0;
    }
  }
};
template <class R>
struct classifier<complex<R>> {
  static constexpr bool any = true;
  static GUF_FN u32 go(complex<R> z) {
    const u32 re = classifier<R>::go(z.re), im = classifier<R>::go(z.im);
    return ((re | im) & (u32)(kIsNaN | kIsInfinite)) | (re & im & (u32)kIsZero);
  }
};
template <>
struct classifier<datetime> {
  static constexpr bool any = true;
  static GUF_FN u32 go(datetime x) {
    return (x.value == limits<i64>::lowest ? kIsNaN : 0u) | (x.value == 0 ? kIsZero : 0u);
  }
};
template <>
struct classifier<timedelta> {
  static constexpr bool any = true;
  static GUF_FN u32 go(timedelta x) { return classifier<datetime>::go(datetime{x.value}); }
};

}  // namespace detail

// Whether elements of type T have a class. Integers and bool have none.
template <class T>
GUF_FN constexpr bool has_class() {
  return detail::classifier<T>::any;
}
template <class T>
GUF_FN u32 classify(T x) {
  return detail::classifier<T>::go(x);
}

// Returns the flags of an item. `seen` contains the classes (NaN, infinite, zero, tiny) of all its
// operands, and `result_class` is the class of its result. If `zero_is_pole` is true, an infinite
// result with a zero operand raises "divide by zero" instead of overflow.
GUF_FN u32 fp_flags_of(u32 seen, u32 result_class, bool zero_is_pole) {
  if ((result_class & kIsNaN) != 0 && (seen & kIsNaN) == 0) return kFpInvalid;
  if ((seen & (kIsNaN | kIsInfinite)) != 0) return 0;
  const bool zero = (seen & kIsZero) != 0;
  u32 fp_flags = 0;
  if ((result_class & kIsInfinite) != 0) fp_flags = zero_is_pole && zero ? kFpDivide : kFpOverflow;
  if ((result_class & kIsTiny) != 0 && !zero) fp_flags |= kFpUnderflow;
  return fp_flags;
}

// Whether a divisor of memory type T is the integer 0; datetime types count as integers.
template <class T>
GUF_FN bool is_integer_zero(T x) {
  if constexpr (is_time<T>::value) {
    return x.value == 0;
  } else if constexpr (is_same<T, b8>::value || has_class<T>()) {
    return false;
  } else {
    return x == T(0);
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_FP_FLAGS_HPP
