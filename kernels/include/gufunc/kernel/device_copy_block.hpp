// SPDX-License-Identifier: Apache-2.0
// Argument blocks of a backend's copy and cast kernels (device_copies.hpp), and the conversion of
// one element.
#ifndef GUFUNC_KERNEL_DEVICE_COPY_BLOCK_HPP
#define GUFUNC_KERNEL_DEVICE_COPY_BLOCK_HPP

#include "device_form.hpp"

namespace guf {
namespace device {

enum { kCopyElements = 4 };  // elements per thread of convert and bytes; 16-byte words of fill

// ---- convert

enum conversion_kind : u32 {
  kRecast,        // like guf::cast, where datetime types are i64
  kNumberToTime,  // floating-point to datetime type; NaT if the number does not fit in i64
  kByFactor,      // between units of the same datetime type
  kByRatio,
  kByCalendar
};

// The entry reads operand 0 and writes operand 1. `form` describes how the elements of each operand
// are stored. The entry does not compute floating-point flags.
struct convert_block : nd_block<2> {
  u32 kind, reserved;
  time::conversion units;
};

// All conversions are in one function that is not inlined, because the calendar code is long. The
// arguments are plain numbers, because a struct would be passed by address, and the compiler would
// then copy the whole block that contains the struct to the stack.
GUF_DEVICE_NOINLINE raw_element converted_by(u32 kind, i64 num, i64 denom, u32 from_unit,
                                             u32 to_unit, u32 from_multiple, u32 to_multiple,
                                             bool by_calendar, u32 from, u32 to, u64 lo, u64 hi) {
  const time::conversion units = {num,           denom,       from_unit,  to_unit,
                                  from_multiple, to_multiple, by_calendar};
  const raw_element x = {lo, hi};
  if (kind == kRecast) return recast(from, to, x);
  if (kind == kNumberToTime) {
    const f64 value = from_raw<f64>(recast(from, kKindF64, x));
    const bool inside = value >= -0x1p63 && value < 0x1p63;
    return recast(kKindI64, to, to_raw<i64>(inside ? (i64)value : nat));
  }
  const i64 value = from_raw<i64>(recast(from, kKindI64, x));
  i64 result = nat;
  if (value != nat) {
    result = kind == kByFactor  ? time::wrapping_mul(value, units.num)
             : kind == kByRatio ? time::convert_by_ratio(value, units)
                                : time::convert_by_calendar(value, units);
  }
  return recast(kKindI64, to, to_raw<i64>(result));
}

// Converts an element. Host code also calls this function, for immediate operands.
GUF_FN raw_element converted(u32 kind, const time::conversion &units, u32 from, u32 to,
                             raw_element x) {
  return converted_by(kind, units.num, units.denom, units.from, units.to, units.from_multiple,
                      units.to_multiple, units.by_calendar, from, to, x.lo, x.hi);
}

// ---- copy: the entry `row` of the identity function

typedef row_block<2> copy_block;
// ---- tile: a copy whose operands are contiguous in different dimensions

enum { kTile = 32, kTileOuter = 6 };
// Dimension x has the smallest step in the written operand, and dimension y has the smallest step
// in the read operand.
struct tile_block {
  u64 from, to;
  u32 size_x, size_y;  // < 2^31
  divisor tiles_x, tiles_y;
  divisor dim[kTileOuter];
  u32 nouter, reserved;
  i64 from_x, from_y, to_x, to_y;
  i64 from_outer[kTileOuter], to_outer[kTileOuter];
};

// ---- bytes: structured dtypes, word by word

// `options` is log2 of the bytes of a word. The entry reads operand 0 and writes operand 1.
struct bytes_block : nd_block<2> {
  divisor words;  // per element; items * words < 2^31
  u32 reserved;
};

// ---- fill: a pattern whose size divides 16

struct fill_block {
  u64 address, bytes;
  u64 pattern[2];  // the bytes at every address that is a multiple of 16
};

}  // namespace device
}  // namespace guf

#endif  // GUFUNC_KERNEL_DEVICE_COPY_BLOCK_HPP
