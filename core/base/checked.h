// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic that detects overflow. All size computations of the library use it.
#ifndef GUFUNC_CORE_BASE_CHECKED_H
#define GUFUNC_CORE_BASE_CHECKED_H

#include <cstdint>

namespace gufunc::base {

// Each checked_ function returns false if the result does not fit in T. `*out` is then unspecified.
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

// The functions below accept all values, because empty arrays may have arbitrary strides.

// Returns whether outer == inner * extent. Returns false if the product overflows.
constexpr bool is_product(int64_t outer, int64_t inner, int64_t extent) {
  int64_t product = 0;
  return checked_mul(inner, extent, &product) && product == outer;
}
// Returns |x|. Also defined for INT64_MIN.
constexpr uint64_t magnitude(int64_t x) {
  return x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}
// Returns -x, or INT64_MIN if x is INT64_MIN.
constexpr int64_t negated(int64_t x) {
  return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
}
// Returns the byte offset of element `index` along an axis with this stride, modulo 2^64.
constexpr uint64_t offset_of(int64_t stride, int64_t index) {
  return static_cast<uint64_t>(stride) * static_cast<uint64_t>(index);
}

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_CHECKED_H
