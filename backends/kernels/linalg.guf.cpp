// SPDX-License-Identifier: Apache-2.0
// matmul and vecdot. Each element of a matrix product is one sum over k in order, whatever the
// strides: f16 and bf16 in f32, rounded once; integers wrap; bool is any(x and y). vecdot sums by
// the dialect's tree.
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

// What products of T are summed in.
template <class T>
struct sum_of {
  typedef wrapping_t<T> type;
};
template <>
struct sum_of<bool> {
  typedef bool type;
};
template <class T>
using sum_t = typename sum_of<T>::type;

template <class S>
GUF_DEVICE S multiply_add(S sum, S x, S y) {
  if constexpr (guf::is_same<S, bool>::value) {
    return sum || (x && y);
  } else {
    return sum + x * y;
  }
}

// A tile of kRows x kColumns sums, which stay in registers while k runs.
template <int kRows, int kColumns, class X, class Y, class Z>
GUF_DEVICE void multiply_tile(X x, Y y, Z z, guf::i64 row, guf::i64 column) {
  typedef sum_t<guf::value_t<typename Z::type>> S;
  S sum[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) sum[r][c] = S(0);
  }
  const guf::i64 depth = x.extent(1);
  for (guf::i64 k = 0; k < depth; ++k) {
    for (int r = 0; r < kRows; ++r) {
      const S left = (S)x(row + r, k);
      for (int c = 0; c < kColumns; ++c) {
        sum[r][c] = multiply_add<S>(sum[r][c], left, (S)y(k, column + c));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      z(row + r, column + c) = (guf::value_t<typename Z::type>)sum[r][c];
    }
  }
}

template <int kRows, class X, class Y, class Z>
GUF_DEVICE void multiply_rows(X x, Y y, Z z, guf::i64 row) {
  constexpr int kColumns = 128 / (int)sizeof(sum_t<guf::value_t<typename Z::type>>);
  const guf::i64 columns = z.extent(1);
  guf::i64 column = 0;
  for (; column + kColumns <= columns; column += kColumns) {
    multiply_tile<kRows, kColumns>(x, y, z, row, column);
  }
  for (; column + 4 <= columns; column += 4) multiply_tile<kRows, 4>(x, y, z, row, column);
  for (; column < columns; ++column) multiply_tile<kRows, 1>(x, y, z, row, column);
}

template <class X, class Y, class Z>
GUF_DEVICE void matmul(X x, Y y, Z z) {
  guf::i64 row = 0;
  for (; row + 4 <= z.extent(0); row += 4) multiply_rows<4>(x, y, z, row);
  for (; row < z.extent(0); ++row) multiply_rows<1>(x, y, z, row);
}

template <class T>
GUF_DEVICE T conjugate(T x) {
  return x;
}
template <class T>
GUF_DEVICE guf::complex<T> conjugate(guf::complex<T> x) {
  return guf::conj(x);
}

template <class G, class X, class Y, class Z>
GUF_DEVICE void vecdot(G g, X x, Y y, Z z) {
  typedef guf::value_t<typename Z::type> T;
  if constexpr (guf::is_same<T, bool>::value) {
    const auto hits = [&](guf::i64 i) { return (guf::u64)(x[i] && y[i]); };
    z() = g.sum(x.extent(0), hits) != 0;
  } else {
    typedef sum_t<T> S;
    z() = (T)g.sum(x.extent(0), [&](guf::i64 i) { return conjugate((S)x[i]) * (S)y[i]; });
  }
}

}  // namespace standard

GUF_GUFUNC(standard::matmul, "(n?,k),(k,m?)->(n?,m?)", GUF_LOOPS_matmul);
GUF_GUFUNC(standard::vecdot, "(n),(n)->()", GUF_LOOPS_vecdot, "group");
