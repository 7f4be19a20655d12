// SPDX-License-Identifier: Apache-2.0
// The mathematics of the dialect on a device: the same names, computed by the vendor's library
// (libdevice, ocml) or by the builtins of OpenCL.
#ifndef GUFUNC_KERNEL_MATH_DEVICE_HPP
#define GUFUNC_KERNEL_MATH_DEVICE_HPP

#include "types.hpp"

// The functions that libdevice, ocml and OpenCL have under the same name.
// clang-format off
#define GUF_MATH_ONE(F)                                                                         \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) \
  F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(cbrt) F(erf) F(erfc) F(tgamma)   \
  F(lgamma)
// clang-format on
#define GUF_MATH_TWO(F) F(pow) F(atan2) F(fmod) F(remainder) F(hypot)

#if defined(GUF_CUDA)
#define GUF_VENDOR_F32(NAME) __nv_##NAME##f
#define GUF_VENDOR_F64(NAME) __nv_##NAME
#elif defined(GUF_HIP)
#define GUF_VENDOR_F32(NAME) __ocml_##NAME##_f32
#define GUF_VENDOR_F64(NAME) __ocml_##NAME##_f64
#elif defined(GUF_OPENCL)
#define GUF_VENDOR_F32(NAME) ::NAME
#define GUF_VENDOR_F64(NAME) ::NAME
#endif

#if defined(GUF_CUDA) || defined(GUF_HIP)
#define GUF_VENDOR extern "C" __attribute__((device))
#define GUF_DECLARE_ONE(NAME)                   \
  GUF_VENDOR float GUF_VENDOR_F32(NAME)(float); \
  GUF_VENDOR double GUF_VENDOR_F64(NAME)(double);
#define GUF_DECLARE_TWO(NAME)                          \
  GUF_VENDOR float GUF_VENDOR_F32(NAME)(float, float); \
  GUF_VENDOR double GUF_VENDOR_F64(NAME)(double, double);
GUF_MATH_ONE(GUF_DECLARE_ONE)
GUF_MATH_TWO(GUF_DECLARE_TWO)
GUF_DECLARE_TWO(nextafter)
GUF_VENDOR float GUF_VENDOR_F32(ldexp)(float, int);
GUF_VENDOR double GUF_VENDOR_F64(ldexp)(double, int);
#undef GUF_DECLARE_ONE
#undef GUF_DECLARE_TWO
#undef GUF_VENDOR
#endif

namespace guf {

#define GUF_DEFINE_ONE(NAME)        \
  GUF_HEAVY f32 NAME(f32 x) {       \
    return GUF_VENDOR_F32(NAME)(x); \
  }                                 \
  GUF_HEAVY f64 NAME(f64 x) {       \
    return GUF_VENDOR_F64(NAME)(x); \
  }
#define GUF_DEFINE_TWO(KIND, NAME)     \
  KIND f32 NAME(f32 x, f32 y) {        \
    return GUF_VENDOR_F32(NAME)(x, y); \
  }                                    \
  KIND f64 NAME(f64 x, f64 y) {        \
    return GUF_VENDOR_F64(NAME)(x, y); \
  }
#define GUF_DEFINE_HEAVY_TWO(NAME) GUF_DEFINE_TWO(GUF_HEAVY, NAME)
GUF_MATH_ONE(GUF_DEFINE_ONE)
GUF_MATH_TWO(GUF_DEFINE_HEAVY_TWO)
GUF_DEFINE_TWO(GUF_FN, nextafter)
GUF_FN f32 ldexp(f32 x, i32 n) {
  return GUF_VENDOR_F32(ldexp)(x, n);
}
GUF_FN f64 ldexp(f64 x, i32 n) {
  return GUF_VENDOR_F64(ldexp)(x, n);
}

// Exact or correctly rounded operations, which are single instructions.
#if defined(GUF_OPENCL)
#define GUF_EXACT_F32(NAME) ::NAME
#define GUF_EXACT_F64(NAME) ::NAME
#else
#define GUF_EXACT_F32(NAME) __builtin_##NAME##f
#define GUF_EXACT_F64(NAME) __builtin_##NAME
#endif
#define GUF_DEFINE_EXACT(NAME)     \
  GUF_FN f32 NAME(f32 x) {         \
    return GUF_EXACT_F32(NAME)(x); \
  }                                \
  GUF_FN f64 NAME(f64 x) {         \
    return GUF_EXACT_F64(NAME)(x); \
  }
GUF_DEFINE_EXACT(sqrt)
GUF_DEFINE_EXACT(floor)
GUF_DEFINE_EXACT(ceil)
GUF_DEFINE_EXACT(trunc)
GUF_DEFINE_EXACT(rint)
GUF_DEFINE_EXACT(fabs)
GUF_FN f32 copysign(f32 x, f32 y) {
  return GUF_EXACT_F32(copysign)(x, y);
}
GUF_FN f64 copysign(f64 x, f64 y) {
  return GUF_EXACT_F64(copysign)(x, y);
}
GUF_FN f32 fma(f32 a, f32 b, f32 c) {
  return GUF_EXACT_F32(fma)(a, b, c);
}
GUF_FN f64 fma(f64 a, f64 b, f64 c) {
  return GUF_EXACT_F64(fma)(a, b, c);
}

#undef GUF_MATH_ONE
#undef GUF_MATH_TWO
#undef GUF_VENDOR_F32
#undef GUF_VENDOR_F64
#undef GUF_DEFINE_ONE
#undef GUF_DEFINE_TWO
#undef GUF_DEFINE_HEAVY_TWO
#undef GUF_DEFINE_EXACT
#undef GUF_EXACT_F32
#undef GUF_EXACT_F64

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_DEVICE_HPP
