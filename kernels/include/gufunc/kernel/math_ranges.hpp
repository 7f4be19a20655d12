// SPDX-License-Identifier: Apache-2.0
// The functions that use by_range: sin and cos, whose short path lacks the reduction of arguments
// above kHuge, and log and pow, whose short path lacks special values and subnormals.
#ifndef GUFUNC_KERNEL_MATH_RANGES_HPP
#define GUFUNC_KERNEL_MATH_RANGES_HPP

#include "fast_path.hpp"
#include "math.hpp"

namespace guf {
namespace ranges {

struct sin {
  template <class T>
  static GUF_FN T always(T x) {
    return guf::sin(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool usual(T x) {
    return detail::magnitude(x) <= (T)detail::kHuge;
  }
  template <class T>
  static GUF_FN T usually(T x) {
    return detail::sin_small(x);
  }
#endif
};

struct cos {
  template <class T>
  static GUF_FN T always(T x) {
    return guf::cos(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool usual(T x) {
    return sin::usual(x);
  }
  template <class T>
  static GUF_FN T usually(T x) {
    return detail::cos_small(x);
  }
#endif
};

struct log {
  template <class T>
  static GUF_FN T always(T x) {
    return guf::log(x);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool usual(T x) {
    return x >= limits<T>::min_normal && x < limits<T>::infinity;
  }
  template <class T>
  static GUF_FN T usually(T x) {
    return detail::log_ordinary(x);
  }
#endif
};

struct pow {
  template <class T>
  static GUF_FN T always(T x, T y) {
    return guf::pow(x, y);
  }
#if defined(GUF_HOST)
  template <class T>
  static GUF_FN bool usual(T x, T y) {
    return detail::pow_is_ordinary(x, y);
  }
  template <class T>
  static GUF_FN T usually(T x, T y) {
    return detail::pow_ordinary(x, y);
  }
#endif
};

}  // namespace ranges
}  // namespace guf

#endif  // GUFUNC_KERNEL_MATH_RANGES_HPP
