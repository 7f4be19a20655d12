// SPDX-License-Identifier: Apache-2.0
// matmul and vecdot. Each element of a matrix product is a single sum over k in order, for all
// strides. f16 and bf16 are summed in f32 and rounded once, integers wrap, and the result for bool
// is any(x and y). vecdot sums in the order of the dialect's reduction tree
// (gufunc/kernel/reduce_tree.hpp).
#include <gufunc/ops_loops.h>

#include "integer_wrap.hpp"

namespace standard {

// The type in which products of T are summed.
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

// A product is computed panel by panel. A panel is a copy of kDepth x kColumns elements of y in
// contiguous memory, converted to the type of the sums. All rows of x are multiplied with a panel
// while it is in the cache. A band of rows keeps its sums in `carry` for all panels of a group of
// columns, so that intermediate sums are not rounded to the output's type. Panels and sums contain
// real numbers: a row of complex numbers is stored as its real parts followed by its imaginary
// parts, so that loops are vectorised.
enum { kDepth = 256, kBand = 32, kTileRows = 4 };

// The memory of the group and the memory of a thread may be in different address spaces,
// so the pointer types are deduced.
template <class S>
struct planes {
  typedef guf::real_t<S> real;
  static constexpr int count = guf::is_complex<S>::value ? 2 : 1;
};

// Multiplies the rows [row, row + kRows) of x with the panel and adds the product to kRows
// rows of sums, which stay in registers.
template <class S, int kRows, int kColumns, class X, class Panel, class Carry>
GUF_DEVICE void multiply_tile(X x, Panel panel, guf::i64 row, guf::i64 first, guf::i64 depth,
                              Carry carry) {
  typedef typename planes<S>::real R;
  constexpr int kPlanes = planes<S>::count, kPitch = kPlanes * kColumns;
  R sum[kRows][kPitch];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kPitch; ++c) sum[r][c] = carry[r * kPitch + c];
  }
  for (guf::i64 k = 0; k < depth; ++k, panel += kPitch) {
    for (int r = 0; r < kRows; ++r) {
      const S left = (S)x(row + r, first + k);
      for (int c = 0; c < kColumns; ++c) {
        if constexpr (kPlanes == 2) {
          const R re = panel[c], im = panel[kColumns + c];
          sum[r][c] += left.re * re - left.im * im;
          sum[r][kColumns + c] += left.re * im + left.im * re;
        } else {
          sum[r][c] = multiply_add<S>(sum[r][c], left, panel[c]);
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kPitch; ++c) carry[r * kPitch + c] = sum[r][c];
  }
}

// Packs a panel of y. Columns beyond the matrix are filled with zeros, and their sums are not used.
template <class S, int kColumns, class G, class Y, class Panel>
GUF_DEVICE void pack_panel(G &g, Y y, Panel panel, guf::i64 first, guf::i64 depth,
                           guf::i64 column) {
  constexpr int kPlanes = planes<S>::count;
  const guf::i64 left = y.extent(1) - column;
  const int width = left < kColumns ? (int)left : kColumns;
  g.sync();
  for (guf::i64 k = g.rank(); k < depth; k += g.size()) {
    const Panel line = panel + k * (kPlanes * kColumns);
    for (int c = 0; c < width; ++c) {
      const S value = (S)y(first + k, column + c);
      if constexpr (kPlanes == 2) {
        line[c] = value.re;
        line[kColumns + c] = value.im;
      } else {
        line[c] = value;
      }
    }
    for (int c = width; c < kColumns; ++c) {
      for (int p = 0; p < kPlanes; ++p) line[p * kColumns + c] = typename planes<S>::real(0);
    }
  }
  g.sync();
}

// Multiplies the rows of one band, which this thread computes, with a panel.
template <class S, int kColumns, class X, class Panel, class Carry>
GUF_DEVICE void multiply_band(X x, Panel panel, guf::i64 row, guf::i64 rows, guf::i64 first,
                              guf::i64 depth, Carry carry) {
  constexpr int kPitch = planes<S>::count * kColumns;
  guf::i64 r = 0;
  for (; r + kTileRows <= rows; r += kTileRows) {
    multiply_tile<S, kTileRows, kColumns>(x, panel, row + r, first, depth, carry + r * kPitch);
  }
  for (; r < rows; ++r) {
    multiply_tile<S, 1, kColumns>(x, panel, row + r, first, depth, carry + r * kPitch);
  }
}

// Computes the columns [column, column + kColumns) of z.
// Every thread of the group must help to pack each panel.
template <class S, int kColumns, class G, class X, class Y, class Z, class Panel>
GUF_DEVICE void multiply_columns(G &g, X x, Y y, Z z, Panel panel, guf::i64 column) {
  constexpr int kPlanes = planes<S>::count, kPitch = kPlanes * kColumns;
  typedef guf::value_t<typename Z::type> T;
  typedef typename planes<S>::real R;
  const guf::i64 rows = z.extent(0), depth = y.extent(0), left = z.extent(1) - column;
  const int width = left < kColumns ? (int)left : kColumns;
  const guf::i64 stride = (guf::i64)g.size() * kBand;
  for (guf::i64 start = 0; start < rows; start += stride) {
    const guf::i64 row = start + (guf::i64)g.rank() * kBand;
    const guf::i64 band = row < rows ? (rows - row < kBand ? rows - row : (guf::i64)kBand) : 0;
    R carry[kBand * kPitch];
    for (guf::i64 i = 0; i < band * kPitch; ++i) carry[i] = R(0);
    for (guf::i64 first = 0; first < depth; first += kDepth) {
      const guf::i64 count = depth - first < kDepth ? depth - first : (guf::i64)kDepth;
      // If one panel covers the whole depth, the panel is packed for the first band only, and the
      // later bands use it again.
      if (start == 0 || depth > kDepth) pack_panel<S, kColumns>(g, y, panel, first, count, column);
      multiply_band<S, kColumns>(x, panel, row, band, first, count, carry);
    }
    for (guf::i64 r = 0; r < band; ++r) {
      const guf::i64 at = r * kPitch;
      for (int c = 0; c < width; ++c) {
        if constexpr (kPlanes == 2) {
          z(row + r, column + c) = T(carry[at + c], carry[at + kColumns + c]);
        } else {
          z(row + r, column + c) = (T)carry[at + c];
        }
      }
    }
  }
}

// Computes a tile of a small matrix product. y is not packed,
// because it is in the cache and only a few rows of x are multiplied with it.
template <class S, int kRows, int kColumns, class X, class Y, class Z>
GUF_DEVICE void small_tile(X x, Y y, Z z, guf::i64 row, guf::i64 column) {
  typedef guf::value_t<typename Z::type> T;
  S sum[kRows][kColumns];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) sum[r][c] = S(0);
  }
  GUF_SCALAR_LOOP
  for (guf::i64 k = 0; k < y.extent(0); ++k) {
    S right[kColumns];
    for (int c = 0; c < kColumns; ++c) right[c] = (S)y(k, column + c);
    for (int r = 0; r < kRows; ++r) {
      const S left = (S)x(row + r, k);
      for (int c = 0; c < kColumns; ++c) sum[r][c] = multiply_add<S>(sum[r][c], left, right[c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) z(row + r, column + c) = (T)sum[r][c];
  }
}

// Computes blocks of kColumns columns from `column` on, while enough columns remain.
// The threads of the group divide the rows.
template <class S, int kColumns, class G, class X, class Y, class Z>
GUF_DEVICE void small_columns(G &g, X x, Y y, Z z, guf::i64 *column) {
  const guf::i64 rows = z.extent(0);
  for (; *column + kColumns <= z.extent(1); *column += kColumns) {
    for (guf::i64 row = (guf::i64)g.rank() * kTileRows; row < rows;
         row += (guf::i64)g.size() * kTileRows) {
      if (row + kTileRows <= rows) {
        small_tile<S, kTileRows, kColumns>(x, y, z, row, *column);
      } else {
        for (guf::i64 r = row; r < rows; ++r) small_tile<S, 1, kColumns>(x, y, z, r, *column);
      }
    }
  }
}

template <class G, class X, class Y, class Z>
GUF_DEVICE void matmul(G g, X x, Y y, Z z) {
  typedef sum_t<guf::value_t<typename Z::type>> S;
  // Interleaved real and imaginary parts are not vectorised, so packing pays for smaller matrices.
  constexpr guf::i64 kSmall = guf::is_complex<S>::value ? 4 : 32;
  if (z.extent(0) <= kSmall && z.extent(1) <= kSmall && y.extent(0) <= kSmall) {
    guf::i64 column = 0;
    small_columns<S, 64 / (int)sizeof(S)>(g, x, y, z, &column);
    small_columns<S, 4>(g, x, y, z, &column);
    small_columns<S, 2>(g, x, y, z, &column);
    small_columns<S, 1>(g, x, y, z, &column);
    return;
  }
  constexpr int kWide = 128 / (int)sizeof(S), kNarrow = kWide / 4;
  typedef typename planes<S>::real R;
  const auto panel = g.template shared<R>(kDepth * kWide * planes<S>::count);
  guf::i64 column = 0;
  for (; column + kWide <= z.extent(1); column += kWide) {
    multiply_columns<S, kWide>(g, x, y, z, panel, column);
  }
  for (; column < z.extent(1); column += kNarrow) {
    multiply_columns<S, kNarrow>(g, x, y, z, panel, column);
  }
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

GUF_GUFUNC(standard::matmul, "(n?,k),(k,m?)->(n?,m?)", GUF_LOOPS_matmul, "group");
GUF_GUFUNC(standard::vecdot, "(n),(n)->()", GUF_LOOPS_vecdot, "group");
