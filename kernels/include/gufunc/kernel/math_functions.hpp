// SPDX-License-Identifier: Apache-2.0
// The public names of the functions of real numbers that take more instructions than a square root.
// They call the dialect's own code, which has the same operations in the same order on every
// backend. If GUF_VENDOR_MATH is defined (on a device, with `fp=vendor` or `fp=fast`), they call
// the vendor's library: libdevice, ocml, or the builtins of OpenCL.
#ifndef GUFUNC_KERNEL_MATH_FUNCTIONS_HPP
#define GUFUNC_KERNEL_MATH_FUNCTIONS_HPP

#include "math_arc.hpp"
#include "math_erf.hpp"
#include "math_exp.hpp"
#include "math_gamma.hpp"
#include "math_hyper.hpp"
#include "math_log.hpp"
#include "math_pow.hpp"
#include "math_root.hpp"
#include "math_trig.hpp"

// clang-format off
#define GUF_MATH_ONE(F)                                                                         \
  F(exp) F(exp2) F(expm1) F(log) F(log2) F(log10) F(log1p) F(sin) F(cos) F(tan) F(asin) F(acos) \
  F(atan) F(sinh) F(cosh) F(tanh) F(asinh) F(acosh) F(atanh) F(cbrt) F(erf) F(erfc) F(tgamma)   \
  F(lgamma)
// clang-format on
#define GUF_MATH_TWO(F) F(pow, x, y) F(atan2, y, x) F(hypot, x, y)

#if !defined(GUF_VENDOR_MATH)
#define GUF_MATH_F32(NAME) detail::NAME##_any
#define GUF_MATH_F64(NAME) detail::NAME##_any
#elif defined(GUF_CUDA)
#define GUF_MATH_F32(NAME) __nv_##NAME##f
#define GUF_MATH_F64(NAME) __nv_##NAME
#elif defined(GUF_HIP)
#define GUF_MATH_F32(NAME) __ocml_##NAME##_f32
#define GUF_MATH_F64(NAME) __ocml_##NAME##_f64
#elif defined(GUF_OPENCL)
#define GUF_MATH_F32(NAME) ::NAME
#define GUF_MATH_F64(NAME) ::NAME
#endif

#if defined(GUF_VENDOR_MATH) && !defined(GUF_OPENCL)
#define GUF_VENDOR extern "C" __attribute__((device))
#define GUF_DECLARE_ONE(NAME)                 \
  GUF_VENDOR float GUF_MATH_F32(NAME)(float); \
  GUF_VENDOR double GUF_MATH_F64(NAME)(double);
#define GUF_DECLARE_TWO(NAME, FIRST, SECOND)         \
  GUF_VENDOR float GUF_MATH_F32(NAME)(float, float); \
  GUF_VENDOR double GUF_MATH_F64(NAME)(double, double);
GUF_MATH_ONE(GUF_DECLARE_ONE)
GUF_MATH_TWO(GUF_DECLARE_TWO)
#undef GUF_DECLARE_ONE
#undef GUF_DECLARE_TWO
#undef GUF_VENDOR
#endif

namespace guf {

#define GUF_DEFINE_ONE(NAME)      \
  GUF_HEAVY f32 NAME(f32 x) {     \
    return GUF_MATH_F32(NAME)(x); \
  }                               \
  GUF_HEAVY f64 NAME(f64 x) {     \
    return GUF_MATH_F64(NAME)(x); \
  }
#define GUF_DEFINE_TWO(NAME, FIRST, SECOND)   \
  GUF_HEAVY f32 NAME(f32 FIRST, f32 SECOND) { \
    return GUF_MATH_F32(NAME)(FIRST, SECOND); \
  }                                           \
  GUF_HEAVY f64 NAME(f64 FIRST, f64 SECOND) { \
    return GUF_MATH_F64(NAME)(FIRST, SECOND); \
  }
GUF_MATH_ONE(GUF_DEFINE_ONE)
GUF_MATH_TWO(GUF_DEFINE_TWO)

#undef GUF_MATH_ONE
#undef GUF_MATH_TWO
#undef GUF_MATH_F32
#undef GUF_MATH_F64
#undef GUF_DEFINE_ONE
#undef GUF_DEFINE_TWO

}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_FUNCTIONS_HPP
