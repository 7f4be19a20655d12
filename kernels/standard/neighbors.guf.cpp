// SPDX-License-Identifier: Apache-2.0
// nextafter and spacing. A kernel receives an f16 or bf16 as f32, but the neighbors of a number
// depend on its type, so these types have functions of their own. Without their sign bits, the bit
// patterns of finite numbers and infinity are in the order of the numbers.
#include <gufunc/ops_loops.h>
#include <gufunc/kernel.hpp>

namespace standard {

template <class T>
struct is_bf16 {
  static constexpr bool value = guf::is_same<T, guf::bf16>::value;
};

// The f16 or bf16 after x in the direction of y. As in NumPy, the result for two zeros is x for
// f16; for bf16, as for f32, it is y.
template <class Stored>
GUF_DEVICE guf::f32 next_stored(guf::f32 x, guf::f32 y) {
  constexpr guf::u32 sign = 0x8000u;
  const guf::u32 bits = guf::from_f32<Stored>(x).bits, target = guf::from_f32<Stored>(y).bits;
  const bool outward = (y > x) == (x > 0.0f);
  const guf::u32 moved = x == 0.0f ? (target & sign) | 1u : (outward ? bits + 1u : bits - 1u);
  const guf::f32 next = guf::to_f32(Stored{(guf::u16)moved});
  const guf::f32 other = x == y ? (is_bf16<Stored>::value ? y : x) : next;
  return x != x || y != y ? x + y : other;
}
GUF_DEVICE guf::f32 nextafter_f16(guf::f32 x, guf::f32 y) {
  return next_stored<guf::f16>(x, y);
}
GUF_DEVICE guf::f32 nextafter_bf16(guf::f32 x, guf::f32 y) {
  return next_stored<guf::bf16>(x, y);
}
template <class T>
GUF_DEVICE T nextafter(T x, T y) {
  return guf::nextafter(x, y);
}

// The distance to the next number of larger magnitude, with the sign of x. The result is infinite
// for the largest finite number, and NaN for infinity. The spacing of both zeros is positive.
template <class T>
GUF_DEVICE T spacing(T x) {
  namespace math = guf::detail;
  const T size = math::magnitude(x);
  const T distance = math::from_bits<T>(math::to_bits(size) + 1u) - size;
  const T signed_distance = x < T(0) ? -distance : distance;
  return size < guf::limits<T>::infinity ? signed_distance : guf::limits<T>::nan;
}
GUF_DEVICE guf::f32 spacing_bf16(guf::f32 x) {
  const guf::f32 size = guf::fabs(x);
  const guf::bf16 next = {(guf::u16)(guf::to_bf16(size).bits + 1u)};
  const guf::f32 distance = guf::to_f32(next) - size;
  const guf::f32 signed_distance = x < 0.0f ? -distance : distance;
  return size < guf::limits<guf::f32>::infinity ? signed_distance : guf::limits<guf::f32>::nan;
}
// As in NumPy, the spacing of an f16 is the distance to the next number that is greater, and
// positive. The number above -2^n, which has a smaller exponent, is half as far.
GUF_DEVICE guf::f32 spacing_f16(guf::f32 x) {
  const guf::u32 bits = guf::to_f16(x).bits;
  const guf::f16 next = {(guf::u16)(x < 0.0f ? bits - 1u : (bits & 0x7fffu) + 1u)};
  const guf::f32 distance = guf::to_f32(next) - x;
  const bool finite = guf::fabs(x) < guf::limits<guf::f32>::infinity;
  return finite ? distance : guf::limits<guf::f32>::nan;
}

}  // namespace standard

GUF_UFUNC(standard::nextafter_f16, "ee->e", "name=nextafter");
GUF_UFUNC(standard::nextafter_bf16, "EE->E", "name=nextafter");
GUF_UFUNC(standard::nextafter, "ff->f dd->d");
GUF_UFUNC(standard::spacing_f16, "e->e", "name=spacing");
GUF_UFUNC(standard::spacing_bf16, "E->E", "name=spacing");
GUF_UFUNC(standard::spacing, "f->f d->d");
