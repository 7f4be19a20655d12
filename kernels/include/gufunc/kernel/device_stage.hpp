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

// Returns the index in shared memory of element `index` of the contiguous rows.
GUF_DEVICE_ONLY u32 stage_index(const staged_row &row, u32 index) {
  return index + quotient(row.elements, index) * (row.pitch - row.elements.d);
}

template <class T>
GUF_DEVICE_ONLY void stage_in(const staged_row &row, char *shared, const char *from, u32 items) {
  if ((row.copies & kStagedIn) == 0) return;
  T *const to = (T *)(shared + row.at);
  const u32 total = items * row.elements.d;
  u32 done = 0;  // elements that were copied as words
  if ((row.copies & kStagedWords) != 0) {
    const u32 words = total / stage_word<T>::count;
    for (u32 w = thread_id(); w < words; w += (u32)kItemThreads) {
      stage_word<T> word;
      word.whole = ((const word_of<16>::type *)from)[w];
      GUF_UNROLL
      for (u32 j = 0; j < stage_word<T>::count; ++j) {
        to[stage_index(row, w * stage_word<T>::count + j)] = word.part[j];
      }
    }
    done = words * stage_word<T>::count;
  }
  for (u32 i = done + thread_id(); i < total; i += (u32)kItemThreads) {
    to[stage_index(row, i)] = ((const T *)from)[i];
  }
}

template <class T>
GUF_DEVICE_ONLY void stage_out(const staged_row &row, const char *shared, char *to, u32 items) {
  if ((row.copies & kStagedOut) == 0) return;
  const T *const from = (const T *)(shared + row.at);
  const u32 total = items * row.elements.d;
  u32 done = 0;
  if ((row.copies & kStagedWords) != 0) {
    const u32 words = total / stage_word<T>::count;
    for (u32 w = thread_id(); w < words; w += (u32)kItemThreads) {
      stage_word<T> word;
      GUF_UNROLL
      for (u32 j = 0; j < stage_word<T>::count; ++j) {
        word.part[j] = from[stage_index(row, w * stage_word<T>::count + j)];
      }
      ((word_of<16>::type *)to)[w] = word.whole;
    }
    done = words * stage_word<T>::count;
  }
  for (u32 i = done + thread_id(); i < total; i += (u32)kItemThreads) {
    ((T *)to)[i] = from[stage_index(row, i)];
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_STAGE_HPP
