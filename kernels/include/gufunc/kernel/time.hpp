// SPDX-License-Identifier: Apache-2.0
// Elements of datetime64 and timedelta64, and conversions between units, with NumPy's behaviour on
// overflow (wrapping). Units have the numbers of guf_time_unit.
#ifndef GUFUNC_KERNEL_TIME_HPP
#define GUFUNC_KERNEL_TIME_HPP

#include "types.hpp"

namespace guf {
namespace time {

enum unit : u32 {
  no_unit,  // GUF_UNIT_GENERIC; "generic" is a keyword of OpenCL
  year,
  month,
  week,
  day,
  hour,
  minute,
  second,
  nanosecond = 10,
  last = 13
};

// Products, sums and differences that wrap on overflow.
GUF_FN constexpr i64 wrapping_mul(i64 a, i64 b) {
  return (i64)((u64)a * (u64)b);
}
GUF_FN constexpr i64 wrapping_add(i64 a, i64 b) {
  return (i64)((u64)a + (u64)b);
}
GUF_FN constexpr i64 wrapping_sub(i64 a, i64 b) {
  return (i64)((u64)a - (u64)b);
}
// The quotient rounded down, for a positive divisor.
GUF_FN constexpr i64 floor_quotient(i64 a, i64 b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

constexpr i64 days_of_400_years = 400 * 365 + 97;

// Returns the number of finer units in one coarser unit, such as 7 days in a week or 24 hours in a
// day. `coarse` must be a week or shorter, because the lengths of years and months vary. Returns 0
// if the number has more than 56 bits.
GUF_FN constexpr u64 factor(u32 coarse, u32 fine) {
  constexpr u32 next[] = {0, 1, 1, 7, 24, 60, 60, 1000, 1000, 1000, 1000, 1000, 1000, 1};
  u64 product = 1;
  for (u32 unit = coarse; unit < fine; ++unit) {
    product *= next[unit];
    if (product >> 56 != 0) return 0;
  }
  return product;
}

// A count in one unit times `num` / `denom` is the count in the other unit.
struct ratio {
  u64 num, denom;
};

GUF_FN constexpr u64 unsigned_gcd(u64 a, u64 b) {
  while (b != 0) {
    const u64 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Returns the ratio between two units. Years and months have their mean length over 400 years.
// `num` is 0 on overflow.
GUF_FN constexpr ratio ratio_of(u32 from, u32 from_multiple, u32 to, u32 to_multiple) {
  const bool coarser = from <= to;
  const u32 coarse = coarser ? from : to, fine = coarser ? to : from;
  u64 num = 1, denom = 1;
  if (from == no_unit || from == to) {
    // the ratio of the units is 1
  } else if (coarse == year && fine == month) {
    num = 12;
  } else if (coarse <= month) {
    const u64 years = coarse == year ? 400 : 400 * 12;
    num = days_of_400_years * (fine == week ? 1 : factor(day, fine));
    denom = years * (fine == week ? 7 : 1);
  } else {
    num = factor(coarse, fine);
  }
  if (num == 0) return {0, 1};
  if (!coarser) {
    const u64 swapped = num;
    num = denom;
    denom = swapped;
  }
  if (from != no_unit) {
    num *= from_multiple;
    denom *= to_multiple;
  }
  const u64 common = unsigned_gcd(num, denom);
  return {num / common, denom / common};
}

// ---- the calendar, proleptic Gregorian

struct date {
  i64 year;
  i32 month, day;  // both from 1
};

GUF_FN constexpr bool is_leap(i64 year) {
  return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
}
GUF_FN constexpr i32 days_of_month(i64 year, i32 month) {
  constexpr i32 days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

// Days from 1970-01-01 to the first day of a month.
GUF_FN constexpr i64 days_to_month(i64 year, i32 month) {
  i64 years = wrapping_sub(year, 1970);
  i64 days = wrapping_mul(years, 365);
  if (days >= 0) {
    years = wrapping_add(years, 1);
    days = wrapping_add(days, years / 4);
    years = wrapping_add(years, 68);
    days = wrapping_sub(days, years / 100);
    years = wrapping_add(years, 300);
    days = wrapping_add(days, years / 400);
  } else {
    years = wrapping_sub(years, 2);
    days = wrapping_add(days, years / 4);
    years = wrapping_sub(years, 28);
    days = wrapping_sub(days, years / 100);
    days = wrapping_add(days, years / 400);
  }
  for (i32 m = 1; m < month; ++m) days = wrapping_add(days, days_of_month(year, m));
  return days;
}

GUF_FN constexpr date date_of_day(i64 day) {
  // Days since 2000-01-01, where a cycle of 400 years begins.
  i64 days = wrapping_sub(day, 365 * 30 + 7);
  i64 years = 400 * floor_quotient(days, days_of_400_years);
  i64 rest = days % days_of_400_years;
  if (rest < 0) rest += days_of_400_years;
  if (rest >= 366) {
    constexpr i64 century = 100 * 365 + 24, four_years = 4 * 365 + 1;
    years += 100 * ((rest - 1) / century);
    rest = (rest - 1) % century;
    if (rest >= 365) {
      years += 4 * ((rest + 1) / four_years);
      rest = (rest + 1) % four_years;
      if (rest >= 366) {
        years += (rest - 1) / 365;
        rest = (rest - 1) % 365;
      }
    }
  }
  date found = {years + 2000, 1, 1};
  while (rest >= days_of_month(found.year, found.month)) {
    rest -= days_of_month(found.year, found.month++);
  }
  found.day = (i32)rest + 1;
  return found;
}

GUF_FN constexpr date date_of_month(i64 months) {
  const i64 years = floor_quotient(months, 12);
  return {wrapping_add(1970, years), (i32)wrapping_sub(months, wrapping_mul(12, years)) + 1, 1};
}

// ---- conversion of a value to another unit

// Parameters of a conversion between two units of the same datetime type, which are computed once.
struct conversion {
  i64 num, denom;
  u32 from, to, from_multiple, to_multiple;
  bool by_calendar;  // a conversion of datetimes from or to years or months
};

GUF_FN constexpr conversion conversion_of(bool datetimes, u32 from, u32 from_multiple, u32 to,
                                          u32 to_multiple) {
  const ratio all = ratio_of(from, from_multiple, to, to_multiple);
  const bool calendar = datetimes && from != no_unit && (from <= month || to <= month);
  return {(i64)all.num, (i64)all.denom, from, to, from_multiple, to_multiple, calendar};
}

GUF_FN constexpr i64 floor_by(i64 value, i64 divisor) {
  if (divisor <= 1) return value;
  return value >= 0 ? value / divisor : wrapping_add(wrapping_sub(value, divisor), 1) / divisor;
}

GUF_FN i64 convert_by_calendar(i64 value, const conversion &c) {
  const i64 count = wrapping_mul(value, c.from_multiple);
  date at = {wrapping_add(1970, count), 1, 1};
  i64 days = 0;
  if (c.from > month) {
    days =
        c.from == week ? wrapping_mul(count, 7) : floor_quotient(count, (i64)factor(day, c.from));
    at = date_of_day(days);
  } else {
    if (c.from == month) at = date_of_month(count);
    days = days_to_month(at.year, at.month);
  }
  i64 result = days;
  if (c.to == year) result = wrapping_sub(at.year, 1970);
  if (c.to == month)
    result = wrapping_add(wrapping_mul(12, wrapping_sub(at.year, 1970)), at.month - 1);
  if (c.to == week) result = floor_by(days, 7);
  if (c.to > day) result = wrapping_mul(days, (i64)factor(day, c.to));
  return floor_by(result, c.to_multiple);
}

GUF_FN i64 convert_by_ratio(i64 value, const conversion &c) {
  const i64 all = wrapping_mul(value, c.num);
  return value < 0 ? wrapping_sub(all, c.denom - 1) / c.denom : all / c.denom;
}

}  // namespace time

// Not a time.
constexpr i64 nat = limits<i64>::lowest;

// Elements as they are in arrays and as functions receive them. The unit belongs to the array: all
// operands that a function receives have the same unit.
struct datetime {
  i64 value;
};
struct timedelta {
  i64 value;
};

template <class T>
struct is_time {
  static constexpr bool value = is_same<T, datetime>::value || is_same<T, timedelta>::value;
};

GUF_FN constexpr bool is_nat(datetime x) {
  return x.value == nat;
}
GUF_FN constexpr bool is_nat(timedelta x) {
  return x.value == nat;
}

// NaT is unequal to everything and unordered, like NaN.
#define GUF_TIME_ORDER(T)                        \
  GUF_FN constexpr bool operator==(T x, T y) {   \
    return x.value == y.value && x.value != nat; \
  }                                              \
  GUF_FN constexpr bool operator!=(T x, T y) {   \
    return x.value != y.value || x.value == nat; \
  }                                              \
  GUF_FN constexpr bool operator<(T x, T y) {    \
    return x.value < y.value && x.value != nat;  \
  }                                              \
  GUF_FN constexpr bool operator<=(T x, T y) {   \
    return x.value <= y.value && x.value != nat; \
  }                                              \
  GUF_FN constexpr bool operator>(T x, T y) {    \
    return y < x;                                \
  }                                              \
  GUF_FN constexpr bool operator>=(T x, T y) {   \
    return y <= x;                               \
  }
GUF_TIME_ORDER(datetime)
GUF_TIME_ORDER(timedelta)
#undef GUF_TIME_ORDER

}  // namespace guf

#endif  // GUFUNC_KERNEL_TIME_HPP
