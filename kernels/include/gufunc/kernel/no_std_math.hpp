// SPDX-License-Identifier: Apache-2.0
// Turns `sin(x)`, `std::sin(x)` or `sinf(x)` in a kernel into a compile error in the line of the
// call, with a message that names guf::sin. The C library's functions do not vectorise, differ
// between machines and do not exist on devices; gufcc refuses to include <cmath>. kernel.hpp
// includes this header last; kernels do not include it.
#ifndef GUFUNC_KERNEL_NO_STD_MATH_HPP
#define GUFUNC_KERNEL_NO_STD_MATH_HPP

#if !defined(GUF_OPENCL) && !defined(GUF_ALLOW_STD_MATH)

// A template that accepts any arguments loses overload resolution against every real function, so
// guf::sin stays callable when it is found by argument-dependent lookup or by `using namespace
// guf`.
#define GUF_REFUSED(name, instead) \
  template <class... A>            \
  __attribute__((unavailable("use " instead " in a kernel"))) auto name(A...) -> int;
#define GUF_REFUSED_FOR(name, instead) \
  GUF_REFUSED(name, instead)           \
  GUF_REFUSED(name##f, instead)        \
  GUF_REFUSED(name##l, instead)        \
  namespace std {                      \
  GUF_REFUSED(name, instead)           \
  GUF_REFUSED(name##f, instead)        \
  }
#define GUF_REFUSED_MATH(name) GUF_REFUSED_FOR(name, "guf::" #name)

GUF_REFUSED_MATH(acos)
GUF_REFUSED_MATH(acosh)
GUF_REFUSED_MATH(asin)
GUF_REFUSED_MATH(asinh)
GUF_REFUSED_MATH(atan)
GUF_REFUSED_MATH(atan2)
GUF_REFUSED_MATH(atanh)
GUF_REFUSED_MATH(cbrt)
GUF_REFUSED_MATH(ceil)
GUF_REFUSED_MATH(copysign)
GUF_REFUSED_MATH(cos)
GUF_REFUSED_MATH(cosh)
GUF_REFUSED_MATH(erf)
GUF_REFUSED_MATH(erfc)
GUF_REFUSED_MATH(exp)
GUF_REFUSED_MATH(exp2)
GUF_REFUSED_MATH(expm1)
GUF_REFUSED_MATH(fabs)
GUF_REFUSED_MATH(floor)
GUF_REFUSED_MATH(fma)
GUF_REFUSED_MATH(fmax)
GUF_REFUSED_MATH(fmin)
GUF_REFUSED_MATH(fmod)
GUF_REFUSED_MATH(frexp)
GUF_REFUSED_MATH(hypot)
GUF_REFUSED_MATH(ldexp)
GUF_REFUSED_MATH(lgamma)
GUF_REFUSED_MATH(log)
GUF_REFUSED_MATH(log10)
GUF_REFUSED_MATH(log1p)
GUF_REFUSED_MATH(log2)
GUF_REFUSED_MATH(modf)
GUF_REFUSED_MATH(nextafter)
GUF_REFUSED_MATH(pow)
GUF_REFUSED_MATH(remainder)
GUF_REFUSED_MATH(rint)
GUF_REFUSED_FOR(round, "guf::rint")
GUF_REFUSED_MATH(sin)
GUF_REFUSED_MATH(sinh)
GUF_REFUSED_MATH(sqrt)
GUF_REFUSED_MATH(tan)
GUF_REFUSED_MATH(tanh)
GUF_REFUSED_MATH(tgamma)
GUF_REFUSED_MATH(trunc)

#undef GUF_REFUSED_MATH
#undef GUF_REFUSED_FOR
#undef GUF_REFUSED

#endif

#endif  // GUFUNC_KERNEL_NO_STD_MATH_HPP
