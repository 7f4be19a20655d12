// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers as integers in the same order.
#ifndef GUFUNC_KERNELS_STANDARD_ORDERED_BITS_HPP
#define GUFUNC_KERNELS_STANDARD_ORDERED_BITS_HPP

#include <gufunc/kernel.hpp>

namespace standard {

// Floating-point numbers are stored as sign and magnitude. For negative numbers, all bits except
// the sign are inverted. -0 maps to -1, and 0 to 0. A NaN maps to an integer above that of infinity
// or below that of -infinity.
GUF_DEVICE guf::i32 ordered_bits(guf::f32 x) {
  const guf::i32 bits = guf::bit_cast<guf::i32>(x);
  return bits ^ (guf::i32)((guf::u32)(bits >> 31) >> 1);
}
GUF_DEVICE guf::i64 ordered_bits(guf::f64 x) {
  const guf::i64 bits = guf::bit_cast<guf::i64>(x);
  return bits ^ (guf::i64)((guf::u64)(bits >> 63) >> 1);
}

GUF_DEVICE guf::f32 from_ordered_bits(guf::i32 bits) {
  return guf::bit_cast<guf::f32>(bits ^ (guf::i32)((guf::u32)(bits >> 31) >> 1));
}
GUF_DEVICE guf::f64 from_ordered_bits(guf::i64 bits) {
  return guf::bit_cast<guf::f64>(bits ^ (guf::i64)((guf::u64)(bits >> 63) >> 1));
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_ORDERED_BITS_HPP
