// SPDX-License-Identifier: Apache-2.0
// Copy and cast kernels of a backend. They convert between any two types, copy elements by size,
// transpose tiles, copy structured dtypes, and fill arrays with a pattern.
#ifndef GUFUNC_KERNEL_DEVICE_COPIES_HPP
#define GUFUNC_KERNEL_DEVICE_COPIES_HPP

#include "device_copy_block.hpp"
#include "device_elementwise.hpp"

namespace guf {
namespace device {

// ---- convert

// Computes the byte offsets of K items of a thread. The indices of the items are kThreads apart. An
// item beyond the end gets the offset of the last item.
template <int Count, int K, class Block>
GUF_DEVICE_ONLY void find_items(const Block &p, u32 first, u32 items,
                                nd_positions<Count, K> &positions, u32 *extra, divisor inner) {
  u32 rest[K];
  i64 mask_offset[K];
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    const u32 item = first + (u32)k * (u32)kThreads;
    positions.live[k] = item < items;
    const u32 index = positions.live[k] ? item : items - 1;
    rest[k] = quotient(inner, index);
    extra[k] = index - rest[k] * inner.d;
    mask_offset[k] = 0;
    GUF_UNROLL
    for (int a = 0; a < Count; ++a) positions.offset[k][a] = 0;
  }
  GUF_NO_UNROLL
  for (u32 d = 0; d < p.ndim; ++d) {
    GUF_UNROLL
    for (int k = 0; k < K; ++k) {
      const u32 q = quotient(p.dim[d], rest[k]);
      const i64 index = (i64)(rest[k] - q * p.dim[d].d);
      rest[k] = q;
      mask_offset[k] += index * p.mask_stride[d];
      GUF_UNROLL
      for (int a = 0; a < Count; ++a) positions.offset[k][a] += index * p.stride[d][a];
    }
  }
  if (p.mask == 0) return;
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    if (positions.live[k]) positions.live[k] = *((const u8 *)p.mask + mask_offset[k]) != 0;
  }
}

GUF_DEVICE_ONLY void convert_elements(const convert_block &p) {
  constexpr int K = kCopyElements;
  nd_positions<2, K> positions;
  u32 none[K];
  find_items(p, block_id() * (u32)(kThreads * K) + thread_id(), p.items, positions, none,
             divisor{1, 1, 0});
  const char *from[K];
  char *to[K];
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    from[k] = (const char *)p.address[0] + positions.offset[k][0];
    to[k] = (char *)p.address[1] + positions.offset[k][1];
  }
  raw_element raw[K];
  load_raw<K>(raw, from, p.form[0]);
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    raw[k] = p.kind == kRecast ? recast(p.form[0], p.form[1], raw[k])
                               : converted(p.kind, p.units, p.form[0], p.form[1], raw[k]);
  }
  store_raw<K>(to, raw, positions.live, p.form[1]);
}

// ---- copy: the entry `row` of the identity function

struct same_value {
  template <class T>
  static GUF_FN T call(T x) {
    return x;
  }
};
template <class T>
GUF_DEVICE_ONLY void copy_rows(const copy_block &p) {
  char *const base[] = {(char *)p.address[0], (char *)p.address[1]};
  elementwise<same_value, types<T>, types<T>>::row(p, base);
}

// ---- tile: a copy whose operands are contiguous in different dimensions

// `shared` has space for kTile rows of kTile + 1 elements.
template <class T>
GUF_DEVICE_ONLY void copy_tile(const tile_block &p, char *shared) {
  T *const part = (T *)shared;
  u32 rest = quotient(p.tiles_x, block_id());
  const u32 x0 = (block_id() - rest * p.tiles_x.d) * (u32)kTile;
  const u32 outer = quotient(p.tiles_y, rest);
  const u32 y0 = (rest - outer * p.tiles_y.d) * (u32)kTile;
  i64 from = 0, to = 0;
  rest = outer;
  GUF_NO_UNROLL
  for (u32 d = 0; d < p.nouter; ++d) {
    const u32 q = quotient(p.dim[d], rest);
    const i64 index = (i64)(rest - q * p.dim[d].d);
    from += index * p.from_outer[d];
    to += index * p.to_outer[d];
    rest = q;
  }
  const u32 fast = thread_id() & (u32)(kTile - 1), slow = thread_id() / (u32)kTile;
  constexpr u32 rows = (u32)kThreads / (u32)kTile;
  GUF_UNROLL
  for (u32 r = 0; r < (u32)kTile; r += rows) {
    const u32 x = x0 + slow + r, y = y0 + fast;
    if (x < p.size_x && y < p.size_y) {
      part[(slow + r) * (u32)(kTile + 1) + fast] =
          *(const T *)((const char *)p.from + from + (i64)x * p.from_x + (i64)y * p.from_y);
    }
  }
  barrier();
  GUF_UNROLL
  for (u32 r = 0; r < (u32)kTile; r += rows) {
    const u32 x = x0 + fast, y = y0 + slow + r;
    if (x < p.size_x && y < p.size_y) {
      *(T *)((char *)p.to + to + (i64)x * p.to_x + (i64)y * p.to_y) =
          part[fast * (u32)(kTile + 1) + slow + r];
    }
  }
}

// ---- bytes: structured dtypes, word by word

template <class T>
GUF_DEVICE_ONLY void copy_words(const bytes_block &p) {
  constexpr int K = kCopyElements;
  nd_positions<2, K> positions;
  u32 word[K];
  find_items(p, block_id() * (u32)(kThreads * K) + thread_id(), p.items * p.words.d, positions,
             word, p.words);
  T value[K];
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    value[k] = ((const T *)((const char *)p.address[0] + positions.offset[k][0]))[word[k]];
  }
  GUF_UNROLL
  for (int k = 0; k < K; ++k) {
    if (positions.live[k])
      ((T *)((char *)p.address[1] + positions.offset[k][1]))[word[k]] = value[k];
  }
}

GUF_DEVICE_ONLY void copy_structured(const bytes_block &p) {
  switch (p.options) {
    case 0:
      return copy_words<u8>(p);
    case 1:
      return copy_words<u16>(p);
    case 2:
      return copy_words<u32>(p);
    default:
      return copy_words<u64>(p);
  }
}

// ---- fill: a pattern whose size divides 16

GUF_DEVICE_ONLY void fill_words(const fill_block &p) {
  union {
    word_of<16>::type whole;
    u64 part[2];

  } word;
  word.part[0] = p.pattern[0];
  word.part[1] = p.pattern[1];
  const u64 end = p.address + p.bytes;
  const u64 first = (p.address & ~(u64)15) +
                    ((u64)block_id() * (u64)kThreads * (u64)kCopyElements + thread_id()) * 16;
  GUF_UNROLL
  for (int k = 0; k < kCopyElements; ++k) {
    const u64 at = first + (u64)k * (u64)(kThreads * 16);
    if (at >= p.address && at + 16 <= end) {
      *(word_of<16>::type *)at = word.whole;
      continue;
    }
    GUF_NO_UNROLL
    for (u32 i = 0; i < 16; ++i) {
      const u64 bits = p.pattern[i / 8] >> (8 * (i & 7u));
      if (at + i >= p.address && at + i < end) *(u8 *)(at + i) = (u8)bits;
    }
  }
}

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_COPIES_HPP
