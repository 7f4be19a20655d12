// SPDX-License-Identifier: Apache-2.0
// Raw kernels that count with many threads: random points inside a circle, and a histogram.
#include <gufunc/raw_kernel.hpp>

// Thread i draws `points` points from random sequence i. The 32 threads of a sub-group add their
// counts with shuffles, and one of them adds the sum to the total. This needs only one atomic
// operation for 32 threads.
GUF_DEVICE void count_in_circle(guf::block g, guf::u64 seed, guf::i64 points, guf::u64 *total) {
  guf::random numbers(seed, (guf::u64)g.global_id());
  guf::u64 inside = 0;
  for (guf::i64 i = 0; i < points; ++i) {
    const guf::random_words w = numbers.words();
    const double x = w.word[0] * 0x1p-32, y = w.word[1] * 0x1p-32;
    inside += x * x + y * y < 1 ? 1 : 0;
  }
  const guf::lanes lanes = g.subgroup();
  for (guf::u32 by = 16; by > 0; by /= 2) inside += lanes.shuffle_xor(inside, by);
  if (lanes.rank() == 0) guf::atomic_add(total, inside);
}
GUF_KERNEL(count_in_circle, "threads=256");

// Counts values in [0, 1) in bins of equal width. Each block counts in shared memory and then adds
// its counts to `counts`. The launch provides 4 bytes of shared memory per bin.
GUF_DEVICE void histogram(guf::block g, guf::view<const float, 1> values,
                          guf::view<guf::u64, 1> counts) {
  const guf::i64 bins = counts.extent(0), threads = g.size();
  guf::u32 *const own = g.shared<guf::u32>(bins);
  for (guf::i64 b = g.rank(); b < bins; b += threads) own[b] = 0;
  g.sync();
  for (guf::i64 i = g.global_id(); i < values.extent(0); i += g.global_size()) {
    const float v = values(i);
    if (v >= 0 && v < 1) guf::atomic_add(own + (guf::i64)(v * (float)bins), 1u);
  }
  g.sync();
  for (guf::i64 b = g.rank(); b < bins; b += threads) {
    if (own[b] != 0) guf::atomic_add(&counts(b), (guf::u64)own[b]);
  }
}
GUF_KERNEL(histogram);
