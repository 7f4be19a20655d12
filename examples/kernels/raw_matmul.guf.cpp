// SPDX-License-Identifier: Apache-2.0
// Matrix products as raw kernels. In matmul_naive each thread reads the operands directly.
// matmul_tiled copies tiles of the operands to shared memory. Both kernels accept any sizes and
// strides. Each thread computes one element of c: the thread's x index in the grid is the column,
// and its y index is the row.
#include <gufunc/raw_kernel.hpp>

template <class T>
GUF_DEVICE void matmul_naive(guf::block g, guf::view<const T, 2> a, guf::view<const T, 2> b,
                             guf::view<T, 2> c) {
  const guf::i64 row = g.global_id(1), column = g.global_id(0);
  if (row >= c.extent(0) || column >= c.extent(1)) return;
  T sum = T(0);
  for (guf::i64 k = 0; k < a.extent(1); ++k) sum += a(row, k) * b(k, column);
  c(row, column) = sum;
}
GUF_KERNEL(matmul_naive<float>, "name=matmul_naive_f");
GUF_KERNEL(matmul_naive<double>, "name=matmul_naive_d");

// A block of kTile x kTile threads computes a tile of the result. In each step, each thread loads
// one element of both operands. The rows of a tile are padded by one element, so that the elements
// of a column are in different banks of the shared memory.
constexpr int kTile = 16;

template <class T>
GUF_DEVICE void matmul_tiled(guf::block g, guf::view<const T, 2> a, guf::view<const T, 2> b,
                             guf::view<T, 2> c) {
  const auto left = g.shared<T>(kTile, kTile + 1);
  const auto right = g.shared<T>(kTile, kTile + 1);
  const guf::i64 row = g.global_id(1), column = g.global_id(0);
  const guf::i64 y = g.local_id(1), x = g.local_id(0), depth = a.extent(1);
  T sum = T(0);
  // Threads outside the result take part too: every thread of the block must reach the barriers.
  for (guf::i64 first = 0; first < depth; first += kTile) {
    const bool in_a = row < a.extent(0) && first + x < depth;
    const bool in_b = column < b.extent(1) && first + y < depth;
    left(y, x) = in_a ? a(row, first + x) : T(0);
    right(y, x) = in_b ? b(first + y, column) : T(0);
    g.sync(guf::local_fence);
    for (int k = 0; k < kTile; ++k) sum += left(y, k) * right(k, x);
    g.sync(guf::local_fence);
  }
  if (row < c.extent(0) && column < c.extent(1)) c(row, column) = sum;
}
GUF_KERNEL(matmul_tiled<float>, "name=matmul_tiled_f", "threads=256", "shared=2176");
GUF_KERNEL(matmul_tiled<double>, "name=matmul_tiled_d", "threads=256", "shared=4352");
