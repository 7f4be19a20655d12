// SPDX-License-Identifier: Apache-2.0
// Staging of contiguous rows in shared memory. The threads access global memory as adjacent words
// of 16 bytes. Rows in shared memory have an odd pitch, so that no bank conflicts occur when each
// thread reads its own row.
#ifndef GUFUNC_KERNEL_DEVICE_STAGE_HPP
#define GUFUNC_KERNEL_DEVICE_STAGE_HPP

#include "device_tile.hpp"

namespace guf {
namespace device {

// Accesses 16 bytes as a word or as elements.
template <class T>
union stage_word {
  static constexpr u32 count = 16 / (u32)sizeof(T);
  word_of<16>::type whole;
  T part[count];
};

// Returns the address of the row of an operand that belongs to an item. The address is `direct` if
// the operand is not staged.
template <class T>
GUF_DEVICE_ONLY char *staged_row_address(const staged_row &row, char *shared, u32 item,
                                         char *direct) {
  return row.elements.d == 0 ? direct : shared + row.at + (u64)(item * row.pitch) * sizeof(T);
}

// The position in shared memory of an element of the contiguous rows.
class stage_position {
 public:
  GUF_DEVICE_ONLY stage_position(const staged_row &row, u32 index)
      : elements_(row.elements.d), gap_(row.pitch - row.elements.d) {
    const u32 item = quotient(row.elements, index);
    column_ = index - item * elements_;
    at_ = index + item * gap_;
  }
  GUF_DEVICE_ONLY u32 index() const { return at_; }
  GUF_DEVICE_ONLY void advance() {
    const bool ends = ++column_ == elements_;
    at_ += ends ? gap_ + 1 : 1;
    column_ = ends ? 0 : column_;
  }

 private:
  u32 elements_, gap_, column_, at_;
};

template <class T>
GUF_DEVICE_ONLY void stage_in(const staged_row &row, char *shared, const char *from, u32 items) {
  if ((row.copies & kStagedIn) == 0) return;
  T *const to = (T *)(shared + row.at);
  const u32 total = items * row.elements.d;
  u32 done = 0;  // elements that were copied as words
  if ((row.copies & kStagedWords) != 0) {
    const u32 words = total / stage_word<T>::count;
    GUF_NO_UNROLL
    for (u32 w = thread_id(); w < words; w += (u32)kItemThreads) {
      stage_word<T> word;
      word.whole = ((const word_of<16>::type *)from)[w];
      stage_position at(row, w * stage_word<T>::count);
      GUF_UNROLL
      for (u32 j = 0; j < stage_word<T>::count; ++j, at.advance()) to[at.index()] = word.part[j];
    }
    done = words * stage_word<T>::count;
  }
  GUF_NO_UNROLL
  for (u32 i = done + thread_id(); i < total; i += (u32)kItemThreads) {
    to[stage_position(row, i).index()] = ((const T *)from)[i];
  }
}

template <class T, bool Written>
GUF_DEVICE_ONLY void stage_out(const staged_row &row, const char *shared, char *to, u32 items) {
  if (!Written || (row.copies & kStagedOut) == 0) return;
  const T *const from = (const T *)(shared + row.at);
  const u32 total = items * row.elements.d;
  u32 done = 0;
  if ((row.copies & kStagedWords) != 0) {
    const u32 words = total / stage_word<T>::count;
    GUF_NO_UNROLL
    for (u32 w = thread_id(); w < words; w += (u32)kItemThreads) {
      stage_word<T> word;
      stage_position at(row, w * stage_word<T>::count);
      GUF_UNROLL
      for (u32 j = 0; j < stage_word<T>::count; ++j, at.advance()) word.part[j] = from[at.index()];
      ((word_of<16>::type *)to)[w] = word.whole;
    }
    done = words * stage_word<T>::count;
  }
  GUF_NO_UNROLL
  for (u32 i = done + thread_id(); i < total; i += (u32)kItemThreads) {
    ((T *)to)[i] = from[stage_position(row, i).index()];
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_STAGE_HPP
