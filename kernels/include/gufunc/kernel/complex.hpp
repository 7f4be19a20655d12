// SPDX-License-Identifier: Apache-2.0
// Complex numbers: a pair of reals with NumPy's formulas, where each operation rounds. `_Complex`
// is not used, because its multiplication calls a library function that repairs infinities.
#ifndef GUFUNC_KERNEL_COMPLEX_HPP
#define GUFUNC_KERNEL_COMPLEX_HPP

#include "types.hpp"

namespace guf {

template <class T>
struct complex {
  T re, im;

  complex() = default;
  // Converts implicitly from a real number, so that `2 * z` and `z + x` can be written.
  GUF_FN constexpr complex(T real, T imaginary = T(0)) : re(real), im(imaginary) {}

  friend GUF_FN complex operator+(complex a) { return a; }
  friend GUF_FN complex operator-(complex a) { return complex(-a.re, -a.im); }
  friend GUF_FN complex operator+(complex a, complex b) {
    return complex(a.re + b.re, a.im + b.im);
  }
  friend GUF_FN complex operator-(complex a, complex b) {
    return complex(a.re - b.re, a.im - b.im);
  }
  friend GUF_FN complex operator*(complex a, complex b) {
    return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
  }
  friend GUF_FN complex operator/(complex a, complex b) { return divide(a, b); }
  friend GUF_FN bool operator==(complex a, complex b) { return a.re == b.re && a.im == b.im; }
  friend GUF_FN bool operator!=(complex a, complex b) { return a.re != b.re || a.im != b.im; }

  GUF_FN complex &operator+=(complex b) { return *this = *this + b; }
  GUF_FN complex &operator-=(complex b) { return *this = *this - b; }
  GUF_FN complex &operator*=(complex b) { return *this = *this * b; }
  GUF_FN complex &operator/=(complex b) { return *this = *this / b; }

 private:
  // Uses Smith's method, as NumPy does. The method scales by the larger part of b. The code selects
  // instead of branching, so that it vectorises. As in NumPy, the result of a division by zero is
  // (a.re / 0, a.im / 0); the code multiplies by infinity to compute it.
  static GUF_FN complex divide(complex a, complex b) {
    const T size_re = b.re < T(0) ? -b.re : b.re;
    const T size_im = b.im < T(0) ? -b.im : b.im;
    const bool by_re = size_re >= size_im;
    const bool by_zero = (size_re == T(0)) & (size_im == T(0));
    const T large = by_re ? b.re : b.im;
    const T small = by_re ? b.im : b.re;
    const T ratio = small / large;
    const T denominator = large + small * ratio;
    const T scale = T(1) / (by_zero ? T(0) : denominator);
    const T re = by_re ? a.re + a.im * ratio : a.re * ratio + a.im;
    const T im = by_re ? a.im - a.re * ratio : a.im * ratio - a.re;
    return complex((by_zero ? a.re : re) * scale, (by_zero ? a.im : im) * scale);
  }
};

typedef complex<f32> c64;
typedef complex<f64> c128;
static_assert(sizeof(c64) == 8 && sizeof(c128) == 16, "complex is two reals");

template <class T>
GUF_FN T real(complex<T> z) {
  return z.re;
}
template <class T>
GUF_FN T imag(complex<T> z) {
  return z.im;
}
template <class T>
GUF_FN complex<T> conj(complex<T> z) {
  return complex<T>(z.re, -z.im);
}

template <class T>
struct is_complex {
  static constexpr bool value = false;
};
template <class T>
struct is_complex<complex<T>> {
  static constexpr bool value = true;
};

// The real type of a number type: f32 for f32 and for complex<f32>.
template <class T>
struct real_of {
  typedef T type;
};
template <class T>
struct real_of<complex<T>> {
  typedef T type;
};
template <class T>
using real_t = typename real_of<T>::type;

}  // namespace guf

#endif  // GUFUNC_KERNEL_COMPLEX_HPP
