// SPDX-License-Identifier: Apache-2.0
// Makes the arrays of random cases: chooses their memory layout, fills them with random values, and
// converts their elements.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gufunc/kernel/time.hpp>
#include <limits>
#include <numeric>

#include "tests/unit/gpu/launch_case.h"

namespace gufunc::gpu::test {

Memory::Memory(size_t bytes, size_t offset) : bytes_(bytes), offset_(offset) {
  // malloc aligns memory to 16 bytes.
  data_.reset(static_cast<char *>(std::malloc(bytes + offset == 0 ? 1 : bytes + offset)));
}

Memory Memory::copy() const {
  Memory result(bytes_, offset_);
  if (bytes_ != 0) std::memcpy(result.data(), data(), bytes_);
  return result;
}

ArrayLayout lay_out_array(const std::vector<Extent> &extents, uint32_t bytes, uint32_t alignment,
                          Order order, bool unaligned, Random &random) {
  ArrayLayout laid;
  laid.step.assign(extents.size(), 0);
  laid.unaligned = unaligned;
  std::vector<size_t> from_inside(extents.size());
  std::iota(from_inside.begin(), from_inside.end(), size_t{0});
  if (order == Order::kAny) std::shuffle(from_inside.begin(), from_inside.end(), random);
  int64_t next = bytes;
  if (order == Order::kAny && chance(random, 30)) next += chance(random, 50) ? bytes : alignment;
  if (unaligned && chance(random, 50)) next += 1;
  int64_t lowest = 0, highest = bytes;
  bool empty = false;
  for (const size_t d : from_inside) {
    const Extent &extent = extents[d];
    empty = empty || extent.size == 0;
    if (extent.stretched) continue;
    const bool backwards = order == Order::kAny && chance(random, 20);
    laid.step[d] = backwards ? -next : next;
    if (extent.size > 1) (backwards ? lowest : highest) += laid.step[d] * (extent.size - 1);
    next *= std::max<int64_t>(extent.size, 1);
    if (order == Order::kAny && chance(random, 20)) next += alignment;
  }
  const size_t offset = unaligned            ? 1 + below(random, 3)
                        : chance(random, 40) ? alignment * below(random, 4)
                                             : 0;
  laid.memory = Memory(empty ? 0 : static_cast<size_t>(highest - lowest), offset);
  laid.first = empty ? 0 : -lowest;
  return laid;
}

uint32_t bytes_of(guf_dtype dtype) {
  return (dtype & 0x80) != 0 ? 8 : (dtype >> 8 & 0xFF) / 8;
}
uint32_t unit_of(guf_dtype dtype) {
  return dtype == GUF_C64 || dtype == GUF_C128 ? bytes_of(dtype) / 2 : bytes_of(dtype);
}

void swap_element(guf_dtype dtype, char *element) {
  const uint32_t unit = unit_of(dtype);
  for (uint32_t at = 0; at < bytes_of(dtype); at += unit) {
    std::reverse(element + at, element + at + unit);
  }
}

namespace {

// Returns a random number. Numbers of kind kAny may saturate in casts or raise floating-point
// flags. Sums of numbers of kind kPlain are finite.
double random_number(Values values, Random &random) {
  const double special[] = {0.0,
                            -0.0,
                            0.5,
                            1.0,
                            -1.0,
                            1e-310,
                            127.5,
                            -128.5,
                            3e38,
                            -7e5,
                            1e300,
                            -1e20,
                            2047.0,
                            65504.,
                            1e-40,
                            6e-8,
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            9.3e18};
  if (values == Values::kAny && chance(random, 30)) {
    return special[below(random, std::size(special))];
  }
  const double whole = static_cast<double>(below(random, 4001)) - 2000.0;
  // Multiples of 1/3 make sums inexact, so that the order of additions affects the result.
  return values == Values::kPlain ? whole / 3.0 : whole / (chance(random, 50) ? 1.0 : 16.0);
}

int64_t random_integer(Random &random) {
  if (chance(random, 15)) return static_cast<int64_t>(random());
  if (chance(random, 10)) return INT64_MIN;
  return static_cast<int64_t>(below(random, 300)) - 100;
}

}  // namespace

void random_element(guf_dtype dtype, Values values, Random &random, char *to) {
  if ((dtype & 0x80) != 0) {
    const int64_t value = random_integer(random);
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const uint32_t code = dtype & 0xFF;
  if (code == 2 || code == 4 || code == 5) {
    alignas(16) double parts[2] = {random_number(values, random), random_number(values, random)};
    alignas(16) char element[16];
    cast_element(code == 5 ? GUF_C128 : GUF_F64, parts, dtype, element);
    std::memcpy(to, element, bytes_of(dtype));
    return;
  }
  const int64_t value = code == 6 ? static_cast<int64_t>(below(random, 2)) : random_integer(random);
  std::memcpy(to, &value, bytes_of(dtype));
}

void fill_array(guf_dtype dtype, bool swapped, Values values, const std::vector<Extent> &extents,
                ArrayLayout &laid, Random &random) {
  for (size_t i = 0; i < laid.memory.bytes(); ++i) {
    laid.memory.data()[i] = static_cast<char>(random());
  }
  std::vector<int64_t> index(extents.size(), 0);
  for (const Extent &extent : extents) {
    if (extent.size == 0) return;
  }
  for (;;) {
    int64_t at = laid.first;
    for (size_t d = 0; d < extents.size(); ++d) at += index[d] * laid.step[d];
    char *const element = laid.memory.data() + at;
    random_element(dtype, values, random, element);
    if (swapped) swap_element(dtype, element);
    size_t d = 0;
    for (; d < extents.size(); ++d) {
      if (!extents[d].stretched && ++index[d] < extents[d].size) break;
      index[d] = 0;
    }
    if (d == extents.size()) return;
  }
}

void cast_plainly(guf_dtype from_dtype, const char *from, guf_dtype to_dtype, char *to) {
  alignas(16) char in[16] = {}, out[16] = {};
  std::memcpy(in, from, bytes_of(from_dtype));
  const bool from_time = (from_dtype & 0x80) != 0, to_time = (to_dtype & 0x80) != 0;
  if (from_dtype == to_dtype) {
    std::memcpy(to, from, bytes_of(to_dtype));
    return;
  }
  if (from_time && to_time && (from_dtype & 0xFF) == (to_dtype & 0xFF)) {
    int64_t value;
    std::memcpy(&value, in, 8);
    const guf::time::conversion units =
        guf::time::conversion_of((from_dtype & 1) == 0, from_dtype >> 8 & 0xFF, from_dtype >> 16,
                                 to_dtype >> 8 & 0xFF, to_dtype >> 16);
    if (value != guf::nat) {
      value = units.by_calendar ? guf::time::convert_by_calendar(value, units)
                                : guf::time::convert_by_ratio(value, units);
    }
    std::memcpy(to, &value, 8);
    return;
  }
  const uint32_t code = from_dtype & 0xFF;
  if (to_time && (code == 2 || code == 4 || code == 5)) {
    double value;
    cast_element(from_dtype, in, GUF_F64, out);
    std::memcpy(&value, out, 8);
    const bool inside = value >= -0x1p63 && value < 0x1p63;
    const int64_t time = inside ? static_cast<int64_t>(value) : guf::nat;
    std::memcpy(to, &time, 8);
    return;
  }
  constexpr guf_dtype kPlainTime = GUF_I64;
  const guf_dtype plain_from = from_time ? kPlainTime : from_dtype;
  const guf_dtype plain_to = to_time ? kPlainTime : to_dtype;
  if (plain_from == plain_to) {
    std::memcpy(to, from, bytes_of(to_dtype));
    return;
  }
  cast_element(plain_from, in, plain_to, out);
  std::memcpy(to, out, bytes_of(to_dtype));
}

uint32_t class_of(guf_dtype dtype, const char *element) {
  if ((dtype & 0x80) != 0) {
    int64_t value;
    std::memcpy(&value, element, 8);
    return (value == INT64_MIN ? 1U : 0U) | (value == 0 ? 4U : 0U);
  }
  const uint32_t code = dtype & 0xFF;
  if (code == 5) {
    const guf_dtype real = dtype == GUF_C64 ? GUF_F32 : GUF_F64;
    const uint32_t re = class_of(real, element), im = class_of(real, element + bytes_of(real));
    return ((re | im) & 3U) | (re & im & 4U);
  }
  if (code != 2 && code != 4) return 0;
  alignas(16) char in[16] = {};
  double value;
  std::memcpy(in, element, bytes_of(dtype));
  cast_element(dtype, in, GUF_F64, &value);
  double normal = 0x1p-126;
  if (dtype == GUF_F16) normal = 0x1p-14;
  if (dtype == GUF_F64) normal = std::numeric_limits<double>::min();
  return (std::isnan(value) ? 1U : 0U) | (std::isinf(value) ? 2U : 0U) | (value == 0 ? 4U : 0U) |
         (std::fabs(value) < normal ? 8U : 0U);
}

}  // namespace gufunc::gpu::test
