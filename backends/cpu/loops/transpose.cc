// SPDX-License-Identifier: Apache-2.0
// Transposes squares that fit in SSE2 registers, and the rest of the block element by element.
// SSE2 is part of every x86-64. Wider squares are not faster,
// because loading the lines from memory dominates.
#include "backends/cpu/loops/transpose.h"

#include <emmintrin.h>

#include <cstring>

namespace gufunc::cpu {
namespace {

__m128i load(const char *from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
}
void store(char *to, __m128i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i *>(to), x);
}

// Transposes a square with a side length of 16 bytes.
template <uint32_t kSize>
void transpose_square(char *to, int64_t to_step, const char *from, int64_t from_step);

template <>
void transpose_square<16>(char *to, int64_t, const char *from, int64_t) {
  store(to, load(from));
}

template <>
void transpose_square<8>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  const __m128i a = load(from);
  const __m128i b = load(from + from_step);
  store(to, _mm_unpacklo_epi64(a, b));
  store(to + to_step, _mm_unpackhi_epi64(a, b));
}

template <>
void transpose_square<4>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  const __m128i a = load(from);
  const __m128i b = load(from + from_step);
  const __m128i c = load(from + 2 * from_step);
  const __m128i d = load(from + 3 * from_step);
  const __m128i ab[] = {_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)};
  const __m128i cd[] = {_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d)};
  for (int half = 0; half < 2; ++half, to += 2 * to_step) {
    store(to, _mm_unpacklo_epi64(ab[half], cd[half]));
    store(to + to_step, _mm_unpackhi_epi64(ab[half], cd[half]));
  }
}

template <>
void transpose_square<2>(char *to, int64_t to_step, const char *from, int64_t from_step) {
  __m128i pair[2][4];  // low and high halves of the lines 2k and 2k + 1
  for (int k = 0; k < 4; ++k, from += 2 * from_step) {
    const __m128i a = load(from);
    const __m128i b = load(from + from_step);
    pair[0][k] = _mm_unpacklo_epi16(a, b);
    pair[1][k] = _mm_unpackhi_epi16(a, b);
  }
  for (const auto &p : pair) {
    const __m128i low[] = {_mm_unpacklo_epi32(p[0], p[1]), _mm_unpackhi_epi32(p[0], p[1])};
    const __m128i high[] = {_mm_unpacklo_epi32(p[2], p[3]), _mm_unpackhi_epi32(p[2], p[3])};
    for (int half = 0; half < 2; ++half, to += 2 * to_step) {
      store(to, _mm_unpacklo_epi64(low[half], high[half]));
      store(to + to_step, _mm_unpackhi_epi64(low[half], high[half]));
    }
  }
}

template <uint32_t kSize>
void transpose_one_by_one(char *to, int64_t to_step, const char *from, int64_t from_step,
                          int64_t lines, int64_t length) {
  for (int64_t j = 0; j < length; ++j) {
    for (int64_t i = 0; i < lines; ++i) {
      std::memcpy(to + j * to_step + i * kSize, from + i * from_step + j * kSize, kSize);
    }
  }
}

template <uint32_t kSize>
void transpose_all(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t lines,
                   int64_t length) {
  constexpr int64_t kSide = 16 / kSize;
  const int64_t square_lines = lines - lines % kSide;
  const int64_t square_length = length - length % kSide;
  for (int64_t i = 0; i < square_lines; i += kSide) {
    for (int64_t j = 0; j < square_length; j += kSide) {
      transpose_square<kSize>(to + j * to_step + i * kSize, to_step,
                              from + i * from_step + j * kSize, from_step);
    }
  }
  transpose_one_by_one<kSize>(to + square_length * to_step, to_step, from + square_length * kSize,
                              from_step, square_lines, length - square_length);
  transpose_one_by_one<kSize>(to + square_lines * kSize, to_step, from + square_lines * from_step,
                              from_step, lines - square_lines, length);
}

}  // namespace

void transpose(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t lines,
               int64_t length, uint32_t size) {
  switch (size) {
    case 1:
      return transpose_one_by_one<1>(to, to_step, from, from_step, lines, length);
    case 2:
      return transpose_all<2>(to, to_step, from, from_step, lines, length);
    case 4:
      return transpose_all<4>(to, to_step, from, from_step, lines, length);
    case 8:
      return transpose_all<8>(to, to_step, from, from_step, lines, length);
    default:
      return transpose_all<16>(to, to_step, from, from_step, lines, length);
  }
}

}  // namespace gufunc::cpu
