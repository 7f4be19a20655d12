// SPDX-License-Identifier: Apache-2.0
// det, inv, solve, solve1, cholesky and cholesky_upper of a batch of small matrices, one per lane.
// Each lane has the bits of the functions in elimination.guf.cpp: the operations and their order
// are the same. All lanes execute the same operations, and masks select the results of each lane.
#ifndef GUFUNC_KERNELS_STANDARD_ELIMINATION_BATCH_HPP
#define GUFUNC_KERNELS_STANDARD_ELIMINATION_BATCH_HPP

#include <gufunc/kernel.hpp>
#include <gufunc/kernel/host_batch.hpp>

namespace standard {

template <class T>
GUF_DEVICE guf::lanes<T> in_all_lanes(T x) {
  return x - guf::lanes<T>{};
}

template <class T>
GUF_DEVICE guf::lanes<T> size_of_lanes(guf::lanes<T> x) {
  return x < T(0) ? -x : x + T(0);  // -0 + 0 is +0
}

template <class T>
GUF_DEVICE bool any_lane(guf::lane_mask<T> mask) {
  bool any = false;
  for (int w = 0; w < guf::lanes_of<T>::count; ++w) any |= mask[w] != 0;
  return any;
}

// Exchanges rows k and i, from column `first` on, in the lanes of a mask.
template <class T, class A>
GUF_DEVICE void swap_lanes(A a, guf::i64 k, guf::i64 i, guf::lane_mask<T> mask, guf::i64 first) {
  for (guf::i64 j = first; j < a.extent(1); ++j) {
    const guf::lanes<T> one = a(k, j), other = a(i, j);
    a(k, j) = mask ? other : one;
    a(i, j) = mask ? one : other;
  }
}

// Does the work of eliminate() in every lane. Sets `singular` to the mask of the lanes that have a
// pivot of 0, and `odd` to the mask of the lanes in which the number of exchanged rows is odd.
template <class A, class X>
GUF_DEVICE void eliminate_batch(A a, X x, guf::lane_mask<typename A::type> &singular,
                                guf::lane_mask<typename A::type> &odd) {
  typedef typename A::type T;
  typedef guf::lanes<T> V;
  typedef guf::lane_mask<T> M;
  const guf::i64 n = a.extent(0);
  singular = odd = M{};
  for (guf::i64 k = 0; k < n; ++k) {
    V greatest = size_of_lanes<T>(a(k, k));
    V row = in_all_lanes(T(k));
    for (guf::i64 i = k + 1; i < n; ++i) {
      const V next = size_of_lanes<T>(a(i, k));
      const M greater = (next > greatest) | ((next != next) & (greatest == greatest));
      greatest = greater ? next : greatest;
      row = greater ? in_all_lanes(T(i)) : row;
    }
    for (guf::i64 i = k + 1; i < n; ++i) {
      swap_lanes<T>(a, k, i, row == T(i), k);
      swap_lanes<T>(x, k, i, row == T(i), 0);
    }
    odd ^= row != T(k);
    const V pivot = a(k, k);
    singular |= pivot == T(0);
    for (guf::i64 i = k + 1; i < n; ++i) {
      const V factor = a(i, k) / pivot;
      for (guf::i64 j = k + 1; j < n; ++j) a(i, j) = a(i, j) - factor * a(k, j);
      for (guf::i64 j = 0; j < x.extent(1); ++j) x(i, j) = x(i, j) - factor * x(k, j);
    }
  }
}

template <class A, class X>
GUF_DEVICE void solve_batch_in_place(A a, X x) {
  typedef typename A::type T;
  typedef guf::lanes<T> V;
  guf::lane_mask<T> singular, odd;
  eliminate_batch(a, x, singular, odd);
  const guf::i64 columns = x.extent(1);
  for (guf::i64 i = a.extent(0) - 1; i >= 0; --i) {
    const V pivot = a(i, i);
    for (guf::i64 j = 0; j < columns; ++j) x(i, j) = x(i, j) / pivot;
    for (guf::i64 r = 0; r < i; ++r) {
      const V factor = a(r, i);
      for (guf::i64 j = 0; j < columns; ++j) x(r, j) = x(r, j) - factor * x(i, j);
    }
  }
  if (!any_lane<T>(singular)) return;
  for (guf::i64 i = 0; i < x.extent(0); ++i) {
    for (guf::i64 j = 0; j < columns; ++j) {
      x(i, j) = singular ? in_all_lanes((T)guf::limits<T>::nan) : x(i, j);
    }
  }
}

template <class A, class B, class X>
GUF_DEVICE void solve_batch(A a, B b, X x) {
  for (guf::i64 i = 0; i < x.extent(0); ++i) {
    for (guf::i64 j = 0; j < x.extent(1); ++j) x(i, j) = b(i, j);
  }
  solve_batch_in_place(a, x);
}

template <class A, class B, class X>
GUF_DEVICE void solve1_batch(A a, B b, X x) {
  for (guf::i64 i = 0; i < x.extent(0); ++i) x[i] = b[i];
  solve_batch_in_place(a, column_of<X>{x});
}

template <class A, class X>
GUF_DEVICE void inv_batch(A a, X x) {
  typedef typename A::type T;
  for (guf::i64 i = 0; i < x.extent(0); ++i) {
    for (guf::i64 j = 0; j < x.extent(1); ++j) x(i, j) = in_all_lanes(T(i == j ? 1 : 0));
  }
  solve_batch_in_place(a, x);
}

// The matrix of one lane.
template <class A>
struct matrix_of_lane {
  typedef typename A::type type;
  A a;
  int lane;
  GUF_DEVICE guf::i64 extent(int d) const { return a.extent(d); }
  GUF_DEVICE type operator()(guf::i64 i, guf::i64 j) const { return a(i, j)[lane]; }
};

template <class A, class Y>
GUF_DEVICE void det_batch(A a, Y y) {
  typedef typename A::type T;
  typedef guf::lanes<T> V;
  typedef guf::lane_mask<T> M;
  M singular, odd;
  eliminate_batch(a, no_columns<V>{}, singular, odd);
  // Products that neither overflow nor underflow have the bits of diagonal_product().
  V product = in_all_lanes(T(1));
  M rare = M{};
  for (guf::i64 i = 0; i < a.extent(0); ++i) {
    product = product * a(i, i);
    const V size = size_of_lanes<T>(product);
    rare |= ~((size > (T)guf::limits<T>::min_normal) & (size <= (T)guf::limits<T>::max));
  }
  rare &= ~singular;
  if (any_lane<T>(rare)) {
    for (int w = 0; w < guf::lanes_of<T>::count; ++w) {
      if (rare[w] != 0) product[w] = diagonal_product(matrix_of_lane<A>{a, w});
    }
  }
  product = odd ? -product : product;
  y() = singular ? V{} : product;
}

// Does the work of factor() in every lane.
template <bool Upper, class X, class Y>
GUF_DEVICE void factor_batch(X x, Y y) {
  typedef typename Y::type T;
  typedef guf::lanes<T> V;
  typedef guf::lane_mask<T> M;
  const guf::i64 n = y.extent(0);
  for (guf::i64 i = 0; i < n; ++i) {
    for (guf::i64 j = i; j < n; ++j) y(i, j) = Upper ? x(i, j) : x(j, i);
  }
  M indefinite = M{};
  for (guf::i64 k = 0; k < n; ++k) {
    const V square = y(k, k);
    indefinite |= ~(square > T(0));
    V root;
    for (int w = 0; w < guf::lanes_of<T>::count; ++w) root[w] = guf::sqrt(square[w]);
    y(k, k) = root;
    for (guf::i64 j = k + 1; j < n; ++j) y(k, j) = y(k, j) / root;
    for (guf::i64 i = k + 1; i < n; ++i) {
      const V factor = y(k, i);
      for (guf::i64 j = i; j < n; ++j) y(i, j) = y(i, j) - factor * y(k, j);
    }
  }
  const V nan = in_all_lanes((T)guf::limits<T>::nan);
  for (guf::i64 i = 0; i < n; ++i) {
    y(i, i) = indefinite ? nan : y(i, i);
    for (guf::i64 j = i + 1; j < n; ++j) {
      const V value = indefinite ? nan : y(i, j), zero = indefinite ? nan : V{};
      y(i, j) = Upper ? value : zero;
      y(j, i) = Upper ? zero : value;
    }
  }
}

template <class X, class Y>
GUF_DEVICE void cholesky_batch(X x, Y y) {
  factor_batch<false>(x, y);
}
template <class X, class Y>
GUF_DEVICE void cholesky_upper_batch(X x, Y y) {
  factor_batch<true>(x, y);
}

}  // namespace standard

#endif  // GUFUNC_KERNELS_STANDARD_ELIMINATION_BATCH_HPP
