// SPDX-License-Identifier: Apache-2.0
// floor_divide, remainder, divmod, fmod, gcd and lcm. The result of remainder has the sign of the
// divisor. For integers, a division by zero yields 0, and the smallest integer divided by -1 is
// itself, with the remainder 0.
//
// Floor division of integers without a division instruction, because x86-64 and Armv8-A
// without SVE have no vector instruction for it. With i = 1/y, the quotient is x i + |i|/2 - 1/2,
// rounded to the nearest integer. The exact value differs from a tie by at least |1/(2y)|,
// which is far more than the rounding errors. If y is a scalar, i is computed only once.
// Devices use the division instruction, because f64 may be slow or missing on a device.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"
#include "time_arithmetic.hpp"

namespace standard {

template <class T>
GUF_DEVICE T quotient_by_instruction(T x, T y) {
  if constexpr (!guf::limits<T>::is_signed) {
    return y == T(0) ? T(0) : (T)(x / y);
  } else {
    if (y == T(0)) return T(0);
    if (y == T(-1)) return negated(x);  // the only quotient that may overflow
    const T quotient = (T)(x / y);
    const bool inexact = (T)(quotient * y) != x;
    return (T)(quotient - (inexact && (x < T(0)) != (y < T(0)) ? 1 : 0));
  }
}

template <class T>
GUF_DEVICE T rest_by_instruction(T x, T y) {
  if constexpr (!guf::limits<T>::is_signed) {
    return y == T(0) ? T(0) : (T)(x % y);
  } else {
    if (y == T(0) || y == T(-1)) return T(0);
    const T rest = (T)(x % y);
    return (T)(rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest);
  }
}

// Converts x to R. A 64-bit x must be below 2^51, because its bits are added to the bits
// of a number whose last bit has the value 1.
template <class R, class T>
GUF_DEVICE R in_floating_point(T x) {
  if constexpr (sizeof(T) == 8) {
    constexpr R rounder = guf::detail::bits_of<R>::rounder;
    return guf::detail::from_bits<R>((guf::u64)x + guf::detail::to_bits(rounder)) - rounder;
  } else {
    return (R)x;
  }
}

// Uses f32 for 8 and 16 bits, and f64 for 32 bits and for 64-bit numbers below 2^50.
// The quotient is in the low bits of the result and wraps to T.
template <class T>
GUF_DEVICE T quotient_by_inverse(T x, T y) {
  namespace math = guf::detail;
  typedef typename guf::conditional<(sizeof(T) < 4), guf::f32, guf::f64>::type R;
  constexpr R rounder = math::bits_of<R>::rounder;
  const R inverse = R(1) / in_floating_point<R>(y);
  const R shift = R(0.5) * math::magnitude(inverse) - R(0.5);
  const R rounded = math::mad(in_floating_point<R>(x), inverse, shift) + rounder;
  const auto low = math::to_bits(rounded) - math::to_bits(rounder);
  return y == T(0) ? T(0) : (T)low;
}
template <class T>
GUF_DEVICE T rest_by_inverse(T x, T y) {
  typedef wrapping_t<T> wide;
  const wide product = (wide)quotient_by_inverse(x, y) * (wide)y;
  return y == T(0) ? T(0) : (T)((wide)x - product);
}

// Functions of 64-bit integers choose their loop by the range
// of the operands (gufunc/kernel/fast_path.hpp).
template <class T>
GUF_DEVICE bool below_2_to_50(T x, T y) {
  constexpr bool is_signed = guf::limits<T>::is_signed;
  constexpr guf::u64 offset = is_signed ? guf::u64(1) << 50 : 0;
  return (((guf::u64)x + offset) | ((guf::u64)y + offset)) >> 50 <= (is_signed ? 1u : 0u);
}
// On a device, a 64-bit division has about 100 instructions, so it is not inlined.
struct long_quotient {
  template <class T>
  static GUF_HEAVY T full_path(T x, T y) {
    return quotient_by_instruction(x, y);
  }
  template <class T>
  static GUF_DEVICE bool in_fast_range(T x, T y) {
    return below_2_to_50(x, y);
  }
  template <class T>
  static GUF_DEVICE T fast_path(T x, T y) {
    return quotient_by_inverse(x, y);
  }
};
struct long_rest {
  template <class T>
  static GUF_HEAVY T full_path(T x, T y) {
    return rest_by_instruction(x, y);
  }
  template <class T>
  static GUF_DEVICE bool in_fast_range(T x, T y) {
    return below_2_to_50(x, y);
  }
  template <class T>
  static GUF_DEVICE T fast_path(T x, T y) {
    return rest_by_inverse(x, y);
  }
};

#if defined(GUF_HOST)
constexpr bool kByInverse = true;
#else
constexpr bool kByInverse = false;
#endif

template <class T>
GUF_DEVICE auto floor_divide(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_divide(x, y);
  } else if constexpr (sizeof(T) == 8) {
    return guf::select_path<long_quotient>(x, y);
  } else if constexpr (kByInverse) {
    return quotient_by_inverse(x, y);
  } else {
    return quotient_by_instruction(x, y);
  }
}

template <class T>
GUF_DEVICE auto remainder(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::floor_modulo(x, y);
  } else if constexpr (sizeof(T) == 8) {
    return guf::select_path<long_rest>(x, y);
  } else if constexpr (kByInverse) {
    return rest_by_inverse(x, y);
  } else {
    return rest_by_instruction(x, y);
  }
}

// floor_divide and remainder. A function with two outputs cannot have two paths, so 64-bit integers
// are divided by the instruction. The remainder of integers follows from the quotient.
template <class T>
GUF_DEVICE void divmod(T x, T y, guf::out<T> quotient, guf::out<T> rest) {
  if constexpr (!is_integer<T>::value) {
    const guf::divmod_result<T> parts = guf::floor_divmod(x, y);
    quotient = parts.quotient;
    rest = parts.remainder;
  } else {
    typedef wrapping_t<T> wide;
    T whole;
    if constexpr (sizeof(T) == 8) {
      whole = long_quotient::full_path(x, y);
    } else {
      whole = kByInverse ? quotient_by_inverse(x, y) : quotient_by_instruction(x, y);
    }
    quotient = whole;
    rest = y == T(0) ? T(0) : (T)((wide)x - (wide)whole * (wide)y);
  }
}
GUF_DEVICE void timedelta_divmod(guf::timedelta x, guf::timedelta y, guf::out<guf::i64> quotient,
                                 guf::out<guf::timedelta> rest) {
  quotient = floor_divide(x, y);
  rest = remainder(x, y);
}

// The remainder of the quotient that is rounded towards zero. For integers, a division by zero
// yields 0.
template <class T>
GUF_DEVICE T fmod(T x, T y) {
  if constexpr (!is_integer<T>::value) {
    return guf::fmod(x, y);
  } else if constexpr (guf::limits<T>::is_signed) {
    return y == T(0) || y == T(-1) ? T(0) : (T)(x % y);
  } else {
    return y == T(0) ? T(0) : (T)(x % y);
  }
}

template <class T>
GUF_HEAVY T unsigned_gcd(T x, T y) {
  while (y != T(0)) {
    const T rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}

// As in NumPy, a result that does not fit wraps: guf::gcd and guf::lcm saturate.
template <class T>
GUF_DEVICE T gcd(T x, T y) {
  return (T)unsigned_gcd(unsigned_magnitude(x), unsigned_magnitude(y));
}

template <class T>
GUF_DEVICE T lcm(T x, T y) {
  const wrapping_t<T> a = unsigned_magnitude(x), b = unsigned_magnitude(y);
  const wrapping_t<T> common = unsigned_gcd(a, b);
  return common == 0 ? T(0) : (T)(a / common * b);
}

}  // namespace standard

GUF_UFUNC(standard::floor_divide, GUF_LOOPS_floor_divide);
GUF_UFUNC(standard::remainder, GUF_LOOPS_remainder);
GUF_UFUNC(standard::divmod,
          "bb->bb BB->BB hh->hh HH->HH ii->ii II->II qq->qq QQ->QQ ee->ee EE->EE ff->ff dd->dd");
GUF_UFUNC(standard::timedelta_divmod, "mm->qm", "name=divmod");
GUF_UFUNC(standard::fmod, GUF_LOOPS_fmod);
GUF_UFUNC(standard::gcd, GUF_LOOPS_gcd, "commutative", "associative");
GUF_UFUNC(standard::lcm, GUF_LOOPS_lcm);
