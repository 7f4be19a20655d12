// SPDX-License-Identifier: Apache-2.0
// Parses literals with the locale-independent functions of the C++ library. A literal that names a
// dtype, such as f4:2, is converted by the casts of libgufunc.
#include "literal.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "date_literal.h"
#include "outcome.h"
#include "owned_handle.h"

namespace gufunc::cli {
namespace {

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
  constexpr uint64_t kTop = 1ULL << 63;
  if (magnitude < kTop || (negative && magnitude == kTop)) {
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
