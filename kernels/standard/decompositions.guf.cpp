// SPDX-License-Identifier: Apache-2.0
// qr, eigh and eigvalsh. Householder reflections make a matrix triangular (qr) or tridiagonal
// (eigh), and the implicit QL method computes the eigenvalues of the tridiagonal matrix. See Golub
// and Van Loan, "Matrix Computations", 4th edition, 5.2 and 8.3. Signs are those of LAPACK. Each
// element is computed in one order, whatever the number of threads.
//
// If the QL method does not converge, or if the matrix of eigh has elements that are not finite,
// the results are NaN.
#include <gufunc/ops_loops.h>

#include "euclidean_norm.hpp"
#include "matrix_loops.hpp"

namespace standard {

// A complex number times a real one.
template <class T>
GUF_DEVICE T times(T x, T factor) {
  return x * factor;
}
template <class T>
GUF_DEVICE guf::complex<T> times(guf::complex<T> z, T factor) {
  return guf::complex<T>(z.re * factor, z.im * factor);
}

template <class T>
GUF_DEVICE T imaginary_part(T) {
  return T(0);
}
template <class T>
GUF_DEVICE T imaginary_part(guf::complex<T> z) {
  return z.im;
}
template <class T>
GUF_DEVICE T from_parts(guf::real_t<T> re, guf::real_t<T> im) {
  if constexpr (guf::is_complex<T>::value) {
    return T(re, im);
  } else {
    return re;
  }
}

// ---- Reflections: H = I - factor * v * conj(transpose(v)), where the first element of v is 1.

template <class T>
struct Reflection {
  T factor;  // 0 if H is the identity
  T scale;   // v is the reflected vector times this number, except for its first element
  guf::real_t<T> image;  // conj(transpose(H)) reflects the vector to (image, 0, 0, ...)
};

// Returns the reflection of the vector (head, x(0), x(1), ...).
template <class T, class G, class F>
GUF_DEVICE Reflection<T> reflection_of(G &g, T head, guf::i64 count, F x) {
  typedef guf::real_t<T> R;
  const R rest = euclidean_norm<R>(g, count, x);
  const R re = real_part(head), im = imaginary_part(head);
  g.sync();
  if (rest == R(0) && im == R(0)) return {T(0), T(0), re};
  const R length = guf::hypot((R)guf::abs(head), rest);
  const R image = re < R(0) ? length : -length;
  return {from_parts<T>((image - re) / image, -im / image), T(1) / (head - T(image)), image};
}

// Computes x := x - factor * v * (conj(transpose(v)) * x) for the columns [first, last) of x. The
// first element of v belongs to row `head` and is 1, and the others are in column `column` of a.
// Row `row` of w stores intermediate results.
template <class G, class A, class X, class W>
GUF_DEVICE_NOINLINE void reflect(G &g, A a, guf::i64 column, guf::i64 head, X x, guf::i64 first,
                                 guf::i64 last, W w, guf::i64 row, typename X::type factor) {
  typedef typename X::type T;
  const guf::i64 begin = first + (guf::i64)g.rank(), step = (guf::i64)g.size();
  for (guf::i64 j = begin; j < last; j += step) w(row, j) = guf::load(x(head, j));
  for (guf::i64 i = head + 1; i < x.extent(0); ++i) {
    const T v = conjugate(guf::load(a(i, column)));
    if constexpr (guf::is_complex<T>::value) {
      for (guf::i64 j = begin; j < last; j += step) {
        w(row, j) = guf::load(w(row, j)) + v * guf::load(x(i, j));
      }
    } else {
      GUF_INDEPENDENT
      for (guf::i64 j = begin; j < last; j += step) {
        w(row, j) = guf::load(w(row, j)) + v * guf::load(x(i, j));
      }
    }
  }
  for (guf::i64 j = begin; j < last; j += step) {
    const T product = factor * guf::load(w(row, j));
    w(row, j) = product;
    x(head, j) = guf::load(x(head, j)) - product;
  }
  for (guf::i64 i = head + 1; i < x.extent(0); ++i) {
    const T v = guf::load(a(i, column));
    if constexpr (guf::is_complex<T>::value) {
      for (guf::i64 j = begin; j < last; j += step) {
        x(i, j) = guf::load(x(i, j)) - v * guf::load(w(row, j));
      }
    } else {
      GUF_INDEPENDENT
      for (guf::i64 j = begin; j < last; j += step) {
        x(i, j) = guf::load(x(i, j)) - v * guf::load(w(row, j));
      }
    }
  }
  g.sync();
}

// Computes the reflection of column `column` of a, from row `head` on, and stores v there.
template <class G, class A>
GUF_DEVICE_NOINLINE auto reflect_column(G &g, A a, guf::i64 column, guf::i64 head) {
  typedef typename A::type T;
  const guf::i64 m = a.extent(0);
  const auto h = reflection_of<T>(g, guf::load(a(head, column)), m - head - 1,
                                  [&](guf::i64 i) { return guf::load(a(head + 1 + i, column)); });
  if (h.factor != T(0)) {
    for (guf::i64 i = head + 1 + (guf::i64)g.rank(); i < m; i += (guf::i64)g.size()) {
      a(i, column) = guf::load(a(i, column)) * h.scale;
    }
  }
  return h;
}

// Column j of a stores the vector of reflection j below the diagonal, and the factor on it.
template <class G, class A, class Q, class R>
GUF_DEVICE void qr(G g, A a, Q q, R r) {
  typedef typename A::type T;
  const guf::i64 n = a.extent(1), count = r.extent(0);
  for (guf::i64 j = 0; j < count; ++j) {
    const auto h = reflect_column(g, a, j, j);
    for (guf::i64 k = g.rank(); k < j; k += g.size()) r(j, k) = T(0);
    if (g.rank() == 0) {
      r(j, j) = T(h.image);
      a(j, j) = h.factor;
    }
    g.sync();
    if (h.factor != T(0)) reflect(g, a, j, j, a, j + 1, n, r, j, conjugate(h.factor));
    for (guf::i64 k = j + 1 + (guf::i64)g.rank(); k < n; k += (guf::i64)g.size()) {
      r(j, k) = guf::load(a(j, k));
    }
    g.sync();
  }
  fill_identity(g, q);
  g.sync();
  for (guf::i64 j = count - 1; j >= 0; --j) {
    const T factor = guf::load(a(j, j));
    g.sync();
    if (factor != T(0)) reflect(g, a, j, j, q, j, count, a, j, factor);
  }
}

// ---- Hermitian matrices

// Computes a := a * H, for the rows and columns from `head` on. Row `row` of a contains the
// conjugates of v.
template <class G, class A>
GUF_DEVICE_NOINLINE void reflect_right(G &g, A a, guf::i64 row, guf::i64 head,
                                       typename A::type factor) {
  typedef typename A::type T;
  const guf::i64 n = a.extent(0);
  for (guf::i64 i = head + (guf::i64)g.rank(); i < n; i += (guf::i64)g.size()) {
    const T sum = guf::single_thread().sum(n - head, [&](guf::i64 k) {
      return guf::load(a(i, head + k)) * conjugate(guf::load(a(row, head + k)));
    });
    const T product = factor * sum;
    if constexpr (guf::is_complex<T>::value) {
      for (guf::i64 k = head; k < n; ++k) {
        a(i, k) = guf::load(a(i, k)) - product * guf::load(a(row, k));
      }
    } else {
      GUF_INDEPENDENT
      for (guf::i64 k = head; k < n; ++k) {
        a(i, k) = guf::load(a(i, k)) - product * guf::load(a(row, k));
      }
    }
  }
  g.sync();
}

// Makes the Hermitian matrix a tridiagonal by reflections from both sides. Stores the diagonal of
// the result in `diagonal`, and the elements below the diagonal, which are real, where they are in
// the matrix. Column j stores the vector of reflection j below these elements, and the factor on
// the diagonal.
template <class G, class A, class W>
GUF_DEVICE_NOINLINE void make_tridiagonal(G &g, A a, W diagonal) {
  typedef typename A::type T;
  const guf::i64 n = a.extent(0);
  for (guf::i64 j = 0; j < n; ++j) {
    if (g.rank() == 0) diagonal[j] = real_part(guf::load(a(j, j)));
    if (j == n - 1) break;
    const auto h = reflect_column(g, a, j, j + 1);
    g.sync();
    if (h.factor != T(0)) {
      reflect(g, a, j, j + 1, a, j + 1, n, a, j, conjugate(h.factor));
      for (guf::i64 k = j + 1 + (guf::i64)g.rank(); k < n; k += (guf::i64)g.size()) {
        a(j, k) = k == j + 1 ? T(1) : conjugate(guf::load(a(k, j)));
      }
      g.sync();
      reflect_right(g, a, j, j + 1, h.factor);
    }
    if (g.rank() == 0) {
      a(j + 1, j) = T(h.image);
      a(j, j) = h.factor;
    }
    g.sync();
  }
}

// The numbers that the QL method stores in the matrix, whose elements are no longer needed: the
// elements below the diagonal of the tridiagonal matrix, and the rotations of a sweep.
template <class A>
struct Work {
  typedef typename A::type T;
  typedef guf::real_t<T> R;
  A a;
  GUF_DEVICE R below(guf::i64 i) const { return real_part(guf::load(a(0, i))); }
  GUF_DEVICE void set_below(guf::i64 i, R value) const { a(0, i) = T(value); }
  GUF_DEVICE R cosine(guf::i64 i) const { return real_part(guf::load(a(i + 1, 0))); }
  GUF_DEVICE R sine(guf::i64 i) const { return real_part(guf::load(a(i + 1, 1))); }
  GUF_DEVICE void set_rotation(guf::i64 i, R cosine, R sine) const {
    a(i + 1, 0) = T(cosine);
    a(i + 1, 1) = T(sine);
  }
};

// A sweep of the QL method: the rotations of rows i and i + 1 for i = last - 1, ..., first.
struct Sweep {
  guf::i64 first, last;
  bool failed;
};

// Computes the next sweep for eigenvalue k, and stores its rotations. The diagonal is d. Returns an
// empty sweep if the eigenvalue is accurate. The sums of squares do not overflow, and where they
// underflow, the numbers are negligible, because prepare_hermitian() has scaled the matrix.
template <class W, class A>
GUF_DEVICE_NOINLINE Sweep next_sweep(guf::i64 k, W d, Work<A> work, int &sweeps) {
  typedef typename W::type R;
  enum { kMaxSweeps = 60 };  // LAPACK's limit is 30 for each eigenvalue
  const guf::i64 n = d.extent(0);
  guf::i64 last = k;
  for (; last < n - 1; ++last) {
    const R neighbors = guf::fabs(guf::load(d[last])) + guf::fabs(guf::load(d[last + 1]));
    if (guf::fabs(work.below(last)) <= guf::limits<R>::epsilon * neighbors) break;
  }
  if (last == k) return {0, 0, false};
  if (sweeps++ == kMaxSweeps) return {0, 0, true};
  const R below = work.below(k);
  R g = (guf::load(d[k + 1]) - guf::load(d[k])) / (R(2) * below);
  R r = guf::sqrt(g * g + R(1));
  g = guf::load(d[last]) - guf::load(d[k]) + below / (g + guf::copysign(r, g));
  R sine = R(1), cosine = R(1), change = R(0);
  for (guf::i64 i = last - 1; i >= k; --i) {
    const R f = sine * work.below(i), b = cosine * work.below(i);
    r = guf::sqrt(f * f + g * g);
    work.set_below(i + 1, r);
    if (r == R(0)) {
      d[i + 1] = guf::load(d[i + 1]) - change;
      work.set_below(last, R(0));
      return {i + 1, last, false};
    }
    sine = f / r;
    cosine = g / r;
    work.set_rotation(i, cosine, sine);
    g = guf::load(d[i + 1]) - change;
    r = (guf::load(d[i]) - g) * sine + R(2) * cosine * b;
    change = sine * r;
    d[i + 1] = g + change;
    g = cosine * r - b;
  }
  d[k] = guf::load(d[k]) - change;
  work.set_below(k, g);
  work.set_below(last, R(0));
  return {k, last, false};
}

// Applies the rotations of a sweep to the rows of z.
template <class G, class Z, class A>
GUF_DEVICE void rotate(G &g, Z z, Work<A> work, Sweep sweep) {
  typedef typename Z::type T;
  typedef guf::real_t<T> R;
  const guf::i64 n = z.extent(1);
  for (guf::i64 i = sweep.last - 1; i >= sweep.first; --i) {
    const R cosine = work.cosine(i), sine = work.sine(i);
    GUF_INDEPENDENT
    for (guf::i64 j = g.rank(); j < n; j += g.size()) {
      const T one = guf::load(z(i, j)), other = guf::load(z(i + 1, j));
      z(i, j) = times(one, cosine) - times(other, sine);
      z(i + 1, j) = times(one, sine) + times(other, cosine);
    }
  }
}

// No matrix of eigenvectors.
template <class T>
struct no_vectors {
  typedef T type;
  static constexpr bool exists = false;
};
template <class V>
struct vectors_in {
  typedef typename V::type type;
  static constexpr bool exists = true;
  V v;
};

// Computes the eigenvalues of the tridiagonal matrix with the diagonal d, and rotates the rows of
// the matrix of eigenvectors. Returns false if the method does not converge.
template <class G, class W, class A, class Z>
GUF_DEVICE bool find_eigenvalues(G &g, W d, Work<A> work, Z z) {
  for (guf::i64 k = 0; k < d.extent(0); ++k) {
    int sweeps = 0;
    for (;;) {
      Sweep sweep{0, 0, false};
      if (g.rank() == 0) sweep = next_sweep(k, d, work, sweeps);
      sweep.first = g.broadcast(sweep.first, 0);
      sweep.last = g.broadcast(sweep.failed ? -1 : sweep.last, 0);
      g.sync();
      if (sweep.last < 0) return false;
      if (sweep.last == 0) break;
      if constexpr (Z::exists) {
        rotate(g, z.v, work, sweep);
        g.sync();
      }
    }
  }
  return true;
}

// Sorts the eigenvalues, and the rows of the matrix of eigenvectors with them.
template <class G, class W, class Z>
GUF_DEVICE void sort_eigenvalues(G &g, W d, Z z) {
  typedef typename W::type R;
  const guf::i64 n = d.extent(0);
  for (guf::i64 k = 0; k + 1 < n; ++k) {
    guf::i64 least = k;
    for (guf::i64 i = k + 1; i < n; ++i) {
      if (guf::load(d[i]) < guf::load(d[least])) least = i;
    }
    g.sync();
    if (least == k) continue;
    if (g.rank() == 0) {
      const R kept = guf::load(d[k]);
      d[k] = guf::load(d[least]);
      d[least] = kept;
    }
    if constexpr (Z::exists) swap_rows(g, z.v, k, least, 0);
    g.sync();
  }
}

template <class G, class V>
GUF_DEVICE void transpose(G &g, V v) {
  const guf::i64 n = v.extent(0);
  g.sync();
  for (guf::i64 i = first_row(g); i < n; i += row_step(g)) {
    for (guf::i64 j = i + 1 + first_column(g); j < n; j += column_step(g)) {
      const auto kept = guf::load(v(i, j));
      v(i, j) = guf::load(v(j, i));
      v(j, i) = kept;
    }
  }
  g.sync();
}

// Copies the lower triangle of a to the upper one, makes the diagonal real, and scales the matrix
// if the squares of its elements might overflow or underflow. Returns the exponent of the scale.
// Sets `finite` to false if there is an element that is not finite.
template <class G, class A>
GUF_DEVICE_NOINLINE int prepare_hermitian(G &g, A a, bool &finite) {
  typedef typename A::type T;
  typedef guf::real_t<T> R;
  constexpr int kSafe = sizeof(R) == 4 ? 40 : 400;
  const guf::i64 n = a.extent(0);
  for (guf::i64 i = first_row(g); i < n; i += row_step(g)) {
    for (guf::i64 j = i + first_column(g); j < n; j += column_step(g)) {
      const T value = guf::load(a(j, i));
      if (i == j) {
        a(i, i) = T(real_part(value));
      } else {
        a(i, j) = conjugate(value);
      }
    }
  }
  g.sync();
  const R greatest = g.template reduce<R>(
      n * n, [&](guf::i64 k) { return magnitude(guf::load(a(k / n, k % n))); }, guf::max_op(),
      R(0));
  g.sync();
  finite = greatest <= guf::limits<R>::max;
  if (!finite || greatest == R(0)) return 0;
  const int exponent = exponent_of(greatest);
  if (exponent >= -kSafe && exponent <= kSafe) return 0;
  for (guf::i64 i = first_row(g); i < n; i += row_step(g)) {
    for (guf::i64 j = first_column(g); j < n; j += column_step(g)) {
      a(i, j) = scaled(guf::load(a(i, j)), -exponent);
    }
  }
  g.sync();
  return exponent;
}

// Stores the product of the reflections of make_tridiagonal() in v.
template <class G, class A, class V>
GUF_DEVICE void multiply_reflections(G &g, A a, V v) {
  typedef typename A::type T;
  const guf::i64 n = a.extent(0);
  fill_identity(g, v);
  g.sync();
  for (guf::i64 j = n - 2; j >= 0; --j) {
    const T factor = guf::load(a(j, j));
    if (factor != T(0)) reflect(g, a, j, j + 1, v, j + 1, n, a, j, factor);
  }
}

// Computes the eigenvalues and, if z exists, the eigenvectors. Returns false if there is no result.
template <class G, class A, class W, class Z>
GUF_DEVICE bool decompose_hermitian(G &g, A a, W w, Z z) {
  const guf::i64 n = a.extent(0);
  bool finite;
  const int exponent = prepare_hermitian(g, a, finite);
  if (!finite) return false;
  make_tridiagonal(g, a, w);
  if constexpr (Z::exists) {
    multiply_reflections(g, a, z.v);
    transpose(g, z.v);
  }
  const Work<A> work{a};
  for (guf::i64 i = g.rank(); i < n - 1; i += g.size()) {
    work.set_below(i, real_part(guf::load(a(i + 1, i))));
  }
  g.sync();
  if (!find_eigenvalues(g, w, work, z)) return false;
  sort_eigenvalues(g, w, z);
  if constexpr (Z::exists) transpose(g, z.v);
  if (exponent != 0) {
    for (guf::i64 i = g.rank(); i < n; i += g.size()) w[i] = scaled(guf::load(w[i]), exponent);
  }
  return true;
}

template <class G, class A, class W>
GUF_DEVICE void eigvalsh(G g, A a, W w) {
  typedef typename W::type R;
  if (decompose_hermitian(g, a, w, no_vectors<typename A::type>{})) return;
  for (guf::i64 i = g.rank(); i < w.extent(0); i += g.size()) w[i] = guf::limits<R>::nan;
}

template <class G, class A, class W, class V>
GUF_DEVICE void eigh(G g, A a, W w, V v) {
  typedef typename W::type R;
  if (decompose_hermitian(g, a, w, vectors_in<V>{v})) return;
  for (guf::i64 i = g.rank(); i < w.extent(0); i += g.size()) w[i] = guf::limits<R>::nan;
  fill(g, v, not_a_number(typename V::type()));
}

}  // namespace standard

GUF_GUFUNC(standard::qr, "(m,n)->(m,k),(k,n)", GUF_LOOPS_qr, "rule=k=min(m,n)", "group",
           "overwrites");
GUF_GUFUNC(standard::eigvalsh, "(n,n)->(n)", GUF_LOOPS_eigvalsh, "group", "overwrites");
GUF_GUFUNC(standard::eigh, "(n,n)->(n),(n,n)", GUF_LOOPS_eigh, "group", "overwrites");
