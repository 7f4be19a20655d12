// SPDX-License-Identifier: Apache-2.0
// Floating-point arithmetic with exact results. PTX ISA, "Floating-Point Instructions" and "Half
// Precision Floating-Point Instructions".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

// Each operation computes in the rounding mode of the host. opaque() keeps the compiler from
// evaluating it in another mode.
struct Add {
  template <class T>
  static T of(T a, T b) {
    return opaque(a) + opaque(b);
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    return opaque(a) - opaque(b);
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    return opaque(a) * opaque(b);
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    return opaque(a) / opaque(b);
  }
};
struct Fma {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(opaque(a), opaque(b), opaque(c));
  }
};
struct Sqrt {
  template <class T>
  static T of(T a) {
    return std::sqrt(opaque(a));
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T(1) / opaque(a);
  }
};

// The mode of an operation.
struct Mode {
  Rounding rounding = Rounding::kNearest;
  bool flushes = false, saturates = false;

  static Mode of(uint8_t mode) {
    return {static_cast<Rounding>(mode & 3), (mode & 4) != 0, (mode & 8) != 0};
  }
  uint8_t value() const {
    return static_cast<uint8_t>(static_cast<int>(rounding) | flushes << 2 | saturates << 3);
  }
};

template <class T>
T flushed_if(bool flushes, T value) {
  return flushes ? maybe_flushed<true>(value) : value;
}

template <class Operation, class T, size_t... I>
void calculate_with(Warp &warp, const Instruction &instruction, uint32_t lanes,
                    std::index_sequence<I...>) {
  const Input<T> inputs[] = {Input<T>(warp, instruction.input(I))...};
  uint64_t *const out = warp.registers(instruction.output(0));
  const Mode mode = Mode::of(instruction.mode);
  const HostRounding host(mode.rounding);
  for_lanes(lanes, [&](uint32_t lane) {
    const T result = flushed_if(
        mode.flushes, opaque(Operation::of(flushed_if(mode.flushes, inputs[I][lane])...)));
    out[lane] = to_bits(canonical(mode.saturates ? maybe_saturated<true>(result) : result));
  });
}

template <class Operation, class T, size_t kInputs>
void calculate(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  calculate_with<Operation, T>(warp, instruction, lanes, std::make_index_sequence<kInputs>());
}

template <class T>
void add_mode(Forms *forms, Handler handler, const std::string &opcode, int ninputs, Mode mode) {
  const std::string type = type_name<T>();
  Form form{handler, slots_of(outputs_and_inputs(type, type, ninputs))};
  form.mode = mode.value();
  forms->add(opcode + (mode.flushes ? ".ftz" : "") + (mode.saturates ? ".sat" : "") + "." + type,
             form);
}

// Adds the variants of an operation in one rounding mode.
template <class Operation, class T, size_t kInputs>
void add_variants(Forms *forms, const std::string &opcode, Rounding rounding, bool saturates) {
  const Handler handler = &calculate<Operation, T, kInputs>;
  add_mode<T>(forms, handler, opcode, kInputs, {rounding, false, false});
  if (!std::is_same_v<T, float>) return;
  add_mode<T>(forms, handler, opcode, kInputs, {rounding, true, false});
  if (!saturates) return;
  add_mode<T>(forms, handler, opcode, kInputs, {rounding, false, true});
  add_mode<T>(forms, handler, opcode, kInputs, {rounding, true, true});
}

template <class Operation, class T, size_t kInputs>
void add_rounded(Forms *forms, const std::string &opcode, bool saturates) {
  add_variants<Operation, T, kInputs>(forms, opcode + ".rn", Rounding::kNearest, saturates);
  add_variants<Operation, T, kInputs>(forms, opcode + ".rz", Rounding::kZero, saturates);
  add_variants<Operation, T, kInputs>(forms, opcode + ".rm", Rounding::kDown, saturates);
  add_variants<Operation, T, kInputs>(forms, opcode + ".rp", Rounding::kUp, saturates);
}

// Without a rounding mode in their names, `add`, `sub` and `mul` round to nearest.
template <class T>
void add_arithmetic(Forms *forms) {
  add_rounded<Add, T, 2>(forms, "add", true);
  add_rounded<Sub, T, 2>(forms, "sub", true);
  add_rounded<Mul, T, 2>(forms, "mul", true);
  add_rounded<Fma, T, 3>(forms, "fma", true);
  add_rounded<Fma, T, 3>(forms, "mad", true);
  add_rounded<Div, T, 2>(forms, "div", false);
  add_rounded<Sqrt, T, 1>(forms, "sqrt", false);
  add_rounded<Reciprocal, T, 1>(forms, "rcp", false);
  add_variants<Add, T, 2>(forms, "add", Rounding::kNearest, true);
  add_variants<Sub, T, 2>(forms, "sub", Rounding::kNearest, true);
  add_variants<Mul, T, 2>(forms, "mul", Rounding::kNearest, true);
}

// -0 is less than +0. If one operand is NaN, the result is the other one.
template <class T>
T minimum_of(T a, T b) {
  if (std::isnan(a)) return canonical(b);
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum_of(T a, T b) {
  if (std::isnan(a)) return canonical(b);
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T, bool kFlush, bool kPropagateNan>
T minimum(T a, T b) {
  if (kPropagateNan && (std::isnan(a) || std::isnan(b))) return canonical(a + b);
  return minimum_of(maybe_flushed<kFlush>(a), maybe_flushed<kFlush>(b));
}
template <class T, bool kFlush, bool kPropagateNan>
T maximum(T a, T b) {
  if (kPropagateNan && (std::isnan(a) || std::isnan(b))) return canonical(a + b);
  return maximum_of(maybe_flushed<kFlush>(a), maybe_flushed<kFlush>(b));
}

template <class T, bool kFlush>
T absolute(T a) {
  return std::fabs(maybe_flushed<kFlush>(a));
}
template <class T, bool kFlush>
T negated(T a) {
  return -maybe_flushed<kFlush>(a);
}
// The result has the sign of a and the magnitude of b.
template <class T>
T with_sign(T a, T b) {
  return std::copysign(b, a);
}

template <class T>
bool is_finite(T a) {
  return std::isfinite(a);
}
template <class T>
bool is_infinite(T a) {
  return std::isinf(a);
}
template <class T>
bool is_number(T a) {
  return !std::isnan(a);
}
template <class T>
bool is_nan(T a) {
  return std::isnan(a);
}
template <class T>
bool is_normal(T a) {
  return std::fpclassify(a) == FP_NORMAL || a == T(0);
}
template <class T>
bool is_subnormal(T a) {
  return std::fpclassify(a) == FP_SUBNORMAL;
}

template <class T, bool kFlush>
void add_simple(Forms *forms, const std::string &modifier) {
  add_uniform<&minimum<T, kFlush, false>, T>(forms, "min" + modifier, 2);
  add_uniform<&maximum<T, kFlush, false>, T>(forms, "max" + modifier, 2);
  add_uniform<&minimum<T, kFlush, true>, T>(forms, "min" + modifier + ".NaN", 2);
  add_uniform<&maximum<T, kFlush, true>, T>(forms, "max" + modifier + ".NaN", 2);
  add_uniform<&absolute<T, kFlush>, T>(forms, "abs" + modifier, 1);
  add_uniform<&negated<T, kFlush>, T>(forms, "neg" + modifier, 1);
}

template <class T>
void add_tests(Forms *forms) {
  const std::string type = type_name<T>();
  const std::vector<Slot> slots = slots_of("=pred " + type);
  add_uniform<&with_sign<T>, T>(forms, "copysign", 2);
  forms->add("testp.finite." + type, {&apply<&is_finite<T>>, slots});
  forms->add("testp.infinite." + type, {&apply<&is_infinite<T>>, slots});
  forms->add("testp.number." + type, {&apply<&is_number<T>>, slots});
  forms->add("testp.notanumber." + type, {&apply<&is_nan<T>>, slots});
  forms->add("testp.normal." + type, {&apply<&is_normal<T>>, slots});
  forms->add("testp.subnormal." + type, {&apply<&is_subnormal<T>>, slots});
}

// Sums and products of two halves are exact in double precision.
template <class Operation, class... Same>
Half half_result(Half a, Same... rest) {
  return narrow_half(Operation::of(widen(a), widen(rest)...), Rounding::kNearest);
}

// The exact value of a * b + c can have more bits than a double. Its double is rounded to odd, and
// rounding that to half precision gives the same result as rounding the exact value.
Half half_fma(Half a, Half b, Half c) {
  const double product = widen(a) * widen(b), addend = widen(c), sum = product + addend;
  if (!std::isfinite(sum)) return narrow_half(sum, Rounding::kNearest);
  const double back = sum - product;
  const double rest = (product - (sum - back)) + (addend - back);
  if (rest == 0 || (std::bit_cast<uint64_t>(sum) & 1) != 0) {
    return narrow_half(sum, Rounding::kNearest);
  }
  const double towards =
      rest > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  return narrow_half(std::nextafter(sum, towards), Rounding::kNearest);
}

Half half_negated(Half a) {
  return {static_cast<uint16_t>(a.bits ^ 0x8000)};
}
Half half_absolute(Half a) {
  return {static_cast<uint16_t>(a.bits & 0x7FFF)};
}
Half half_minimum(Half a, Half b) {
  return narrow_half(minimum_of(widen(a), widen(b)), Rounding::kNearest);
}
Half half_maximum(Half a, Half b) {
  return narrow_half(maximum_of(widen(a), widen(b)), Rounding::kNearest);
}

// Applies an operation to both halves.
template <auto kFunction, class... Same>
HalfPair both(HalfPair a, Same... rest) {
  return {kFunction(a.low, rest.low...), kFunction(a.high, rest.high...)};
}

template <auto kFunction, class... Same>
void add_half(Forms *forms, const std::string &opcode) {
  constexpr Half (*kOne)(Half, Same...) = kFunction;
  add_uniform<kOne, Half>(forms, opcode, 1 + sizeof...(Same));
  constexpr HalfPair (*kTwo)(HalfPair, std::conditional_t<true, HalfPair, Same>...) =
      &both<kOne, std::conditional_t<true, HalfPair, Same>...>;
  add_uniform<kTwo, HalfPair>(forms, opcode, 1 + sizeof...(Same));
}

}  // namespace

void add_float_forms(Forms *forms) {
  add_arithmetic<float>(forms);
  add_arithmetic<double>(forms);
  add_simple<float, false>(forms, "");
  add_simple<float, true>(forms, ".ftz");
  add_simple<double, false>(forms, "");
  add_tests<float>(forms);
  add_tests<double>(forms);
  for (const char *rounding : {"", ".rn"}) {
    add_half<&half_result<Add, Half>, Half>(forms, std::string("add") + rounding);
    add_half<&half_result<Sub, Half>, Half>(forms, std::string("sub") + rounding);
    add_half<&half_result<Mul, Half>, Half>(forms, std::string("mul") + rounding);
  }
  add_half<&half_fma, Half, Half>(forms, "fma.rn");
  add_half<&half_negated>(forms, "neg");
  add_half<&half_absolute>(forms, "abs");
  add_half<&half_minimum, Half>(forms, "min");
  add_half<&half_maximum, Half>(forms, "max");
}

}  // namespace ptx
