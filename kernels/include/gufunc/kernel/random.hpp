// SPDX-License-Identifier: Apache-2.0
// Random numbers that are functions of a counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). There is no shared state: thread i uses
// guf::random(seed, i), or reads the number at any position directly. Words and uniform numbers
// have the same bits on every backend; normal numbers are within 5 ULP of their formula.
#ifndef GUFUNC_KERNEL_RANDOM_HPP
#define GUFUNC_KERNEL_RANDOM_HPP

#include "math.hpp"
#include "types.hpp"

namespace guf {

// The result for one counter and one key.
struct random_words {
  u32 word[4];
};

// Ten rounds of Philox4x32.
GUF_FN random_words philox(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
  GUF_UNROLL
  for (int round = 0; round < 10; ++round) {
    const u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
    c0 = (u32)(b >> 32) ^ c1 ^ k0;
    c2 = (u32)(a >> 32) ^ c3 ^ k1;
    c1 = (u32)b;
    c3 = (u32)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

namespace detail {

template <class T>
struct unit_vector {
  T cosine, sine;
};
// Returns the unit vector with the angle t, in turns: cos(2 pi t) and sin(2 pi t), for 0 <= t < 1.
// The reduction to an eighth of a turn is exact.
template <class T>
GUF_FN unit_vector<T> unit_vector_at(T t) {
  const i32 quarter = (i32)(t * T(4) + T(0.5));
  const T angle = (t - T(quarter) * T(0.25)) * T(0x1.921fb54442d18p+2);
  const T c = cos(angle), s = sin(angle);
  switch (quarter & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

}  // namespace detail

// Two normal numbers by the method of Box and Muller.
template <class T>
struct normal_pair {
  T first, second;
};

// A sequence of 2^64 blocks of four words; each seed has 2^64 sequences. Every call consumes one
// block: the key is the seed and the counter is (position, sequence), low words first.
class random {
 public:
  GUF_FN explicit random(u64 seed, u64 sequence = 0, u64 position = 0)
      : seed_(seed), sequence_(sequence), position_(position) {}

  GUF_FN u64 position() const { return position_; }
  GUF_FN void seek(u64 position) { position_ = position; }

  GUF_FN random_words words() {
    const u64 at = position_++;
    return philox((u32)at, (u32)(at >> 32), (u32)sequence_, (u32)(sequence_ >> 32), (u32)seed_,
                  (u32)(seed_ >> 32));
  }
  GUF_FN u32 bits32() { return words().word[0]; }
  GUF_FN u64 bits64() {
    const random_words w = words();
    return (u64)w.word[1] << 32 | w.word[0];
  }

  // Uniform in [0, 1), a multiple of 2^-24: the upper bits of the first word.
  GUF_FN f32 uniform_f32() { return fraction_f32(words().word[0]); }
  // Uniform in [0, 1), a multiple of 2^-53: 27 bits of the first word above 26 bits of the second.
  GUF_FN f64 uniform_f64() {
    const random_words w = words();
    return fraction_f64(w.word[0], w.word[1]);
  }

  // sqrt(-2 log(1 - u)) times cos(2 pi v) and sin(2 pi v), where u and v are uniform numbers. For
  // f32, u is computed from word 0 and v from word 1. For f64, u is computed from words 0 and 1,
  // and v from words 2 and 3.
  GUF_FN normal_pair<f32> normals_f32() {
    const random_words w = words();
    return normals(fraction_f32(w.word[0]), fraction_f32(w.word[1]));
  }
  GUF_FN normal_pair<f64> normals_f64() {
    const random_words w = words();
    return normals(fraction_f64(w.word[0], w.word[1]), fraction_f64(w.word[2], w.word[3]));
  }
  GUF_FN f32 normal_f32() { return normals_f32().first; }
  GUF_FN f64 normal_f64() { return normals_f64().first; }

 private:
  static GUF_FN f32 fraction_f32(u32 w) { return (f32)(w >> 8) * 0x1p-24f; }
  static GUF_FN f64 fraction_f64(u32 high, u32 low) {
    return ((f64)(high >> 5) * 0x1p26 + (f64)(low >> 6)) * 0x1p-53;
  }
  template <class T>
  static GUF_FN normal_pair<T> normals(T u, T v) {
    const T radius = sqrt(T(-2) * log(T(1) - u));  // 1 - u is exact and not 0
    const detail::unit_vector<T> direction = detail::unit_vector_at(v);
    return {radius * direction.cosine, radius * direction.sine};
  }

  u64 seed_, sequence_, position_;
};

}  // namespace guf

#endif  // GUFUNC_KERNEL_RANDOM_HPP
