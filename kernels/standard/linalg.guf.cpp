// SPDX-License-Identifier: Apache-2.0
// matmul, vecdot, matvec and vecmat. Each element of a matrix product is a single sum over k in
// order, for all strides. f16 and bf16 are summed in f32 and rounded once, integers wrap, and the
// result for bool is any(x and y). vecdot, matvec and vecmat sum in the order of the dialect's
// reduction tree (gufunc/kernel/reduce_tree.hpp). An element of matvec or vecmat therefore has the
// bits of vecdot of the same real vectors, but not always those of matmul.
#include <gufunc/ops_loops.h>

#include "number_parts.hpp"
#include "product_sums.hpp"

namespace standard {

// A product is computed panel by panel. A panel is a copy of kDepth x kColumns elements of y in
// contiguous memory, converted to the type of the sums. All rows of x are multiplied with a panel
// while it is in the cache. A band of rows keeps its sums in `carry` for all panels of a group of
// columns, so that intermediate sums are not rounded to the output's type. Panels and sums contain
// real numbers: a row of complex numbers is stored as its real parts followed by its imaginary
// parts, so that loops are vectorised.
enum { kDepth = 256, kBand = 32, kTileRows = 4 };

// The number of columns that a thread multiplies at once. The sums of one row have `bytes` bytes.
// On a device, a sum of any type needs a register, so a thread computes at most 16 columns of types
// of one or two bytes.
template <class G, class S>
constexpr int columns_of(int bytes) {
  const bool narrow = sizeof(S) < 4 && !guf::is_same<G, guf::single_thread>::value;
  return narrow ? 16 : bytes / (int)sizeof(S);
}

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
  GUF_NO_UNROLL
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
  GUF_NO_UNROLL
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
    small_columns<S, columns_of<G, S>(64)>(g, x, y, z, &column);
    small_columns<S, 4>(g, x, y, z, &column);
    small_columns<S, 2>(g, x, y, z, &column);
    small_columns<S, 1>(g, x, y, z, &column);
    return;
  }
  constexpr int kWide = columns_of<G, S>(128), kNarrow = kWide / 4;
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

// Adds products in the type of the sums.
template <class S>
struct sum_op {
  GUF_DEVICE S operator()(S x, S y) const {
    if constexpr (guf::is_same<S, bool>::value) {
      return x || y;
    } else {
      return x + y;
    }
  }
};

// kCount sums, which are added element by element.
template <class S, int kCount>
struct sums {
  S at[kCount];
};
template <class S, int kCount>
struct sums_op {
  GUF_DEVICE sums<S, kCount> operator()(sums<S, kCount> x, sums<S, kCount> y) const {
    for (int c = 0; c < kCount; ++c) x.at[c] = sum_op<S>()(x.at[c], y.at[c]);
    return x;
  }
};

enum { kPartial = 8 };  // accumulators of a base block

// Combines the accumulators of kRows rows. Not inlined, because otherwise the compiler arranges the
// accumulators for these few sums, and not for the loop that computes them.
template <class S, int kRows>
GUF_DEVICE_NOINLINE sums<S, kRows> joined_partials(const S (&part)[kRows][kPartial]) {
  const sum_op<S> add;
  sums<S, kRows> all;
  for (int r = 0; r < kRows; ++r) {
    all.at[r] = add(add(add(part[r][0], part[r][1]), add(part[r][2], part[r][3])),
                    add(add(part[r][4], part[r][5]), add(part[r][6], part[r][7])));
  }
  return all;
}

// A base block of the reduction tree, for kRows rows of x at once, so that the sums of several rows
// do not wait for each other. The loop over the accumulators is vectorised.
template <class S, int kRows, class X, class Y>
GUF_DEVICE sums<S, kRows> rows_of_block(X x, Y y, guf::i64 row, guf::i64 first, guf::i64 count) {
  sums<S, kRows> all;
  for (int r = 0; r < kRows; ++r) all.at[r] = S(0);
  guf::i64 i = 0;
  if (count >= kPartial) {
    S part[kRows][kPartial];
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < kPartial; ++j) {
        part[r][j] = (S)((S)x(row + r, first + j) * (S)y[first + j]);
      }
    }
    for (i = kPartial; i + kPartial <= count; i += kPartial) {
      for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kPartial; ++j) {
          const guf::i64 k = first + i + j;
          part[r][j] = multiply_add<S>(part[r][j], (S)x(row + r, k), (S)y[k]);
        }
      }
    }
    S stored[kRows][kPartial];
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < kPartial; ++j) stored[r][j] = part[r][j];
    }
    all = joined_partials<S, kRows>(stored);
  } else {
    for (int r = 0; r < kRows; ++r) {
      all.at[r] = (S)((S)x(row + r, first) * (S)y[first]);
    }
    i = 1;
  }
  for (; i < count; ++i) {
    for (int r = 0; r < kRows; ++r) {
      const guf::i64 k = first + i;
      all.at[r] = multiply_add<S>(all.at[r], (S)x(row + r, k), (S)y[k]);
    }
  }
  return all;
}

// Combines the results of `block(first, count)` for all base blocks of n > 0 elements.
template <class S, int kRows, class Block>
GUF_DEVICE sums<S, kRows> joined_blocks(guf::i64 n, Block block) {
  if (n <= guf::kLeafSize) return block(0, n);
  guf::detail::tree_joiner<sums<S, kRows>, sums_op<S, kRows>> tree{sums_op<S, kRows>()};
  for (guf::i64 i = 0; i < n; i += guf::kLeafSize) {
    tree.push(block(i, n - i < guf::kLeafSize ? n - i : (guf::i64)guf::kLeafSize));
  }
  return tree.join();
}

// Computes groups of kRows elements of z from `*row` on, while enough rows remain.
template <class S, int kRows, class X, class Y, class Z>
GUF_DEVICE void multiply_rows(X x, Y y, Z z, guf::i64 *row) {
  typedef guf::value_t<typename Z::type> T;
  for (; *row + kRows <= z.extent(0); *row += kRows) {
    const auto block = [&](guf::i64 first, guf::i64 count) {
      return rows_of_block<S, kRows>(x, y, *row, first, count);
    };
    const sums<S, kRows> all = joined_blocks<S, kRows>(x.extent(1), block);
    for (int r = 0; r < kRows; ++r) z[*row + r] = (T)all.at[r];
  }
}

template <class G, class Z>
GUF_DEVICE void store_zeros(G &g, Z z) {
  typedef guf::value_t<typename Z::type> T;
  for (guf::i64 i = g.rank(); i < z.extent(0); i += g.size()) z[i] = T(0);
}

// Each sub-group of a larger group computes whole rows.
template <class G, class X, class Y, class Z>
GUF_DEVICE void matvec(G g, X x, Y y, Z z) {
  typedef guf::value_t<typename Z::type> T;
  typedef sum_t<T> S;
  const guf::i64 n = x.extent(1);
  if (n == 0) return store_zeros(g, z);
  if constexpr (guf::is_same<G, guf::single_thread>::value) {
    guf::i64 row = 0;
    multiply_rows<S, kTileRows>(x, y, z, &row);
    multiply_rows<S, 1>(x, y, z, &row);
  } else {
    auto lanes = g.subgroup();
    const guf::i64 step = g.size() / lanes.size();
    for (guf::i64 row = g.rank() / lanes.size(); row < z.extent(0); row += step) {
      const auto product = [&](guf::i64 k) { return (S)((S)x(row, k) * (S)y[k]); };
      const S all = lanes.template reduce<S>(n, product, sum_op<S>(), S(0));
      if (lanes.rank() == 0) z[row] = (T)all;
    }
  }
}

// The columns [column, column + width) of vecmat. The accumulators and the results of subtrees are
// lines of kColumns sums, and the loops over the columns are vectorised.
template <class S, class X, class Y, class Lines>
class column_sums {
 public:
  enum { kColumns = 512 / (int)sizeof(S), kLevels = 57, kLines = kPartial + kLevels };

  GUF_DEVICE column_sums(X x, Y y, Lines lines, guf::i64 column, guf::i64 width)
      : x_(x), y_(y), lines_(lines), column_(column), width_(width) {}

  // Returns the line of the sums over all n > 0 elements.
  GUF_DEVICE Lines compute() {
    const guf::i64 n = x_.extent(0);
    guf::u64 blocks = 0;
    for (guf::i64 i = 0; i < n; i += guf::kLeafSize, ++blocks) {
      reduce_block(i, n - i < guf::kLeafSize ? n - i : (guf::i64)guf::kLeafSize);
      int level = 0;
      for (guf::u64 carry = blocks; (carry & 1u) != 0; carry >>= 1) add(0, subtree(level++), 0);
      copy(subtree(level), 0);
    }
    int level = 0;
    while (((blocks >> level) & 1u) == 0) ++level;
    copy(0, subtree(level));
    for (++level; (blocks >> level) != 0; ++level) {
      if (((blocks >> level) & 1u) != 0) add(0, subtree(level), 0);
    }
    return lines_;
  }

 private:
  // The index of the line for a subtree of 2^level base blocks.
  static GUF_DEVICE int subtree(int level) { return kPartial + level; }
  GUF_DEVICE Lines line(int index) const { return lines_ + index * kColumns; }

  // Stores line a + line b.
  GUF_DEVICE void add(int to, int a, int b) {
    const Lines out = line(to), left = line(a), right = line(b);
    for (guf::i64 c = 0; c < width_; ++c) out[c] = sum_op<S>()(left[c], right[c]);
  }
  GUF_DEVICE void copy(int to, int from) {
    for (guf::i64 c = 0; c < width_; ++c) line(to)[c] = line(from)[c];
  }
  GUF_DEVICE void set_products(int to, guf::i64 k) {
    const Lines out = line(to);
    const S left = conjugate((S)x_[k]);
    for (guf::i64 c = 0; c < width_; ++c) out[c] = (S)(left * (S)y_(k, column_ + c));
  }
  GUF_DEVICE void add_products(int to, guf::i64 k) {
    const Lines out = line(to);
    const S left = conjugate((S)x_[k]);
    for (guf::i64 c = 0; c < width_; ++c) {
      out[c] = multiply_add<S>(out[c], left, (S)y_(k, column_ + c));
    }
  }

  // Adds the products of four rows, whose distance is `step`, one after the other.
  GUF_DEVICE void add_four_products(int to, guf::i64 k, guf::i64 step) {
    const Lines out = line(to);
    const S left[4] = {conjugate((S)x_[k]), conjugate((S)x_[k + step]),
                       conjugate((S)x_[k + 2 * step]), conjugate((S)x_[k + 3 * step])};
    for (guf::i64 c = 0; c < width_; ++c) {
      S sum = out[c];
      for (int r = 0; r < 4; ++r) {
        sum = multiply_add<S>(sum, left[r], (S)y_(k + r * step, column_ + c));
      }
      out[c] = sum;
    }
  }

  // Reduces a base block to line 0.
  GUF_DEVICE void reduce_block(guf::i64 first, guf::i64 count) {
    const int used = count < kPartial ? 1 : (int)kPartial;
    const guf::i64 whole = count - count % used;
    for (int j = 0; j < used; ++j) set_products(j, first + j);
    guf::i64 i = used;
    for (; i + 4 * used <= whole; i += 4 * used) {
      for (int j = 0; j < used; ++j) add_four_products(j, first + i + j, used);
    }
    for (; i < whole; ++i) add_products((int)(i % used), first + i);
    for (int step = 1; step < used; step *= 2) {
      for (int j = 0; j < used; j += 2 * step) add(j, j, j + step);
    }
    for (; i < count; ++i) add_products(0, first + i);
  }

  X x_;
  Y y_;
  Lines lines_;
  guf::i64 column_, width_;
};

// On the cpu, lines of sums are in the memory of the group. On a device, each thread computes whole
// columns.
template <class G, class X, class Y, class Z>
GUF_DEVICE void vecmat(G g, X x, Y y, Z z) {
  typedef guf::value_t<typename Z::type> T;
  typedef sum_t<T> S;
  const guf::i64 n = x.extent(0), columns = z.extent(0);
  if (n == 0) return store_zeros(g, z);
  if constexpr (guf::is_same<G, guf::single_thread>::value) {
    typedef column_sums<S, X, Y, S *> Sums;
    S *const lines = g.template shared<S>((guf::i64)Sums::kLines * Sums::kColumns);
    for (guf::i64 column = 0; lines != nullptr && column < columns; column += Sums::kColumns) {
      const guf::i64 left = columns - column;
      const guf::i64 width = left < Sums::kColumns ? left : (guf::i64)Sums::kColumns;
      const S *const found = Sums(x, y, lines, column, width).compute();
      for (guf::i64 c = 0; c < width; ++c) z[column + c] = (T)found[c];
    }
    if (lines != nullptr) return;
  }
  for (guf::i64 column = g.rank(); column < columns; column += g.size()) {
    const auto product = [&](guf::i64 k) { return (S)(conjugate((S)x[k]) * (S)y(k, column)); };
    z[column] = (T)guf::detail::reduce_serial<S>(sum_op<S>(), product, n);
  }
}

}  // namespace standard

GUF_GUFUNC(standard::matmul, "(n?,k),(k,m?)->(n?,m?)", GUF_LOOPS_matmul, "group");
GUF_GUFUNC(standard::vecdot, "(n),(n)->()", GUF_LOOPS_vecdot, "group");
GUF_GUFUNC(standard::matvec, "(m,n),(n)->(m)", GUF_LOOPS_matvec, "group");
GUF_GUFUNC(standard::vecmat, "(n),(n,m)->(m)", GUF_LOOPS_vecmat, "group");
