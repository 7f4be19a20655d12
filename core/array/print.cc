// SPDX-License-Identifier: Apache-2.0
// Writes arrays as text. One notation and one width are chosen for all numbers of an array. Then
// the lines, brackets and dots are written.
#include "core/array/print.h"

#include <gufunc/kernel/time.hpp>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
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

constexpr int kPrecision = 8;

template <class T>
T read(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1F) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 0x400, exponent - 25);
}

// Reads a real element, or the real or imaginary part of a complex element.
double read_real(guf_dtype dtype, const std::byte *from) {
  switch (dtype) {
    case GUF_F16:
      return half_value(read<uint16_t>(from));
    case GUF_BF16:
      return static_cast<double>(
          std::bit_cast<float>(static_cast<uint32_t>(read<uint16_t>(from)) << 16));
    case GUF_F32:
    case GUF_C64:
      return static_cast<double>(read<float>(from));
    default:
      return read<double>(from);
  }
}

FloatFormat format_of(guf_dtype dtype) {
  switch (dtype) {
    case GUF_F16:
      return {.precision = 11, .lowest = -24, .limit = 0x1p16, .scalar_cutoff = 1e3};
    case GUF_BF16:
      return {.precision = 8, .lowest = -133, .limit = 0x1p128, .scalar_cutoff = 1e2};
    case GUF_F32:
    case GUF_C64:
      return {.precision = 24, .lowest = -149, .limit = 0x1p128, .scalar_cutoff = 1e6};
    default:
      return {};
  }
}

std::string integer_text(guf_dtype dtype, const std::byte *from) {
  switch (dtype) {
    case GUF_I8:
      return std::to_string(read<int8_t>(from));
    case GUF_U8:
      return std::to_string(read<uint8_t>(from));
    case GUF_I16:
      return std::to_string(read<int16_t>(from));
    case GUF_U16:
      return std::to_string(read<uint16_t>(from));
    case GUF_I32:
      return std::to_string(read<int32_t>(from));
    case GUF_U32:
      return std::to_string(read<uint32_t>(from));
    case GUF_I64:
      return std::to_string(read<int64_t>(from));
    default:
      return std::to_string(read<uint64_t>(from));
  }
}

std::string padded(const std::string &text, size_t left) {
  return text.size() < left ? std::string(left - text.size(), ' ') + text : text;
}

constexpr uint64_t kThreshold = 1000;
constexpr int64_t kEdge = 3;
constexpr size_t kLineWidth = 75;

// Prints the elements recursively. `position_` counts the printed elements in C order.
class Printer {
 public:
  Printer(const Layout &layout, const Summary &summary, const ElementFormat &texts)
      : layout_(layout), summary_(summary), texts_(texts) {}

  // Lines after the first start with `indent` spaces. `width` is the number of
  // available columns, including the brackets.
  void print(int32_t axis, size_t indent, size_t width, std::string *out) {
    *out += '[';
    if (axis + 1 == layout_.ndim) {
      print_row(indent, width - 1, out);
    } else {
      for (int64_t i = 0; i < summary_.shape[axis]; ++i) {
        if (i > 0) start_row(axis, indent, out);
        if (is_gap(axis, i)) {
          *out += "...";
          start_row(axis, indent, out);
        }
        print(axis + 1, indent + 1, width - 1, out);
      }
    }
    *out += ']';
  }

 private:
  // Returns whether "..." precedes printed position i, which is true for position 3 of a shortened
  // axis.
  bool is_gap(int32_t axis, int64_t i) const {
    return i == kEdge && summary_.shape[axis] != layout_.shape[axis];
  }

  void start_row(int32_t axis, size_t indent, std::string *out) const {
    out->append(static_cast<size_t>(layout_.ndim - axis - 1), '\n');
    out->append(indent, ' ');
  }

  void print_row(size_t indent, size_t width, std::string *out) {
    const int32_t axis = layout_.ndim - 1;
    size_t line = indent;  // number of columns used
    for (int64_t i = 0; i < summary_.shape[axis]; ++i) {
      if (i > 0) put(" ", &line, out);
      if (is_gap(axis, i)) {
        put_element("...", indent, width, &line, out);
        put(" ", &line, out);
      }
      put_element(texts_.text_of(position_++), indent, width, &line, out);
    }
  }

  static void put(const std::string &text, size_t *line, std::string *out) {
    *out += text;
    *line += text.size();
  }

  // Appends the text of an element. A text that does not fit starts the next line, unless the line
  // is still empty.
  static void put_element(const std::string &element, size_t indent, size_t width, size_t *line,
                          std::string *out) {
    if (*line + element.size() > width && *line > indent) {
      out->erase(out->find_last_not_of(' ') + 1);
      *out += '\n';
      out->append(indent, ' ');
      *line = indent;
    }
    put(element, line, out);
  }

  const Layout &layout_;
  const Summary &summary_;
  const ElementFormat &texts_;
  uint64_t position_ = 0;
};

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

FloatColumn::FloatColumn(std::vector<double> values, FloatFormat format, bool plus)
    : values_(std::move(values)), format_(format), plus_(plus) {
  double largest = 0;
  double smallest = HUGE_VAL;
  bool any_finite = false;
  for (const double value : values_) {
    if (!std::isfinite(value)) continue;
    any_finite = true;
    if (value == 0) continue;
    largest = std::max(largest, std::fabs(value));
    smallest = std::min(smallest, std::fabs(value));
  }
  // As in NumPy, both sides of the comparisons are rounded to the element type.
  scientific_ =
      largest > 0 && (largest >= exponent_cutoff(format) || smallest < round_to(0.0001, format) ||
                      round_to(largest / smallest, format) > 1000.0);
  if (any_finite) scientific_ ? measure_scientific() : measure_positional();
  widen_for_names();
}

void FloatColumn::measure_scientific() {
  size_t fraction = 0;
  for (const double value : values_) {
    if (!std::isfinite(value)) continue;
    const std::string text = signed_text(value, scientific_text(value, format_, kPrecision));
    const size_t point = text.find('.');
    const size_t mark = text.find('e');
    left_ = std::max(left_, point);
    fraction = std::max(fraction, mark - point - 1);
    exponent_digits_ = std::max(exponent_digits_, text.size() - mark - 2);
  }
  precision_ = static_cast<int>(fraction);
  right_ = exponent_digits_ + 2 + fraction;
}

void FloatColumn::measure_positional() {
  for (const double value : values_) {
    if (!std::isfinite(value)) continue;
    const std::string text = signed_text(value, positional_text(value, format_, kPrecision));
    const size_t point = text.find('.');
    left_ = std::max(left_, point);
    right_ = std::max(right_, text.size() - point - 1);
  }
}

// "nan" and "inf" may use the whole width of a number, including the column of the decimal point.
void FloatColumn::widen_for_names() {
  const bool signed_infinity =
      plus_ || std::find(values_.begin(), values_.end(), -HUGE_VAL) != values_.end();
  for (const double value : values_) {
    if (std::isfinite(value)) continue;
    const size_t width = signed_infinity ? 4 : 3;
    left_ = std::max(left_, width - std::min(width, right_ + 1));
  }
}

std::string FloatColumn::signed_text(double value, const std::string &text) const {
  return plus_ && !std::signbit(value) ? "+" + text : text;
}

std::string FloatColumn::text_of(size_t i) const {
  const double value = values_[i];
  if (!std::isfinite(value)) {
    std::string name = std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    if (plus_ && name[0] != '-') name.insert(0, "+");
    return padded(name, left_ + right_ + 1);
  }
  std::string text;
  if (scientific_) {
    text = signed_text(value, exact_scientific_text(value, precision_));
    const size_t digits = text.find('e') + 2;
    if (text.size() - digits < exponent_digits_) {
      text.insert(digits, exponent_digits_ - (text.size() - digits), '0');
    }
  } else {
    text = signed_text(value, positional_text(value, format_, kPrecision));
    text.append(right_ - (text.size() - text.find('.') - 1), ' ');
  }
  const size_t point = text.find('.');
  return point < left_ ? std::string(left_ - point, ' ') + text : text;
}

ElementFormat::ElementFormat(guf_dtype dtype, const std::byte *values, size_t count)
    : dtype_(dtype) {
  const size_t itemsize = dtype::itemsize(dtype);
  const bool complex = dtype::is_complex(dtype);
  if (complex || dtype::is_real_float(dtype)) {
    std::vector<double> real(count);
    std::vector<double> imaginary(complex ? count : 0);
    for (size_t i = 0; i < count; ++i) {
      const std::byte *const element = values + i * itemsize;
      real[i] = read_real(dtype, element);
      if (complex) imaginary[i] = read_real(dtype, element + itemsize / 2);
    }
    real_ = FloatColumn(std::move(real), format_of(dtype), false);
    imaginary_ = FloatColumn(std::move(imaginary), format_of(dtype), true);
    return;
  }
  integers_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const std::byte *const element = values + i * itemsize;
    if (dtype::is_time(dtype)) {
      integers_.push_back(format_datetime(dtype, read<int64_t>(element)));
    } else if (dtype == GUF_BOOL) {
      integers_.emplace_back(*element != std::byte{0} ? "True" : "False");
    } else {
      integers_.push_back(integer_text(dtype, element));
    }
    width_ = std::max(width_, integers_.back().size());
  }
  if (dtype == GUF_BOOL) width_ = 5;
}

std::string ElementFormat::text_of(size_t i) const {
  if (!dtype::is_complex(dtype_)) {
    return dtype::is_real_float(dtype_) ? real_.text_of(i) : padded(integers_[i], width_);
  }
  // The "j" directly follows the digits. The spaces that align the decimal points come after the
  // "j".
  std::string imaginary = imaginary_.text_of(i);
  imaginary.insert(imaginary.find_last_not_of(' ') + 1, "j");
  return real_.text_of(i) + imaginary;
}

std::string format_scalar(guf_dtype dtype, const std::byte *value) {
  if (dtype == GUF_BOOL) return *value != std::byte{0} ? "True" : "False";
  if (dtype::is_time(dtype)) return format_datetime_scalar(dtype, read<int64_t>(value));
  if (dtype::is_real_float(dtype))
    return scalar_text(read_real(dtype, value), format_of(dtype), false);
  if (!dtype::is_complex(dtype)) return integer_text(dtype, value);
  const double real = read_real(dtype, value);
  const double imaginary = read_real(dtype, value + dtype::itemsize(dtype) / 2);
  std::string text = scalar_text(imaginary, format_of(dtype), true) + "j";
  if (real == 0 && !std::signbit(real)) return text;
  if (text[0] != '-') text.insert(0, "+");
  return "(" + scalar_text(real, format_of(dtype), true) + text + ")";
}

Summary summarize(const Layout &layout) {
  Summary summary = {};
  uint64_t size = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    size *= static_cast<uint64_t>(layout.shape[axis]);
  }
  summary.shortened = size > kThreshold;
  summary.count = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    summary.shape[axis] = summary.shortened ? std::min(extent, 2 * kEdge) : extent;
    summary.count *= static_cast<uint64_t>(summary.shape[axis]);
  }
  return summary;
}

void gather_summary(const Layout &layout, bool swapped, const Summary &summary, std::byte *out) {
  const size_t itemsize = dtype::itemsize(layout.dtype);
  // The real and the imaginary part of a complex element are swapped separately.
  const size_t part = dtype::alignment(layout.dtype);
  int64_t index[GUF_MAX_NDIM] = {};
  for (uint64_t n = 0; n < summary.count; ++n, out += itemsize) {
    uint64_t address = layout.address;
    for (int32_t axis = 0; axis < layout.ndim; ++axis) {
      const int64_t at = summary.source(axis, index[axis], layout.shape[axis]);
      address += static_cast<uint64_t>(at) * static_cast<uint64_t>(layout.strides[axis]);
    }
    std::memcpy(out, reinterpret_cast<const void *>(address), itemsize);
    for (size_t i = 0; swapped && i < itemsize; i += part) std::reverse(out + i, out + i + part);
    for (int32_t axis = layout.ndim; axis-- > 0;) {
      if (++index[axis] < summary.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::string format_values(const Layout &layout, const Summary &summary, const std::byte *values) {
  if (summary.count == 0) return "[]";
  if (layout.ndim == 0) return format_scalar(layout.dtype, values);
  const ElementFormat texts(layout.dtype, values, summary.count);
  std::string text;
  Printer(layout, summary, texts).print(0, 1, kLineWidth, &text);
  return text;
}

}  // namespace gufunc::array
