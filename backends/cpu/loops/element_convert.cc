// SPDX-License-Identifier: Apache-2.0
// Elements are converted in blocks that stay in the L1 cache:
// copies change byte order and alignment, and the typed cast loop runs on the blocks.
//
// PERF  Blocks of 256 elements take 1.0 to 1.6 times as long as a loop that is templated on the
//       operand types. A switch for each element takes 4 to 10 times as long.
//
// Copies have one loop for each element size and swap width. Their unaligned accesses use memcpy
// with a constant size.
//
// The units of datetime types are part of the operands' dtypes. They are passed to the cast loop as
// parameters, because kernels cannot be compiled for all pairs of units.
#include "backends/cpu/loops/element_convert.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/loops/dtype_layout.h"

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

template <class T>
T load(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(char *to, int64_t value) {
  std::memcpy(to, &value, sizeof value);
}

template <class Convert>
void convert_row(char **args, const int64_t *dims, const int64_t *steps, Convert convert) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto value = load<int64_t>(args[0] + i * steps[0]);
    store(args[1] + i * steps[1], value == guf::nat ? guf::nat : convert(value));
  }
}

void cast_by_calendar(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const auto units = *static_cast<const guf::time::conversion *>(user);
  convert_row(args, dims, steps,
              [&](int64_t value) { return guf::time::convert_by_calendar(value, units); });
}

void cast_by_ratio(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const auto units = *static_cast<const guf::time::conversion *>(user);
  convert_row(args, dims, steps,
              [&](int64_t value) { return guf::time::convert_by_ratio(value, units); });
}

// Casts to a finer unit, which needs no division.
void cast_by_factor(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  const int64_t factor = static_cast<const guf::time::conversion *>(user)->num;
  convert_row(args, dims, steps,
              [&](int64_t value) { return guf::time::wrapping_mul(value, factor); });
}

template <class T>
void cast_float(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto value = guf::cast<guf::f64>(load<T>(args[0] + i * steps[0]));
    const bool inside = value >= -0x1p63 && value < 0x1p63;
    store(args[1] + i * steps[1], inside ? static_cast<int64_t>(value) : guf::nat);
  }
}

constexpr bool is_inexact(guf_dtype_kind kind) {
  return kind == GUF_KIND_FLOAT || kind == GUF_KIND_BFLOAT || kind == GUF_KIND_COMPLEX;
}

uint32_t unit_of(guf_dtype time) {
  return time >> 8 & 0xFF;
}
uint32_t multiple_of(guf_dtype time) {
  return time >> 16;
}

constexpr int64_t kBlock = 256;

void run_cast(guf_loop_numpy cast, const guf::time::conversion &units, const char *from,
              int64_t from_step, char *to, int64_t to_step, int64_t count) {
  char *args[2] = {const_cast<char *>(from), to};
  const int64_t steps[2] = {from_step, to_step};
  cast(args, &count, steps, const_cast<guf::time::conversion *>(&units));
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

bool choose_time_cast(guf_dtype from, guf_dtype to, guf_loop_numpy *out_cast,
                      guf::time::conversion *out_units) {
  *out_cast = nullptr;
  const bool same_class = ((from ^ to) & 0xFF) == 0;
  if (from == to || !same_class || unit_of(from) == GUF_UNIT_GENERIC) return true;
  if (unit_of(to) == GUF_UNIT_GENERIC) return false;
  const bool datetimes = (from & 1) == 0;
  *out_units = guf::time::conversion_of(datetimes, unit_of(from), multiple_of(from), unit_of(to),
                                        multiple_of(to));
  if (out_units->num == 0) return false;
  if (out_units->by_calendar) {
    *out_cast = cast_by_calendar;
  } else if (out_units->denom != 1) {
    *out_cast = cast_by_ratio;
  } else if (out_units->num != 1) {
    *out_cast = cast_by_factor;
  }
  return true;
}

guf_loop_numpy find_cast_to_time(guf_dtype from) {
  switch (from) {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  case GUF_##NAME:                                                           \
    return is_inexact(GUF_KIND_##kind) ? cast_float<guf::element> : nullptr;
#include <gufunc/dtypes.def>
    default:
      return nullptr;
  }
}

bool ElementConverter::choose(const ElementForm &from, const ElementForm &to) {
  if (is_structured(from.dtype) && (from.swapped || to.swapped)) return false;
  from_bytes_ = dtype_size(from.dtype);
  to_bytes_ = dtype_size(to.dtype);
  from_swap_ = from.swapped ? dtype_swap_bytes(from.dtype) : 0;
  to_swap_ = to.swapped ? dtype_swap_bytes(to.dtype) : 0;
  from_staged_ = from.swapped || from.unaligned;
  to_staged_ = to.swapped || to.unaligned;
  return choose_cast(from.dtype, to.dtype);
}

bool ElementConverter::choose_cast(guf_dtype from, guf_dtype to) {
  cast_ = nullptr;
  if (is_structured(from) || is_structured(to)) return from == to;
  if (is_time(from) && is_time(to)) return choose_time_cast(from, to, &cast_, &units_);
  if (is_time(from)) from = GUF_I64;
  if (is_time(to)) {
    cast_ = find_cast_to_time(from);
    if (cast_ != nullptr) return true;
    to = GUF_I64;
  }
  if (from == to) return dtype_index(from) >= 0;
  cast_ = find_cast(from, to);
  return cast_ != nullptr;
}

void ElementConverter::row(char *to, int64_t to_step, const char *from, int64_t from_step,
                           int64_t count) const {
  if (cast_ == nullptr) {
    const uint32_t swap = from_swap_ != to_swap_ ? from_swap_ | to_swap_ : 0;
    copy_elements(to, to_step, from, from_step, count, from_bytes_, swap);
  } else if (!from_staged_ && !to_staged_) {
    run_cast(cast_, units_, from, from_step, to, to_step, count);
  } else {
    row_by_blocks(to, to_step, from, from_step, count);
  }
}

void ElementConverter::row_by_blocks(char *to, int64_t to_step, const char *from, int64_t from_step,
                                     int64_t count) const {
  alignas(64) char native_from[kBlock * kMaxElementBytes];
  alignas(64) char native_to[kBlock * kMaxElementBytes];
  const int64_t from_size = from_bytes_, to_size = to_bytes_;
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t n = std::min(kBlock, count - done);
    const char *source = from + done * from_step;
    int64_t source_step = from_step;
    if (from_staged_) {
      copy_elements(native_from, from_size, source, from_step, n, from_bytes_, from_swap_);
      source = native_from;
      source_step = from_size;
    }
    char *target = to + done * to_step;
    if (to_staged_) {
      run_cast(cast_, units_, source, source_step, native_to, to_size, n);
      copy_elements(target, to_step, native_to, to_size, n, to_bytes_, to_swap_);
    } else {
      run_cast(cast_, units_, source, source_step, target, to_step, n);
    }
  }
}

void ElementConverter::convert_nd(char *to, const int64_t *to_step, const char *from,
                                  const int64_t *from_step, const int64_t *size, int ndim) const {
  int longest = 0;
  for (int d = 0; d < ndim; ++d) {
    if (size[d] == 0) return;
    if (size[d] > size[longest]) longest = d;
  }
  if (ndim == 0) return row(to, 0, from, 0, 1);
  int64_t index[kMaxDims] = {};
  for (;;) {
    row(to, to_step[longest], from, from_step[longest], size[longest]);
    int d = 0;
    for (; d < ndim; ++d) {
      if (d == longest) continue;
      // The addresses never step past the last element, because a dimension of extent 1 may have
      // any stride.
      if (++index[d] < size[d]) {
        to += to_step[d];
        from += from_step[d];
        break;
      }
      to -= to_step[d] * (size[d] - 1);
      from -= from_step[d] * (size[d] - 1);
      index[d] = 0;
    }
    if (d == ndim) return;
  }
}

}  // namespace gufunc::cpu
