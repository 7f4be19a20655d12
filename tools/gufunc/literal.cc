// SPDX-License-Identifier: Apache-2.0
// Parses literals with the locale-independent functions of the C++ library. A literal that names a
// dtype, such as f4:2, is converted by the casts of libgufunc. Dates are ISO 8601 dates without
// time zones, in the proleptic Gregorian calendar.
#include "literal.h"

#include <fmt/format.h>
#include <gufunc/dtype.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "outcome.h"
#include "owned_handle.h"

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

// Returns the number of steps from 1970 to a date, rounded down as in NumPy. One step is `multiple`
// units (guf_time_unit). Dates are spelled "2020-02", "2020-02-29" or "2020-02-29T12:30:15.25".
// Returns nothing if the text is not a date, if the unit is generic, or if int64 cannot hold the
// number; only the last case sets *out_too_far.
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

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

guf_operand weak(int32_t kind, uint64_t first, uint64_t second = 0) {
  guf_operand operand = {};
  operand.kind = kind;
  operand.value[0] = first;
  operand.value[1] = second;
  return operand;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Parses an optional sign and digits. A magnitude above uint64 saturates and clears `*out_exact`.
std::optional<guf_operand> parse_int(std::string_view text, bool *out_exact) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative || text.starts_with('+') ? text.substr(1) : text;
  if (!all_digits(digits)) return std::nullopt;
  uint64_t magnitude = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  *out_exact = code == std::errc();
  if (!*out_exact) magnitude = std::numeric_limits<uint64_t>::max();
  constexpr uint64_t kEnd = 1ULL << 63;
  if (magnitude < kEnd || (negative && magnitude == kEnd)) {
    return weak(GUF_OPERAND_WEAK_INT, negative ? 0 - magnitude : magnitude);
  }
  return weak(GUF_OPERAND_WEAK_INT_HUGE, magnitude, (negative ? 1U : 0U) | (*out_exact ? 0U : 2U));
}

// Removes the longest prefix of `text` that is a float, including inf and nan.
std::optional<double> take_float(std::string_view &text) {
  std::string_view rest = text;
  const bool plus = rest.starts_with('+');
  if (plus) rest.remove_prefix(1);
  if (plus && rest.starts_with('-')) return std::nullopt;
  double value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code == std::errc::invalid_argument) return std::nullopt;
  if (code == std::errc::result_out_of_range) {
    const std::string_view used(rest.data(), static_cast<size_t>(end - rest.data()));
    const size_t exponent = used.find_first_of("eE");
    const bool tiny =
        exponent != std::string_view::npos && used.substr(exponent + 1).starts_with('-');
    value = std::copysign(tiny ? 0.0 : std::numeric_limits<double>::infinity(),
                          used.starts_with('-') ? -1.0 : 1.0);
  }
  text = rest.substr(static_cast<size_t>(end - rest.data()));
  return value;
}

std::optional<guf_operand> parse_float_or_complex(std::string_view text) {
  const auto first = take_float(text);
  if (!first) return std::nullopt;
  if (text.empty()) return weak(GUF_OPERAND_WEAK_FLOAT, bits_of(*first));
  if (text == "j") return weak(GUF_OPERAND_WEAK_COMPLEX, bits_of(0.0), bits_of(*first));
  if (!text.starts_with('+') && !text.starts_with('-')) return std::nullopt;
  const auto second = take_float(text);
  if (!second || text != "j") return std::nullopt;
  return weak(GUF_OPERAND_WEAK_COMPLEX, bits_of(*first), bits_of(*second));
}

// Whether a weak integer fits an integer dtype of `bits` bits.
bool fits(const guf_operand &value, bool exact, unsigned bits, bool is_signed) {
  if (value.kind == GUF_OPERAND_WEAK_INT_HUGE) {
    return exact && !is_signed && bits == 64 && value.value[1] == 0;
  }
  if (value.kind != GUF_OPERAND_WEAK_INT) return false;
  const auto number = static_cast<int64_t>(value.value[0]);
  if (bits == 64) return is_signed || number >= 0;
  const int64_t top = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return number <= top && number >= (is_signed ? -top - 1 : 0);
}

// Converts a weak scalar to a float, complex or bool dtype. The library casts, so the rounding is
// the same as in a call.
guf_operand cast_by_library(const guf_dtype_info &info, const guf_operand &value) {
  Call call;
  ArrayHandle element;
  call.check(guf_array_alloc(nullptr, info.dtype, 0, nullptr, nullptr, GUF_ORDER_C, element.out(),
                             call.error()));
  call.check(guf_array_fill(element.get(), &value, nullptr, call.error()));
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_SCALAR;
  operand.dtype = info.dtype;
  call.check(guf_array_copy_to_host(element.get(), operand.value, info.itemsize, GUF_ORDER_C,
                                    nullptr, call.error()));
  return operand;
}

guf_operand strong(guf_dtype dtype, uint64_t bits) {
  return {GUF_OPERAND_SCALAR, dtype, 0, 0, nullptr, nullptr, {bits, 0}};
}

// Parses a number of steps, NaT, or, for datetime64, a date.
guf_operand parse_time(const std::string &text, std::string_view value,
                       const guf_dtype_info &info) {
  Call call;
  if (value == "NaT") return strong(info.dtype, uint64_t{1} << 63);
  bool exact = true;
  const auto steps = parse_int(value, &exact);
  if (steps && fits(*steps, exact, 64, true)) return strong(info.dtype, steps->value[0]);
  const bool is_date = info.kind == GUF_KIND_DATETIME;
  if (is_date) {
    int32_t unit = GUF_UNIT_GENERIC;
    uint32_t multiple = 1;
    call.check(guf_dtype_get_unit(info.dtype, &unit, &multiple, call.error()));
    bool too_far = false;
    if (const auto date = steps_to_date(value, unit, multiple, &too_far))
      return strong(info.dtype, static_cast<uint64_t>(*date));
    if (too_far) {
      throw Failure(Exit::kUsage, fmt::format("literal '{}': the date is out of the range of {}",
                                              text, info.name));
    }
  }
  throw Failure(Exit::kUsage,
                fmt::format("literal '{}': not a value of {}; expected a number of "
                            "steps{} or NaT",
                            text, info.name, is_date ? ", a date such as 2020-01-31T12:30" : ""));
}

guf_operand parse_bool(const std::string &text, std::string_view value) {
  if (value == "True" || value == "1") return strong(GUF_BOOL, 1);
  if (value == "False" || value == "0") return strong(GUF_BOOL, 0);
  throw Failure(
      Exit::kUsage,
      fmt::format("literal '{}': not a value of bool; expected True, False, 1 or 0", text));
}

guf_operand parse_strong(const std::string &text, size_t colon) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  Call call;
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  if (guf_dtype_parse(text.substr(0, colon).c_str(), &dtype, call.error()) != GUF_OK) {
    throw Failure(Exit::kUsage, fmt::format("literal '{}': {}", text, call.error()->message));
  }
  call.check(guf_dtype_get_info(dtype, &info, call.error()));
  const std::string_view number = std::string_view(text).substr(colon + 1);
  bool exact = true;
  if (info.kind == GUF_KIND_DATETIME || info.kind == GUF_KIND_TIMEDELTA)
    return parse_time(text, number, info);
  if (info.kind == GUF_KIND_BOOL) return parse_bool(text, number);
  if (info.kind == GUF_KIND_INT || info.kind == GUF_KIND_UINT) {
    const auto value = parse_int(number, &exact);
    if (!value || !fits(*value, exact, 8 * info.itemsize, info.kind != GUF_KIND_UINT)) {
      throw Failure(Exit::kUsage, fmt::format("literal '{}': not a value of {}", text, info.name));
    }
    return strong(dtype, value->value[0]);
  }
  auto value = parse_int(number, &exact);
  if (!value) value = parse_float_or_complex(number);
  if (!value)
    throw Failure(Exit::kUsage, fmt::format("literal '{}': '{}' is not a number", text, number));
  if (value->kind == GUF_OPERAND_WEAK_COMPLEX && info.kind != GUF_KIND_COMPLEX)
    throw Failure(Exit::kUsage, fmt::format("literal '{}': not a value of {}", text, info.name));
  return cast_by_library(info, *value);
}

}  // namespace

std::optional<guf_operand> parse_literal(const std::string &text) {
  if (text == "True" || text == "False") return parse_bool(text, text);
  const size_t colon = text.find(':');
  if (colon != std::string::npos && colon != 0) return parse_strong(text, colon);
  const std::string_view number = text;
  bool exact = true;
  if (const auto integer = parse_int(number, &exact)) return integer;
  return parse_float_or_complex(number);
}

}  // namespace gufunc::cli
