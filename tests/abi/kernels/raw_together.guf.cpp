// SPDX-License-Identifier: Apache-2.0
// Defines raw kernels whose threads cooperate: barriers, shared memory, shuffles and atomics.
#include <gufunc/raw_kernel.hpp>

// Sums the numbers of each block. Each step halves the number of partial sums.
GUF_DEVICE void sums(guf::block g, const double *in, double *out, guf::i64 n) {
  double *const part = g.shared<double>(g.size());
  const guf::i64 i = g.global_id();
  const guf::u32 me = g.rank();
  part[me] = i < n ? in[i] : 0;
  for (guf::u32 half = g.size() / 2; half > 0; half /= 2) {
    g.sync(guf::local_fence);
    if (me < half) part[me] += part[me + half];
  }
  g.sync();
  if (me == 1) out[g.group_id()] = part[0];
}
GUF_KERNEL(sums);

// Makes two allocations of shared memory: 2 * 8 doubles, and `more` bytes. Reports which
// allocations succeeded.
GUF_DEVICE void pieces(guf::block g, int *out, guf::i64 more) {
  const auto table = g.shared<double>(2, 8);
  char *const rest = g.shared<char>(more);
  if (g.rank() != 0) return;
  out[0] = table.data() != nullptr;
  out[1] = rest != nullptr;
  if (rest != nullptr) rest[more - 1] = 7;
  if (table.data() != nullptr) table(1, 7) = 5;
  out[2] = table.data() != nullptr ? (int)table.data()[15] : -1;
  out[3] = (int)table.extent(1);
}
GUF_KERNEL(pieces, "shared=128");

// Writes the results of every kind of shuffle, for numbers of three sizes.
template <class T>
GUF_DEVICE void shuffles(guf::block g, T *out) {
  const guf::lanes lanes = g.subgroup();
  const guf::u32 me = g.rank();
  const T mine = T(me);
  T *const row = out + 5 * (g.group_id() * g.size() + me);
  row[0] = lanes.shuffle(mine, 3);
  row[1] = lanes.shuffle_up(mine, 2);
  row[2] = lanes.shuffle_down(mine, 5);
  row[3] = lanes.shuffle_xor(mine, 17);
  lanes.sync();
  row[4] = T(lanes.rank() + 1000 * lanes.size());
}
GUF_KERNEL(shuffles<double>, "name=shuffles_d");
GUF_KERNEL(shuffles<guf::u16>, "name=shuffles_H");
GUF_KERNEL(shuffles<guf::c128>, "name=shuffles_D");

// Updates the same words from all threads, in the array and in shared memory.
template <class T>
GUF_DEVICE void atomics(guf::block g, T *out) {
  T *const inside = g.shared<T>(3);
  if (g.rank() == 0) inside[0] = inside[1] = inside[2] = T(0);
  g.sync();
  const T me = (T)g.global_id();
  guf::atomic_add(out, T(3));
  guf::atomic_sub(out + 1, T(2));
  guf::atomic_min(out + 2, T(1000000 - me));
  guf::atomic_max(out + 3, me);
  guf::atomic_or(out + 4, T(T(1) << (me % 30)));
  guf::atomic_and(out + 5, T(~(T(1) << (me % 15))));
  guf::atomic_xor(out + 6, T(me + 1));
  for (T seen = T(0);;) {
    const T was = guf::atomic_compare_exchange(out + 7, seen, T(seen + 1));
    if (was == seen) break;
    seen = was;
  }
  guf::atomic_exchange(out + 8, T(5));
  guf::atomic_add(inside, T(1));
  guf::atomic_max(inside + 1, T(g.rank()));
  guf::atomic_min(inside + 2, T(g.rank()));
  g.sync();
  if (g.rank() != 0) return;
  guf::atomic_add(out + 9, inside[0]);
  guf::atomic_add(out + 10, inside[1]);
  guf::atomic_add(out + 11, inside[2]);
}
GUF_KERNEL(atomics<guf::i32>, "name=atomics_i", "shared=64");
GUF_KERNEL(atomics<guf::u32>, "name=atomics_I", "shared=64");
GUF_KERNEL(atomics<guf::i64>, "name=atomics_q", "shared=64");
GUF_KERNEL(atomics<guf::u64>, "name=atomics_Q", "shared=64");

// Adds floats whose sum is exact in any order.
template <class T>
GUF_DEVICE void float_sums(guf::block g, T *out) {
  guf::atomic_add(out, T(0.5));
  guf::atomic_sub(out + 1, T(g.rank() % 4));
}
GUF_KERNEL(float_sums<float>, "name=float_sums_f");
GUF_KERNEL(float_sums<double>, "name=float_sums_d");

// The first thread of each block never reaches the barrier.
GUF_DEVICE void stray(guf::block g, int *out) {
  if (g.rank() == 0) return;
  g.sync();
  out[g.rank()] = 1;
}
GUF_KERNEL(stray);

// Only some threads of the sub-group reach the shuffle.
GUF_DEVICE void stray_lanes(guf::block g, int *out) {
  if (g.rank() < 3) out[g.rank()] = (int)g.subgroup().shuffle(g.rank(), 0);
}
GUF_KERNEL(stray_lanes);

// Writes random words and random numbers of guf::random. Thread i uses sequence i.
GUF_DEVICE void randoms(guf::block g, guf::u64 seed, guf::u32 *words, float *f, double *d) {
  const guf::i64 i = g.global_id();
  guf::random at(seed, (guf::u64)i);
  const guf::random_words w = at.words();
  for (int k = 0; k < 4; ++k) words[4 * i + k] = w.word[k];
  f[2 * i] = at.uniform_f32();
  d[2 * i] = at.uniform_f64();
  f[2 * i + 1] = at.normal_f32();
  d[2 * i + 1] = at.normal_f64();
}
GUF_KERNEL(randoms);
