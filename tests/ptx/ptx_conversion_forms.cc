// SPDX-License-Identifier: Apache-2.0
// `cvt`. PTX ISA, "Data Movement and Conversion Instructions: cvt".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

template <class T>
double wide(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return widen(value);
  } else {
    return value;
  }
}

// How a conversion from or to integers uses the members of an instruction: `bytes` and `is_signed`
// describe the source, `count` is the size of the destination in bytes, and `mode` has these parts.
struct Mode {
  bool to_signed;
  Rounding rounding;
  bool saturates;

  static Mode of(uint8_t mode) {
    return {(mode & 1) != 0, static_cast<Rounding>(mode >> 1 & 3), (mode & 8) != 0};
  }
  uint8_t value() const {
    return static_cast<uint8_t>(to_signed | static_cast<int>(rounding) << 1 | saturates << 3);
  }
};

// Returns the lower bytes, extended to 64 bits.
uint64_t extended(uint64_t value, unsigned bytes, bool is_signed) {
  const unsigned shift = 64 - 8 * bytes;
  value <<= shift;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> shift) : value >> shift;
}

struct Limits {
  uint64_t min, max;
};
Limits limits_of(unsigned bytes, bool is_signed) {
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * bytes);
  return is_signed ? Limits{~(all >> 1), all >> 1} : Limits{0, all};
}

void convert_integers(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const in = warp.values(instruction.input(0));
  uint64_t *const out = warp.registers(instruction.output(0));
  const Mode mode = Mode::of(instruction.mode);
  const Limits limits = limits_of(instruction.count, mode.to_signed);
  for_lanes(lanes, [&](uint32_t lane) {
    uint64_t value = extended(in[lane], instruction.bytes, instruction.is_signed);
    if (mode.saturates) {
      const bool negative = instruction.is_signed && static_cast<int64_t>(value) < 0;
      if (negative) {
        const auto least = static_cast<int64_t>(limits.min);
        value = static_cast<uint64_t>(std::max(static_cast<int64_t>(value), least));
      } else {
        value = std::min(value, limits.max);
      }
    }
    out[lane] = extended(value, instruction.count, mode.to_signed) & instruction.output_mask;
  });
}

// Rounds to an integral number.
double integral(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kZero:
      return std::trunc(value);
    case Rounding::kDown:
      return std::floor(value);
    case Rounding::kUp:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

// Results out of range are clamped.
uint64_t clamped_integer(double value, unsigned bytes, bool is_signed) {
  const Limits limits = limits_of(bytes, is_signed);
  const double end = std::ldexp(1.0, static_cast<int>(8 * bytes) - (is_signed ? 1 : 0));
  if (value >= end) return limits.max;
  if (value < (is_signed ? -end : 0)) return limits.min;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value))
                   : static_cast<uint64_t>(value);
}

// NaN becomes 0, or 2^(bits - 1) if one of the types is wide.
template <class S, bool kFlush>
void float_to_integer(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const Input<S> in(warp, instruction.input(0));
  uint64_t *const out = warp.registers(instruction.output(0));
  const Mode mode = Mode::of(instruction.mode);
  const unsigned bytes = instruction.count;
  const bool zero = !std::is_same_v<S, double> && bytes != 8;
  const uint64_t nan = zero ? 0 : uint64_t{1} << (8 * bytes - 1);
  for_lanes(lanes, [&](uint32_t lane) {
    const double value = wide(maybe_flushed<kFlush>(in[lane]));
    const uint64_t result =
        std::isnan(value) ? nan
                          : clamped_integer(integral(value, mode.rounding), bytes, mode.to_signed);
    out[lane] = extended(result, bytes, mode.to_signed) & instruction.output_mask;
  });
}

template <class D>
D float_of(uint64_t value, bool is_signed, Rounding rounding) {
  if constexpr (std::is_same_v<D, Half>) {
    // Larger numbers are out of range, and smaller ones are exact in double precision.
    constexpr int64_t kLimit = int64_t{1} << 40;
    const bool negative = is_signed && static_cast<int64_t>(value) < 0;
    const int64_t number = negative ? std::max(static_cast<int64_t>(value), -kLimit)
                                    : static_cast<int64_t>(std::min<uint64_t>(value, kLimit));
    return narrow_half(static_cast<double>(number), rounding);
  } else {
    const HostRounding mode(rounding);
    const uint64_t hidden = opaque(value);
    return opaque(is_signed ? static_cast<D>(static_cast<int64_t>(hidden))
                            : static_cast<D>(hidden));
  }
}

template <class D>
void integer_to_float(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const in = warp.values(instruction.input(0));
  uint64_t *const out = warp.registers(instruction.output(0));
  const Mode mode = Mode::of(instruction.mode);
  for_lanes(lanes, [&](uint32_t lane) {
    const uint64_t value = extended(in[lane], instruction.bytes, instruction.is_signed);
    out[lane] = to_bits(float_of<D>(value, instruction.is_signed, mode.rounding));
  });
}

template <class D, class S, Rounding kRounding>
D narrow(S value) {
  if constexpr (std::is_same_v<D, Half>) {
    return narrow_half(wide(value), kRounding);
  } else {
    return rounded<kRounding>([&] { return static_cast<D>(opaque(wide(value))); });
  }
}

template <bool kSaturate, class T>
T maybe_saturated_any(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return kSaturate ? narrow_half(maybe_saturated<true>(widen(value)), Rounding::kNearest) : value;
  } else {
    return maybe_saturated<kSaturate>(value);
  }
}

template <class D, class S, Rounding kRounding, bool kFlush, bool kSaturate>
D float_to_float(S value) {
  const D result = narrow<D, S, kRounding>(maybe_flushed<kFlush>(value));
  return canonical(maybe_saturated_any<kSaturate>(maybe_flushed<kFlush>(result)));
}

template <class T, Rounding kRounding, bool kFlush, bool kSaturate>
T to_integral(T value) {
  const double result = integral(wide(maybe_flushed<kFlush>(value)), kRounding);
  return canonical(maybe_saturated_any<kSaturate>(narrow<T, double, Rounding::kNearest>(result)));
}

template <auto kFunction, class D, class S>
void add_conversion(Forms *forms, const std::string &modifiers) {
  const std::string to = type_name<D>(), from = type_name<S>();
  forms->add("cvt" + modifiers + "." + to + "." + from,
             {&apply<kFunction>, slots_of("=" + to + "+ " + from + "+")});
}

template <class F>
void for_roundings(const std::string &suffix, F f) {
  f.template operator()<Rounding::kNearest>(".rn" + suffix);
  f.template operator()<Rounding::kZero>(".rz" + suffix);
  f.template operator()<Rounding::kDown>(".rm" + suffix);
  f.template operator()<Rounding::kUp>(".rp" + suffix);
}

void add_with_integers(Forms *forms, Handler handler, const std::string &modifiers,
                       const std::string &to, const std::string &from, Mode mode) {
  const Type source = type_of(from), destination = type_of(to);
  Form form{handler, slots_of("=" + to + "+ " + from + "+")};
  form.bytes = source.bits / 8;
  form.is_signed = source.kind == Kind::kSigned;
  form.count = destination.bits / 8;
  mode.to_signed = destination.kind == Kind::kSigned;
  form.mode = mode.value();
  forms->add("cvt" + modifiers + "." + to + "." + from, form);
}

constexpr const char *kIntegers[] = {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"};

// Adds the conversions between a floating-point type and all integers.
template <class T>
void add_integers(Forms *forms) {
  const std::string type = type_name<T>();
  for (const char *integer : kIntegers) {
    for_roundings("", [&]<Rounding kRounding>(const std::string &name) {
      const Mode mode = {false, kRounding, false};
      add_with_integers(forms, &integer_to_float<T>, name, type, integer, mode);
      const Handler plain = &float_to_integer<T, false>;
      add_with_integers(forms, plain, name + "i", integer, type, mode);
      add_with_integers(forms, plain, name + "i.sat", integer, type, mode);
      if constexpr (std::is_same_v<T, float>) {
        add_with_integers(forms, &float_to_integer<T, true>, name + "i.ftz", integer, type, mode);
      }
    });
  }
}

template <class D, class S, Rounding kRounding>
void add_float_variants(Forms *forms, const std::string &name) {
  add_conversion<&float_to_float<D, S, kRounding, false, false>, D, S>(forms, name);
  add_conversion<&float_to_float<D, S, kRounding, false, true>, D, S>(forms, name + ".sat");
  if constexpr (std::is_same_v<S, float> || std::is_same_v<D, float>) {
    add_conversion<&float_to_float<D, S, kRounding, true, false>, D, S>(forms, name + ".ftz");
    add_conversion<&float_to_float<D, S, kRounding, true, true>, D, S>(forms, name + ".ftz.sat");
  }
}

template <class D, class S>
void add_narrowing(Forms *forms) {
  for_roundings("", [&]<Rounding kRounding>(const std::string &name) {
    add_float_variants<D, S, kRounding>(forms, name);
  });
}

template <class T>
void add_integral(Forms *forms) {
  add_float_variants<T, T, Rounding::kNearest>(forms, "");
  for_roundings("i", [&]<Rounding kRounding>(const std::string &name) {
    add_conversion<&to_integral<T, kRounding, false, false>, T, T>(forms, name);
    add_conversion<&to_integral<T, kRounding, false, true>, T, T>(forms, name + ".sat");
    if constexpr (std::is_same_v<T, float>) {
      add_conversion<&to_integral<T, kRounding, true, false>, T, T>(forms, name + ".ftz");
    }
  });
}

}  // namespace

void add_conversion_forms(Forms *forms) {
  for (const char *to : kIntegers) {
    for (const char *from : kIntegers) {
      add_with_integers(forms, &convert_integers, "", to, from, {false, Rounding::kNearest, false});
      add_with_integers(forms, &convert_integers, ".sat", to, from,
                        {false, Rounding::kNearest, true});
    }
  }
  for_types<Half, float, double>([&]<class T>() { add_integers<T>(forms); });
  for_types<Half, float, double>([&]<class T>() { add_integral<T>(forms); });
  add_narrowing<float, double>(forms);
  add_narrowing<Half, double>(forms);
  add_narrowing<Half, float>(forms);
  add_float_variants<double, float, Rounding::kNearest>(forms, "");
  add_float_variants<double, Half, Rounding::kNearest>(forms, "");
  add_float_variants<float, Half, Rounding::kNearest>(forms, "");
}

}  // namespace ptx
