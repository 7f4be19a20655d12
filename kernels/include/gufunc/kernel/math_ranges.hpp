// SPDX-License-Identifier: Apache-2.0
// The functions that use select_path: sin, cos and tan, whose fast path lacks the reduction of
// arguments above kHuge or kHugeF32, and the logarithms and pow, whose fast path lacks special
// values and subnormals.
#ifndef GUFUNC_KERNEL_MATH_RANGES_HPP
#define GUFUNC_KERNEL_MATH_RANGES_HPP

#include "fast_path.hpp"
#include "math.hpp"

namespace guf {
namespace ranges {

struct sin {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::sin(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return detail::magnitude(x) <= (sizeof(T) == 4 ? (T)detail::kHugeF32 : (T)detail::kHuge);
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::sin_small(x);
  }
#endif
};

struct cos {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::cos(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return sin::in_fast_range(x);
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::cos_small(x);
  }
#endif
};

struct tan {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::tan(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return sin::in_fast_range(x);
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::tan_small(x);
  }
#endif
};

struct log {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::log(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return x >= limits<T>::min_normal && x < limits<T>::infinity;
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::log_ordinary(x);
  }
#endif
};

struct log2 {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::log2(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return log::in_fast_range(x);
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::log2_of_parts(detail::split_normal(x, T(0)));
  }
#endif
};

struct log10 {
  template <class T>
  static GUF_FN T full_path(T x) {
    return guf::log10(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x) {
    return log::in_fast_range(x);
  }
  template <class T>
  static GUF_FN T fast_path(T x) {
    return detail::log10_of_parts(detail::split_normal(x, T(0)));
  }
#endif
};

struct pow {
  template <class T>
  static GUF_FN T full_path(T x, T y) {
    return guf::pow(x, y);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool in_fast_range(T x, T y) {
    return detail::pow_is_ordinary(x, y);
  }
  template <class T>
  static GUF_FN T fast_path(T x, T y) {
    return detail::pow_ordinary(x, y);
  }
#endif
};

}  // namespace ranges
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_RANGES_HPP
