// SPDX-License-Identifier: Apache-2.0
// Loops over matrices whose elements a group of threads divides.
#ifndef GUFUNC_KERNELS_STANDARD_MATRIX_LOOPS_HPP
#define GUFUNC_KERNELS_STANDARD_MATRIX_LOOPS_HPP

#include "number_parts.hpp"

namespace standard {

// Threads of a group divide the elements of a matrix into rows and columns. Neighbouring threads
// have neighbouring columns.
enum { kWidth = 32 };
template <class G>
GUF_DEVICE guf::i64 column_step(G &g) {
  return g.size() < (guf::u32)kWidth ? (guf::i64)g.size() : (guf::i64)kWidth;
}
template <class G>
GUF_DEVICE guf::i64 row_step(G &g) {
  return (guf::i64)g.size() / column_step(g);
}
template <class G>
GUF_DEVICE guf::i64 first_column(G &g) {
  return (guf::i64)g.rank() % column_step(g);
}
template <class G>
GUF_DEVICE guf::i64 first_row(G &g) {
  return (guf::i64)g.rank() / column_step(g);
}

template <class G, class X, class T>
GUF_DEVICE void fill(G &g, X x, T value) {
  for (guf::i64 i = first_row(g); i < x.extent(0); i += row_step(g)) {
    for (guf::i64 j = first_column(g); j < x.extent(1); j += column_step(g)) x(i, j) = value;
  }
}

template <class G, class X>
GUF_DEVICE void fill_identity(G &g, X x) {
  typedef typename X::type T;
  for (guf::i64 i = first_row(g); i < x.extent(0); i += row_step(g)) {
    for (guf::i64 j = first_column(g); j < x.extent(1); j += column_step(g)) {
      x(i, j) = T(i == j ? 1 : 0);
    }
  }
}

// Exchanges two rows, in the columns from `first` on.
template <class G, class A>
GUF_DEVICE void swap_rows(G &g, A a, guf::i64 one, guf::i64 other, guf::i64 first) {
  for (guf::i64 j = first + (guf::i64)g.rank(); j < a.extent(1); j += (guf::i64)g.size()) {
    const auto kept = guf::load(a(one, j));
    a(one, j) = guf::load(a(other, j));
    a(other, j) = kept;
  }
}

template <class T>
GUF_DEVICE T not_a_number(T) {
  return guf::limits<T>::nan;
}
template <class T>
GUF_DEVICE guf::complex<T> not_a_number(guf::complex<T>) {
  return guf::complex<T>(guf::limits<T>::nan, guf::limits<T>::nan);
}

template <class T>
GUF_DEVICE T real_part(T x) {
  return x;
}
template <class T>
GUF_DEVICE T real_part(guf::complex<T> z) {
  return z.re;
}

// Multiplication by a power of two.
template <class T>
GUF_DEVICE int exponent_of(T x) {
  return (int)guf::frexp(x).exponent;
}
template <class T>
GUF_DEVICE T scaled(T x, int exponent) {
  return guf::ldexp(x, exponent);
}
template <class T>
GUF_DEVICE guf::complex<T> scaled(guf::complex<T> z, int exponent) {
  return guf::complex<T>(guf::ldexp(z.re, exponent), guf::ldexp(z.im, exponent));
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_MATRIX_LOOPS_HPP
