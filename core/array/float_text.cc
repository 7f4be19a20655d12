// SPDX-License-Identifier: Apache-2.0
// Decimal text of floating-point numbers by std::to_chars, which is exact in every locale.
#include "core/array/float_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gufunc::array {
namespace {

// The longest text consists of "-", 309 digits, "." and 40 digits.
constexpr size_t kCapacity = 400;

Decimal parse_scientific(const char *first, const char *last) {
  Decimal decimal = {};
  if (*first == '-') {
    decimal.negative = true;
    ++first;
  }
  const char *const mark = std::find(first, last, 'e');
  for (const char *c = first; c != mark; ++c) {
    if (*c != '.') decimal.digits[decimal.count++] = *c;
  }
  while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') --decimal.count;
  const char *const power = mark[1] == '+' ? mark + 2 : mark + 1;
  std::from_chars(power, last, decimal.exponent);
  return decimal;
}

// The text of a value with `digits` digits after the point, and the double nearest to the text.
struct Candidate {
  Candidate(double value, int digits) {
    end = std::to_chars(text, text + kCapacity, value, std::chars_format::scientific, digits).ptr;
    std::from_chars(text, end, back);
  }
  char text[kCapacity];
  char *end;
  double back = 0;
};

// Finds the shortest text for the 16-bit formats by adding one digit at a time. Each step also
// tries the next decimal away from zero. If the value is a power of two, the interval of numbers
// that round to the value extends further away from zero than towards zero. The next decimal may
// then be inside the interval although the nearest decimal is not.
Decimal search_shortest(double value, FloatFormat format) {
  for (int digits = 0;; ++digits) {
    const Candidate nearest(value, digits);
    const Decimal decimal = parse_scientific(nearest.text, nearest.end);
    if (round_to(nearest.back, format) == value || digits == 16) return decimal;
    const double unit = std::pow(10.0, decimal.exponent - digits);
    const Candidate above(nearest.back + std::copysign(unit, value), digits);
    if (round_to(above.back, format) == value) return parse_scientific(above.text, above.end);
  }
}

std::string with_trimmed_zeros(std::string text) {
  const size_t mark = std::min(text.find('e'), text.size());
  size_t keep = mark;
  while (keep > 0 && text[keep - 1] == '0') --keep;
  return text.erase(keep, mark - keep);
}

std::string exponent_text(int exponent) {
  std::string digits = std::to_string(std::abs(exponent));
  if (digits.size() < 2) digits.insert(0, "0");
  return (exponent < 0 ? "e-" : "e+") + digits;
}

std::string positional_digits(const Decimal &decimal) {
  std::string text = decimal.negative ? "-" : "";
  if (decimal.exponent < 0) {
    text += "0.";
    text.append(static_cast<size_t>(-decimal.exponent - 1), '0');
    text.append(decimal.digits, static_cast<size_t>(decimal.count));
    return text;
  }
  for (int i = 0; i <= decimal.exponent; ++i) {
    text += i < decimal.count ? decimal.digits[i] : '0';
  }
  text += '.';
  for (int i = decimal.exponent + 1; i < decimal.count; ++i) text += decimal.digits[i];
  return text;
}

std::string scientific_digits(const Decimal &decimal) {
  std::string text = decimal.negative ? "-" : "";
  text += decimal.digits[0];
  text += '.';
  text.append(decimal.digits + 1, static_cast<size_t>(decimal.count - 1));
  return text + exponent_text(decimal.exponent);
}

}  // namespace

double round_to(double value, FloatFormat format) {
  if (format.precision == 53 || value == 0 || !std::isfinite(value)) return value;
  if (format.precision == 24) return static_cast<double>(static_cast<float>(value));
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - format.precision, format.lowest);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::fabs(rounded) >= format.limit ? std::copysign(HUGE_VAL, value) : rounded;
}

double exponent_cutoff(FloatFormat format) {
  return std::fmin(1e8, format.scalar_cutoff);
}

Decimal shortest(double value, FloatFormat format) {
  char text[kCapacity];
  std::to_chars_result end = {};
  switch (format.precision) {
    case 53:
      end = std::to_chars(text, text + kCapacity, value, std::chars_format::scientific);
      break;
    case 24:
      end = std::to_chars(text, text + kCapacity, static_cast<float>(value),
                          std::chars_format::scientific);
      break;
    default:
      return search_shortest(value, format);
  }
  return parse_scientific(text, end.ptr);
}

std::string positional_text(double value, FloatFormat format, int precision) {
  const Decimal decimal = shortest(value, format);
  if (decimal.count - 1 - decimal.exponent <= precision) return positional_digits(decimal);
  char text[kCapacity];
  const auto end =
      std::to_chars(text, text + kCapacity, value, std::chars_format::fixed, precision);
  return with_trimmed_zeros(std::string(text, end.ptr));
}

std::string scientific_text(double value, FloatFormat format, int precision) {
  const Decimal decimal = shortest(value, format);
  if (decimal.count - 1 <= precision) return scientific_digits(decimal);
  return with_trimmed_zeros(exact_scientific_text(value, precision));
}

std::string exact_scientific_text(double value, int precision) {
  char text[kCapacity];
  const auto end =
      std::to_chars(text, text + kCapacity, value, std::chars_format::scientific, precision);
  std::string result(text, end.ptr);
  if (precision == 0) result.insert(result.find('e'), ".");
  return result;
}

std::string scalar_text(double value, FloatFormat format, bool bare) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < format.scalar_cutoff);
  const Decimal decimal = shortest(value, format);
  std::string text = plain ? positional_digits(decimal) : scientific_digits(decimal);
  const size_t point = text.find('.');
  const bool ends_at_point = point + 1 == text.size() || text[point + 1] == 'e';
  if (ends_at_point && plain && !bare) return text + "0";
  if (ends_at_point) text.erase(point, 1);
  return text;
}

}  // namespace gufunc::array
