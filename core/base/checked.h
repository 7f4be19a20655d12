// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that reports overflow. Every size in the library goes through it.
#ifndef GUFUNC_CORE_BASE_CHECKED_H
#define GUFUNC_CORE_BASE_CHECKED_H

#include <cstdint>

namespace gufunc::base {

// Each returns false when the result does not fit; `*out` is then unspecified.
template <class T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T *out) {
  return !__builtin_add_overflow(a, b, out);
}
template <class T>
[[nodiscard]] constexpr bool checked_sub(T a, T b, T *out) {
  return !__builtin_sub_overflow(a, b, out);
}
template <class T>
[[nodiscard]] constexpr bool checked_mul(T a, T b, T *out) {
  return !__builtin_mul_overflow(a, b, out);
}

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CHECKED_H
