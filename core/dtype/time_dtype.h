// SPDX-License-Identifier: Apache-2.0
// datetime64 and timedelta64. Each dtype consists of a class, a unit and a multiple of the unit. An
// element is a number of steps; the length of a step is the multiple of the unit, such as 25 s.
#ifndef GUFUNC_CORE_DTYPE_TIME_DTYPE_H
#define GUFUNC_CORE_DTYPE_TIME_DTYPE_H

#include <string_view>

#include "core/dtype/dtype.h"

namespace gufunc::dtype {

constexpr uint32_t unit(guf_dtype time) {
  return time >> 8 & 0xFFU;
}
constexpr uint32_t multiple(guf_dtype time) {
  return time >> 16;
}
constexpr guf_dtype make_time(guf_dtype time, uint32_t unit, uint32_t multiple) {
  return (time & 0xFFU) | unit << 8 | multiple << 16;
}
// Returns the dtype of the same class without a unit.
constexpr guf_dtype time_class(guf_dtype time) {
  return make_time(time, GUF_UNIT_GENERIC, 1);
}
// Return the timedelta64 or the datetime64 with the same unit.
constexpr guf_dtype timedelta_like(guf_dtype time) {
  return time | 1U;
}
constexpr guf_dtype datetime_like(guf_dtype time) {
  return time & ~1U;
}

// Returns the result type of a cast from `from` to `to`. The result is `to`, except that a cast to
// a datetime type without a unit keeps the unit of `from`.
constexpr guf_dtype resolve_unit(guf_dtype to, guf_dtype from) {
  const bool adopts_unit = is_time(to) && unit(to) == GUF_UNIT_GENERIC && is_time(from);
  return adopts_unit ? make_time(to, unit(from), multiple(from)) : to;
}

bool valid_time(guf_dtype dtype);
const char *time_name(guf_dtype time);  // a name such as "datetime64[25s]"; `time` must be valid
// The functions below require that both arguments are datetime types.
bool can_cast_time(guf_dtype from, guf_dtype to, int casting);
guf_status promote_datetimes(guf_dtype a, guf_dtype b, guf_dtype *out, guf_error *error);
guf_status check_time_cast(guf_dtype from, guf_dtype to, guf_error *error);

// Parsing of spellings without a byte-order mark, such as "M8[25s]" or "datetime64". reads_as_time
// returns false for the spellings of other dtypes.
// Errors  GUF_E_DTYPE <= an invalid unit or multiple; the message quotes `whole`
bool reads_as_time(std::string_view text);
guf_status parse_time(std::string_view text, const char *whole, guf_dtype *out, guf_error *error);

}  // namespace gufunc::dtype

#endif  // GUFUNC_CORE_DTYPE_TIME_DTYPE_H
