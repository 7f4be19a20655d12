// SPDX-License-Identifier: Apache-2.0
// det, slogdet, inv, solve, solve1, cholesky and cholesky_upper. Matrices are eliminated row by
// row, with partial pivoting. From each element, the products are subtracted one after the other,
// in the order of the pivots, whatever the number of threads. det, slogdet, inv, solve and solve1
// overwrite their first operand.
//
// An item for which NumPy raises LinAlgError becomes NaN.
#include <gufunc/ops_loops.h>

#include "matrix_loops.hpp"

namespace standard {

template <class T>
GUF_DEVICE T pivot_size(T x) {
  return guf::fabs(x);
}
template <class T>
GUF_DEVICE T pivot_size(guf::complex<T> z) {
  return guf::fabs(z.re) + guf::fabs(z.im);
}

// A vector as a matrix of one column.
template <class X>
struct column_of {
  typedef typename X::type type;
  X x;
  GUF_DEVICE guf::i64 extent(int d) const { return d == 0 ? x.extent(0) : 1; }
  GUF_DEVICE decltype(auto) operator()(guf::i64 i, guf::i64) const { return x[i]; }
};

// A matrix without columns, the right side of an elimination that needs only the pivots.
template <class T>
struct no_columns {
  T unused;
  static GUF_DEVICE guf::i64 extent(int) { return 0; }
  GUF_DEVICE T &operator()(guf::i64, guf::i64) { return unused; }
};

// Subtracts `factor` times row `from` from row `to`, in the columns from `first` on.
template <class G, class A, class T>
GUF_DEVICE void subtract_row(G &g, A a, guf::i64 to, guf::i64 from, T factor, guf::i64 first) {
  const guf::i64 n = a.extent(1);
  if constexpr (guf::is_complex<T>::value) {
    for (guf::i64 j = first + first_column(g); j < n; j += column_step(g)) {
      a(to, j) = guf::load(a(to, j)) - factor * guf::load(a(from, j));
    }
  } else {
    GUF_INDEPENDENT
    for (guf::i64 j = first + first_column(g); j < n; j += column_step(g)) {
      a(to, j) = guf::load(a(to, j)) - factor * guf::load(a(from, j));
    }
  }
}

// Returns the first row, from row k on, with the greatest element in column k. NaN is the greatest.
template <class G, class A>
GUF_DEVICE guf::i64 find_pivot(G &g, A a, guf::i64 k) {
  typedef guf::real_t<typename A::type> R;
  const guf::i64 count = a.extent(0) - k;
  const auto size = [&](guf::i64 i) { return pivot_size(guf::load(a(k + i, k))); };
  if constexpr (guf::is_same<G, guf::single_thread>::value) {
    guf::i64 row = 0;
    R greatest = size(0);
    for (guf::i64 i = 1; i < count && greatest == greatest; ++i) {
      const R next = size(i);
      if (!(next <= greatest)) {
        greatest = next;
        row = i;
      }
    }
    return k + row;
  } else {
    const R greatest = g.template reduce<R>(count, size, guf::max_op(), R(0));
    const guf::i64 row = g.min(count, [&](guf::i64 i) {
      const R next = size(i);
      return next == greatest || next != next ? i : count;
    });
    g.sync();
    return k + row;
  }
}

// Makes the matrix upper triangular and applies the same changes to the rows of x. The elements
// below the diagonal are not set to 0. Returns false if a pivot is 0. Sets `odd` if the number of
// exchanged rows is odd.
template <class G, class A, class X>
GUF_DEVICE_NOINLINE bool eliminate(G &g, A a, X x, bool &odd) {
  typedef typename A::type T;
  const guf::i64 n = a.extent(0);
  odd = false;
  for (guf::i64 k = 0; k < n; ++k) {
    const guf::i64 row = find_pivot(g, a, k);
    if (row != k) {
      swap_rows(g, a, k, row, k);
      swap_rows(g, x, k, row, 0);
      odd = !odd;
      g.sync();
    }
    const T pivot = guf::load(a(k, k));
    if (pivot == T(0)) return false;
    for (guf::i64 i = k + 1 + first_row(g); i < n; i += row_step(g)) {
      const T factor = guf::load(a(i, k)) / pivot;
      subtract_row(g, a, i, k, factor, k + 1);
      subtract_row(g, x, i, k, factor, 0);
    }
    g.sync();
  }
  return true;
}

// Solves a x = b for the upper triangular matrix a. x holds b.
template <class G, class A, class X>
GUF_DEVICE_NOINLINE void substitute_back(G &g, A a, X x) {
  typedef typename A::type T;
  const guf::i64 columns = x.extent(1);
  for (guf::i64 i = a.extent(0) - 1; i >= 0; --i) {
    const T pivot = guf::load(a(i, i));
    for (guf::i64 j = g.rank(); j < columns; j += g.size()) x(i, j) = guf::load(x(i, j)) / pivot;
    g.sync();
    for (guf::i64 r = first_row(g); r < i; r += row_step(g)) {
      subtract_row(g, x, r, i, guf::load(a(r, i)), 0);
    }
    g.sync();
  }
}

// Solves a x = b, where x holds b.
template <class G, class A, class X>
GUF_DEVICE void solve_in_place(G &g, A a, X x) {
  g.sync();
  bool odd;
  if (eliminate(g, a, x, odd)) {
    substitute_back(g, a, x);
  } else {
    g.sync();
    fill(g, x, not_a_number(typename A::type()));
  }
}

template <class G, class A, class B, class X>
GUF_DEVICE void solve(G g, A a, B b, X x) {
  for (guf::i64 i = first_row(g); i < x.extent(0); i += row_step(g)) {
    for (guf::i64 j = first_column(g); j < x.extent(1); j += column_step(g)) x(i, j) = b(i, j);
  }
  solve_in_place(g, a, x);
}

template <class G, class A, class B, class X>
GUF_DEVICE void solve1(G g, A a, B b, X x) {
  for (guf::i64 i = g.rank(); i < x.extent(0); i += g.size()) x[i] = b[i];
  solve_in_place(g, a, column_of<X>{x});
}

template <class G, class A, class X>
GUF_DEVICE void inv(G g, A a, X x) {
  fill_identity(g, x);
  solve_in_place(g, a, x);
}

// Returns the product of the diagonal. The factors and the product are scaled by powers of two, so
// that only the result can overflow. The smaller part of a complex product may become 0.
template <class A>
GUF_DEVICE auto diagonal_product(A a) {
  typedef typename A::type T;
  enum { kLimit = 1 << 14 };  // the product of a number and 2^kLimit is 0 or infinite
  T product = T(1);
  guf::i64 exponent = 0;
  for (guf::i64 i = 0; i < a.extent(0); ++i) {
    const T factor = guf::load(a(i, i));
    const int own = exponent_of(magnitude(factor));
    product *= scaled(factor, -own);
    const int excess = exponent_of(magnitude(product));
    product = scaled(product, -excess);
    exponent += own + excess;
  }
  const guf::i64 limit = kLimit;
  return scaled(product, (int)(exponent < -limit ? -limit : exponent > limit ? limit : exponent));
}

template <class G, class A, class Y>
GUF_DEVICE void det(G g, A a, Y y) {
  typedef typename A::type T;
  bool odd;
  if (!eliminate(g, a, no_columns<T>{}, odd)) {
    y() = T(0);
    return;
  }
  if (g.rank() != 0) return;
  const T product = diagonal_product(a);
  y() = odd ? -product : product;
}

template <class T>
GUF_DEVICE T unit_of(T x) {
  return x != x ? x : T(x < T(0) ? -1 : 1);
}
template <class T>
GUF_DEVICE guf::complex<T> unit_of(guf::complex<T> z) {
  return divided(z, (T)guf::abs(z));
}

template <class G, class A, class S, class L>
GUF_DEVICE void slogdet(G g, A a, S sign, L logarithm) {
  typedef typename A::type T;
  typedef typename L::type R;
  bool odd;
  if (!eliminate(g, a, no_columns<T>{}, odd)) {
    sign() = T(0);
    logarithm() = -guf::limits<R>::infinity;
    return;
  }
  if (g.rank() != 0) return;
  T unit = T(odd ? -1 : 1);
  R sum = R(0);
  for (guf::i64 i = 0; i < a.extent(0); ++i) {
    const T pivot = guf::load(a(i, i));
    unit *= unit_of(pivot);
    sum += guf::log((R)guf::abs(pivot));
  }
  sign() = unit;
  logarithm() = sum;
}

// Factors the Hermitian matrix whose upper triangle is in y into conj(transpose(u)) * u, and stores
// u in the upper triangle. Returns false if the matrix is not positive definite.
template <class G, class Y>
GUF_DEVICE_NOINLINE bool factor_upper(G &g, Y y) {
  typedef typename Y::type T;
  typedef guf::real_t<T> R;
  const guf::i64 n = y.extent(0);
  for (guf::i64 k = 0; k < n; ++k) {
    const R square = real_part(guf::load(y(k, k)));
    g.sync();
    if (!(square > R(0))) return false;
    const R root = guf::sqrt(square);
    for (guf::i64 j = k + g.rank(); j < n; j += g.size()) {
      y(k, j) = j == k ? T(root) : divided(guf::load(y(k, j)), root);
    }
    g.sync();
    for (guf::i64 i = k + 1 + first_row(g); i < n; i += row_step(g)) {
      subtract_row(g, y, i, k, conjugate(guf::load(y(k, i))), i);
    }
    g.sync();
  }
  return true;
}

// With `Upper`, reads the upper triangle of x and stores u. Otherwise reads the lower triangle and
// stores conj(transpose(u)).
template <bool Upper, class G, class X, class Y>
GUF_DEVICE void factor(G g, X x, Y y) {
  typedef typename Y::type T;
  const guf::i64 n = y.extent(0);
  for (guf::i64 i = first_row(g); i < n; i += row_step(g)) {
    for (guf::i64 j = i + first_column(g); j < n; j += column_step(g)) {
      const T value = Upper ? (T)x(i, j) : conjugate((T)x(j, i));
      y(i, j) = i == j ? T(real_part(value)) : value;
    }
  }
  g.sync();
  if (!factor_upper(g, y)) {
    fill(g, y, not_a_number(T()));
    return;
  }
  for (guf::i64 i = first_row(g); i < n; i += row_step(g)) {
    for (guf::i64 j = i + 1 + first_column(g); j < n; j += column_step(g)) {
      if (!Upper) y(j, i) = conjugate(guf::load(y(i, j)));
      (Upper ? y(j, i) : y(i, j)) = T(0);
    }
  }
}

template <class G, class X, class Y>
GUF_DEVICE void cholesky(G g, X x, Y y) {
  factor<false>(g, x, y);
}
template <class G, class X, class Y>
GUF_DEVICE void cholesky_upper(G g, X x, Y y) {
  factor<true>(g, x, y);
}

}  // namespace standard

#if defined(GUF_HOST) && !defined(GUF_EMULATE)
#include "elimination_batch.hpp"
#endif

GUF_GUFUNC(standard::det, "(n,n)->()", GUF_LOOPS_det, "group", "overwrites",
           "batch=standard::det_batch");
GUF_GUFUNC(standard::slogdet, "(n,n)->(),()", GUF_LOOPS_slogdet, "group", "overwrites");
GUF_GUFUNC(standard::inv, "(n,n)->(n,n)", GUF_LOOPS_inv, "group", "overwrites",
           "batch=standard::inv_batch");
GUF_GUFUNC(standard::solve, "(n,n),(n,k)->(n,k)", GUF_LOOPS_solve, "group", "overwrites",
           "batch=standard::solve_batch");
GUF_GUFUNC(standard::solve1, "(n,n),(n)->(n)", GUF_LOOPS_solve1, "group", "overwrites",
           "batch=standard::solve1_batch");
GUF_GUFUNC(standard::cholesky, "(n,n)->(n,n)", GUF_LOOPS_cholesky, "group",
           "batch=standard::cholesky_batch");
GUF_GUFUNC(standard::cholesky_upper, "(n,n)->(n,n)", GUF_LOOPS_cholesky_upper, "group",
           "batch=standard::cholesky_upper_batch");
