// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_float.h"

#include <cfenv>

namespace ptx {
namespace {

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return FE_TOWARDZERO;
    case Rounding::kDown:
      return FE_DOWNWARD;
    case Rounding::kUp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

// Returns whether a magnitude that lies between two numbers becomes the larger one.
bool rounds_up(Rounding rounding, bool negative, bool odd, int remainder_to_half) {
  switch (rounding) {
    case Rounding::kNearest:
      return remainder_to_half > 0 || (remainder_to_half == 0 && odd);
    case Rounding::kDown:
      return negative;
    case Rounding::kUp:
      return !negative;
    default:
      return false;
  }
}

}  // namespace

HostRounding::HostRounding(Rounding rounding) : changed_(rounding != Rounding::kNearest) {
  if (changed_) std::fesetround(host_mode(rounding));
}

HostRounding::~HostRounding() {
  if (changed_) std::fesetround(FE_TONEAREST);
}

double widen(Half value) {
  const int exponent = value.bits >> 10 & 31, fraction = value.bits & 1023;
  const double sign = (value.bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    if (fraction == 0) return sign * std::numeric_limits<double>::infinity();
    const uint64_t payload = uint64_t{static_cast<unsigned>(fraction | 512)} << 42;
    return std::bit_cast<double>((sign < 0 ? uint64_t{1} << 63 : 0) | uint64_t{0x7FF} << 52 |
                                 payload);
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

Half narrow_half(double value, Rounding rounding) {
  if (std::isnan(value)) return {0x7FFF};
  const bool negative = std::signbit(value);
  const auto sign = static_cast<uint16_t>(negative ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  constexpr uint16_t kInfinity = 0x7C00;
  if (std::isinf(value)) return {static_cast<uint16_t>(sign | kInfinity)};
  // The unit of the last place, at least that of subnormal numbers.
  const int exponent = magnitude == 0 ? -14 : std::max(std::ilogb(magnitude), -14);
  const double scaled = std::ldexp(magnitude, 10 - exponent);  // less than 2^11
  if (exponent > 15) {
    // Out of range: infinity, or the largest number if the mode rounds the magnitude down.
    const bool up = rounding == Rounding::kNearest || rounds_up(rounding, negative, false, 1);
    return {static_cast<uint16_t>(sign | (up ? kInfinity : kInfinity - 1))};
  }
  const double whole = std::floor(scaled), rest = scaled - whole;
  auto units = static_cast<unsigned>(whole);
  if (rest != 0) {
    const int side = rest > 0.5 ? 1 : rest < 0.5 ? -1 : 0;
    units += rounds_up(rounding, negative, (units & 1) != 0, side) ? 1 : 0;
  }
  // A carry into the exponent gives the next power of two, and infinity after the largest number.
  const unsigned bits = units + (static_cast<unsigned>(exponent + 14) << 10);
  return {static_cast<uint16_t>(sign | bits)};
}

}  // namespace ptx
