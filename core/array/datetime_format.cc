// SPDX-License-Identifier: Apache-2.0
#include "core/array/datetime_format.h"

#include <gufunc/kernel/time.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/dtype/time_dtype.h"

namespace gufunc::array {
namespace {

constexpr const char *kUnitWords[] = {"generic time units",
                                      "years",
                                      "months",
                                      "weeks",
                                      "days",
                                      "hours",
                                      "minutes",
                                      "seconds",
                                      "milliseconds",
                                      "microseconds",
                                      "nanoseconds",
                                      "picoseconds",
                                      "femtoseconds",
                                      "attoseconds"};

// A point in time: a date and the time of day.
struct Moment {
  guf::time::date date;
  int64_t second;    // seconds since the start of the day
  int64_t fraction;  // time since the start of the second, in the unit of the dtype
};

Moment moment_of(uint32_t unit, int64_t count) {
  namespace time = guf::time;
  if (unit == GUF_UNIT_YEAR) return {{time::wrapping_add(1970, count), 1, 1}, 0, 0};
  if (unit == GUF_UNIT_MONTH) return {time::date_of_month(count), 0, 0};
  if (unit == GUF_UNIT_WEEK) return {time::date_of_day(time::wrapping_mul(count, 7)), 0, 0};
  const bool fine = unit > GUF_UNIT_SECOND;
  int64_t per_second = 1;
  for (uint32_t finer = GUF_UNIT_SECOND; finer < unit; ++finer) per_second *= 1000;
  const int64_t second = time::floor_quotient(count, per_second);
  const uint32_t rest_unit = fine ? uint32_t{GUF_UNIT_SECOND} : unit;
  const auto per_day = static_cast<int64_t>(time::factor(GUF_UNIT_DAY, rest_unit));
  const int64_t day = time::floor_quotient(second, per_day);
  const int64_t within = time::wrapping_sub(second, time::wrapping_mul(day, per_day));
  return {time::date_of_day(day), within * (86400 / per_day),
          time::wrapping_sub(count, time::wrapping_mul(second, per_second))};
}

std::string iso_text(guf_dtype time, int64_t value) {
  const uint32_t unit = dtype::unit(time);
  const Moment at = moment_of(unit, guf::time::wrapping_mul(value, dtype::multiple(time)));
  char text[80];
  int length = std::snprintf(text, sizeof text, "%04" PRId64, static_cast<int64_t>(at.date.year));
  const auto add = [&](uint32_t from, const char *format, int64_t number) {
    if (unit < from) return;
    length +=
        std::snprintf(text + length, sizeof text - static_cast<size_t>(length), format, number);
  };
  add(GUF_UNIT_MONTH, "-%02" PRId64, at.date.month);
  add(GUF_UNIT_WEEK, "-%02" PRId64, at.date.day);
  add(GUF_UNIT_HOUR, "T%02" PRId64, at.second / 3600);
  add(GUF_UNIT_MINUTE, ":%02" PRId64, at.second / 60 % 60);
  add(GUF_UNIT_SECOND, ":%02" PRId64, at.second % 60);
  if (unit > GUF_UNIT_SECOND) {
    const int digits = static_cast<int>(unit - GUF_UNIT_SECOND) * 3;
    std::snprintf(text + length, sizeof text - static_cast<size_t>(length), ".%0*" PRId64, digits,
                  at.fraction);
  }
  return text;
}

}  // namespace

std::string format_datetime(guf_dtype time, int64_t value) {
  if (value == GUF_NAT) return "'NaT'";
  if (dtype::is_timedelta(time)) return std::to_string(value);
  return "'" + iso_text(time, value) + "'";
}

std::string format_datetime_scalar(guf_dtype time, int64_t value) {
  if (value == GUF_NAT) return "NaT";
  if (dtype::is_datetime(time)) return iso_text(time, value);
  return std::to_string(guf::time::wrapping_mul(value, dtype::multiple(time))) + " " +
         kUnitWords[dtype::unit(time)];
}

bool has_text(guf_dtype dtype, const std::byte *values, uint64_t count) {
  if (dtype != GUF_DATETIME64) return true;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t value = 0;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    if (value != GUF_NAT) return false;
  }
  return true;
}

}  // namespace gufunc::array
