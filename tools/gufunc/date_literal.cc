// SPDX-License-Identifier: Apache-2.0
// Parses ISO 8601 dates without time zones, in the proleptic Gregorian calendar.
#include "date_literal.h"

#include <gufunc/dtype.h>

#include <limits>

namespace gufunc::cli {
namespace {

__extension__ using Wide = __int128;  // holds 1e9 years in attoseconds

constexpr Wide kAtto = 1'000'000'000'000'000'000;

struct Date {
  int64_t year = 1970, month = 1, day = 1;
  int64_t seconds = 0;  // since midnight
  int64_t atto = 0;     // attoseconds within the second
};

// Removes between `least` and `most` digits from the front of `text` and stores their value.
bool take_digits(std::string_view &text, size_t least, size_t most, int64_t *out) {
  size_t count = 0;
  *out = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
    if (count == most) return false;
    *out = *out * 10 + (text[count] - '0');
  }
  text.remove_prefix(count);
  return count >= least;
}

bool take(std::string_view &text, char expected) {
  const bool found = text.starts_with(expected);
  if (found) text.remove_prefix(1);
  return found;
}

// Removes a separator and two digits from the front of `text`. The value must be at most `top`.
bool take_part(std::string_view &text, char separator, int64_t top, int64_t *out) {
  return take(text, separator) && take_digits(text, 2, 2, out) && *out <= top;
}

int64_t days_in(int64_t year, int64_t month) {
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (month == 2) return leap ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

bool take_fraction(std::string_view &text, int64_t *out_atto) {
  constexpr size_t kDigits = 18;
  const size_t before = text.size();
  if (!take_digits(text, 1, kDigits, out_atto)) return false;
  for (size_t digits = before - text.size(); digits < kDigits; ++digits) *out_atto *= 10;
  return true;
}

bool take_time(std::string_view &text, Date *out) {
  int64_t hour = 0, minute = 0, second = 0;
  if (!take_digits(text, 2, 2, &hour) || hour > 23) return false;
  if (!text.empty() && !take_part(text, ':', 59, &minute)) return false;
  if (!text.empty() && !take_part(text, ':', 59, &second)) return false;
  if (take(text, '.') && !take_fraction(text, &out->atto)) return false;
  out->seconds = (hour * 60 + minute) * 60 + second;
  return text.empty();
}

bool parse(std::string_view text, Date *out) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  if (!take_digits(text, 4, 9, &out->year)) return false;
  if (negative) out->year = -out->year;
  if (!take_part(text, '-', 12, &out->month) || out->month == 0) return false;
  if (text.empty()) return true;
  if (!take_part(text, '-', days_in(out->year, out->month), &out->day) || out->day == 0)
    return false;
  if (text.empty()) return true;
  return (take(text, 'T') || take(text, ' ')) && take_time(text, out);
}

Wide floor_divide(Wide a, Wide b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// Returns the days since 1970-01-01. The year starts in March here, so that a leap day is its last
// day.
int64_t days_to(const Date &date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t month = (date.month + 9) % 12;
  const auto leaps = [year](int64_t every) {
    return static_cast<int64_t>(floor_divide(year, every));
  };
  constexpr int64_t kToEpoch = 719468;  // days from 0000-03-01 to 1970-01-01
  return 365 * year + leaps(4) - leaps(100) + leaps(400) + (153 * month + 2) / 5 + date.day - 1 -
         kToEpoch;
}

// Returns the attoseconds of a unit shorter than a day, or 0 for other units.
Wide length_of(int32_t unit) {
  if (unit == GUF_UNIT_HOUR) return 3600 * kAtto;
  if (unit == GUF_UNIT_MINUTE) return 60 * kAtto;
  Wide length = unit >= GUF_UNIT_SECOND ? kAtto : 0;
  for (int32_t k = GUF_UNIT_SECOND; k < unit; ++k) length /= 1000;
  return length;
}

}  // namespace

std::optional<int64_t> steps_to_date(std::string_view text, int32_t unit, uint32_t multiple,
                                     bool *out_too_far) {
  *out_too_far = false;
  Date date;
  if (unit == GUF_UNIT_GENERIC || !parse(text, &date)) return std::nullopt;
  const int64_t days = days_to(date);
  Wide steps = days;
  if (unit == GUF_UNIT_YEAR) steps = date.year - 1970;
  if (unit == GUF_UNIT_MONTH) steps = (date.year - 1970) * 12 + date.month - 1;
  if (unit == GUF_UNIT_WEEK) steps = floor_divide(days, 7);
  if (const Wide length = length_of(unit); length != 0) {
    steps = floor_divide((Wide{days} * 86400 + date.seconds) * kAtto + date.atto, length);
  }
  steps = floor_divide(steps, multiple);
  constexpr auto kMax = std::numeric_limits<int64_t>::max();
  *out_too_far = steps > kMax || steps < -kMax;
  if (*out_too_far) return std::nullopt;
  return static_cast<int64_t>(steps);
}

}  // namespace gufunc::cli
