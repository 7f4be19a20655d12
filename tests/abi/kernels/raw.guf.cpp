// SPDX-License-Identifier: Apache-2.0
// Defines raw kernels for the tests, one for each feature.
#include <gufunc/raw_kernel.hpp>

GUF_DEVICE void nothing(guf::block) {}
GUF_KERNEL(nothing, "doc=has no parameters");

GUF_DEVICE void scale(guf::block g, float factor, guf::view<float, 1> x) {
  const guf::i64 i = g.global_id();
  if (i < x.extent(0)) x(i) *= factor;
}
GUF_KERNEL(scale);

// Writes eight numbers per thread, in the order of the indices of the threads in the whole grid.
GUF_DEVICE void places(guf::block g, guf::i64 *out) {
  const guf::i64 at =
      g.global_id(0) + g.global_size(0) * (g.global_id(1) + g.global_size(1) * g.global_id(2));
  guf::i64 *const mine = out + 8 * at;
  for (int d = 0; d < 3; ++d) mine[d] = g.local_id(d) + 100 * g.group_id(d);
  mine[3] = g.rank();
  mine[4] = g.size();
  mine[5] = g.grid(0) + 1000 * g.grid(1) + 1000000 * g.grid(2);
  mine[6] = g.local_size(0) + 1000 * g.local_size(1) + 1000000 * g.local_size(2);
  mine[7] = g.global_size(0) * g.global_size(1) * g.global_size(2);
}
GUF_KERNEL(places);

GUF_DEVICE void numbers(guf::block, double *out, bool b, guf::i8 i1, guf::u8 u1, guf::i16 i2,
                        guf::u16 u2, guf::i32 i4, guf::u32 u4, guf::i64 i8, guf::u64 u8,
                        guf::f16 f2, guf::bf16 e2, float f4, double f8, guf::c64 c8, guf::c128 c16,
                        guf::datetime when, guf::timedelta long_) {
  const double all[] = {b ? 1.0 : 0.0,
                        double(i1),
                        double(u1),
                        double(i2),
                        double(u2),
                        double(i4),
                        double(u4),
                        double(i8),
                        double(u8),
                        double(guf::to_f32(f2)),
                        double(guf::to_f32(e2)),
                        double(f4),
                        f8,
                        double(c8.re),
                        double(c8.im),
                        c16.re,
                        c16.im,
                        double(when.value),
                        double(long_.value)};
  for (int i = 0; i < 19; ++i) out[i] = all[i];
}
GUF_KERNEL(numbers);

// Transposes a matrix with any strides.
template <class T>
GUF_DEVICE void transpose(guf::block g, guf::view<const T, 2> from, guf::view<T, 2> to) {
  const guf::i64 i = g.global_id(1), j = g.global_id(0);
  if (i < from.extent(0) && j < from.extent(1)) to(j, i) = from(i, j);
}
GUF_KERNEL(transpose<float>, "name=transpose_f");
GUF_KERNEL(transpose<guf::f16>, "name=transpose_e");
GUF_KERNEL(transpose<guf::b8>, "name=transpose_bool");
GUF_KERNEL(transpose<guf::c128>, "name=transpose_D");
GUF_KERNEL(transpose<guf::datetime>, "name=transpose_M");

namespace in_namespace {
GUF_DEVICE void raise(guf::block g, const float *in, float *out, guf::i64 n) {
  const guf::i64 i = g.global_id();
  if (i < n) out[i] = in[i] + 1;
}
}  // namespace in_namespace
GUF_KERNEL(in_namespace::raise, "threads=64");
