// SPDX-License-Identifier: Apache-2.0
// Casts of datetime types. The units are part of the operands' dtypes. They are passed to the loop
// as parameters, because kernels cannot be compiled for all pairs of units.
#include "backends/cpu/loops/time_cast.h"

#include <cstring>

namespace gufunc::cpu {
namespace {

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

}  // namespace

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

}  // namespace gufunc::cpu
