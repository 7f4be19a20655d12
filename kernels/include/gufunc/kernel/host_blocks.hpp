// SPDX-License-Identifier: Apache-2.0
// Copies between strided operands and contiguous blocks. The copies depend only on the element
// size. Strides of two elements and reversed arrays are common, so copies with these strides have
// specialised loops that vectorise.
#ifndef GUFUNC_KERNEL_HOST_BLOCKS_HPP
#define GUFUNC_KERNEL_HOST_BLOCKS_HPP

#include "host_memory.hpp"

namespace guf {
namespace host {

enum { kBlock = 256 };

template <int Size>
struct word_of;
template <>
struct word_of<1> {
  typedef u8 type;
};
template <>
struct word_of<2> {
  typedef u16 type;
};
template <>
struct word_of<4> {
  typedef u32 type;
};
template <>
struct word_of<8> {
  typedef u64 type;
};
template <>
struct word_of<16> {
  typedef complex<u64> type;
};

// Copies `count` elements; steps are in bytes. The function is inlined, so that the calls with
// constant steps below vectorise.
template <int Size>
GUF_FN void copy_steps(char *to, i64 to_step, const char *from, i64 from_step, i64 count) {
  typedef memory<typename word_of<Size>::type> word;
  GUF_INDEPENDENT
  for (i64 i = 0; i < count; ++i) word::store(to + i * to_step, word::load(from + i * from_step));
}

// Returns a contiguous block of an input, which is the input itself if it is contiguous, or a copy
// in `buffer`. A scalar is copied for the first block only (`later` is false).
template <int Size>
static __attribute__((noinline)) char *gathered(char *base, i64 step, char *buffer, i64 count,
                                                bool later) {
  if (step == Size) return base;
  if (step == 0 && later) return buffer;
  if (step == 2 * Size) {
    copy_steps<Size>(buffer, Size, base, 2 * Size, count);
  } else if (step == -Size) {
    copy_steps<Size>(buffer, Size, base, -Size, count);
  } else {
    copy_steps<Size>(buffer, Size, base, step, count);
  }
  return buffer;
}

// Copies a contiguous block to an output, unless the output is itself contiguous and needs no copy.
// Uses scalar stores, because the scatter instructions of AVX-512 take twice as long.
template <int Size>
static __attribute__((noinline)) void scatter(const char *buffer, char *base, i64 step, i64 count) {
  if (step == Size) return;
  typedef memory<typename word_of<Size>::type> word;
  GUF_SCALAR_LOOP
  for (i64 i = 0; i < count; ++i) word::store(base + i * step, word::load(buffer + i * Size));
}

}  // namespace host
}  // namespace guf

#endif  // GUFUNC_KERNEL_HOST_BLOCKS_HPP
