// SPDX-License-Identifier: Apache-2.0
// Raw kernels whose arguments are user-defined structures, which are passed as bytes.
#include <gufunc/raw_kernel.hpp>

struct Body {
  guf::f64 at[2];
  guf::i32 count;
};

// Changes every body by the values in the structure `by`, and counts the bodies in `moved`.
GUF_DEVICE void move_bodies(guf::block g, guf::u8 *bodies, guf::i64 n, const guf::u8 *by,
                            guf::u8 *moved) {
  const guf::i64 i = g.global_id();
  if (i >= n) return;
  const Body &step = *(const Body *)by;
  Body &body = ((Body *)bodies)[i];
  body.at[0] += step.at[0];
  body.at[1] += step.at[1];
  body.count += step.count;
  guf::atomic_add(&((Body *)moved)->count, 1);
}
GUF_KERNEL(move_bodies);

// Fills a structure with one byte value.
GUF_DEVICE void fill_bytes(guf::block g, guf::u8 *to, guf::i64 n, guf::u8 value) {
  const guf::i64 i = g.global_id();
  if (i < n) to[i] = value;
}
GUF_KERNEL(fill_bytes);
