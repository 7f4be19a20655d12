// SPDX-License-Identifier: Apache-2.0
// Chooses one notation for all numbers of an array, and the width to which they are aligned.
#include "core/array/element_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/array/datetime_format.h"

namespace gufunc::array {
namespace {

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

}  // namespace

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

}  // namespace gufunc::array
