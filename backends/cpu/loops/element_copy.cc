// SPDX-License-Identifier: Apache-2.0
// Contains one loop for each element size and swap width. Unaligned accesses use memcpy with a
// constant size.
#include "backends/cpu/loops/element_copy.h"

#include <cstring>

namespace gufunc::cpu {
namespace {

inline uint16_t reversed(uint16_t x) {
  return __builtin_bswap16(x);
}
inline uint32_t reversed(uint32_t x) {
  return __builtin_bswap32(x);
}
inline uint64_t reversed(uint64_t x) {
  return __builtin_bswap64(x);
}

// Copies elements that consist of `Units` words each.
template <class Word, int Units, bool kSwap>
void copy_words(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    Word words[Units];
    std::memcpy(words, from, sizeof(words));
    if constexpr (kSwap) {
      for (Word &word : words) word = reversed(word);
    }
    std::memcpy(to, words, sizeof(words));
  }
}

// Copies elements. Contiguous steps are passed as constants,
// so that the compiler can vectorize the loop.
template <class Word, int Units, bool kSwap>
void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) {
  constexpr int64_t kSize = sizeof(Word) * Units;
  if (to_step == kSize && from_step == kSize) {
    copy_words<Word, Units, kSwap>(to, kSize, from, kSize, count);
  } else if (to_step == kSize) {
    copy_words<Word, Units, kSwap>(to, kSize, from, from_step, count);
  } else {
    copy_words<Word, Units, kSwap>(to, to_step, from, from_step, count);
  }
}

}  // namespace

void copy_elements(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                   uint32_t size, uint32_t swap) {
  if (swap <= 1 && to_step == static_cast<int64_t>(size) && from_step == to_step) {
    std::memmove(to, from, static_cast<size_t>(count) * size);
    return;
  }
  switch (size << 8 | (swap <= 1 ? 0 : swap)) {
    case 0x0100:
      return copy_row<uint8_t, 1, false>(to, to_step, from, from_step, count);
    case 0x0200:
      return copy_row<uint16_t, 1, false>(to, to_step, from, from_step, count);
    case 0x0400:
      return copy_row<uint32_t, 1, false>(to, to_step, from, from_step, count);
    case 0x0800:
      return copy_row<uint64_t, 1, false>(to, to_step, from, from_step, count);
    case 0x1000:
      return copy_row<uint64_t, 2, false>(to, to_step, from, from_step, count);
    case 0x0202:
      return copy_row<uint16_t, 1, true>(to, to_step, from, from_step, count);
    case 0x0404:
      return copy_row<uint32_t, 1, true>(to, to_step, from, from_step, count);
    case 0x0808:
      return copy_row<uint64_t, 1, true>(to, to_step, from, from_step, count);
    case 0x0804:
      return copy_row<uint32_t, 2, true>(to, to_step, from, from_step, count);
    case 0x1008:
      return copy_row<uint64_t, 2, true>(to, to_step, from, from_step, count);
    default:  // a structured dtype
      for (int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
        std::memcpy(to, from, size);
      }
  }
}

}  // namespace gufunc::cpu
