// SPDX-License-Identifier: Apache-2.0
// Handlers for instructions that are functions of their inputs.
#ifndef GUFUNC_TESTS_PTX_PTX_APPLY_H
#define GUFUNC_TESTS_PTX_PTX_APPLY_H

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/ptx/ptx_float.h"
#include "tests/ptx/ptx_forms.h"
#include "tests/ptx/ptx_warp.h"

namespace ptx {

// The handler of instructions without effect.
inline void do_nothing(Warp &, const Instruction &, uint32_t) {}

// Converts between a value and the 64 bits of a register. Signed integers are extended, because a
// register may be larger than the type of the instruction.
template <class T>
inline T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

template <class T>
inline uint64_t to_bits(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
}

// An input as an array of values, or as a mask if it is a predicate.
template <class T>
struct Input {
  Input(const Warp &warp, const Operand &operand) : values(warp.values(operand)) {}
  T operator[](uint32_t lane) const { return from_bits<T>(values[lane]); }
  const uint64_t *values;
};

template <>
struct Input<bool> {
  Input(const Warp &warp, const Operand &operand) : mask(warp.predicate(operand)) {}
  bool operator[](uint32_t lane) const { return (mask >> lane & 1) != 0; }
  uint32_t mask;
};

template <auto kFunction, class R, class... A, size_t... I>
inline void apply_function(Warp &warp, const Instruction &instruction, uint32_t lanes, R (*)(A...),
                           std::index_sequence<I...>) {
  const std::tuple<Input<A>...> inputs(Input<A>(warp, instruction.input(I))...);
  if constexpr (std::is_same_v<R, bool>) {
    uint32_t result = 0;
    for_lanes(lanes, [&](uint32_t lane) {
      result |= static_cast<uint32_t>(kFunction(std::get<I>(inputs)[lane]...)) << lane;
    });
    warp.set_predicate(instruction.output(0), lanes, result);
  } else {
    uint64_t *const out = warp.registers(instruction.output(0));
    const uint64_t mask = instruction.output_mask;
    for_lanes(lanes, [&](uint32_t lane) {
      out[lane] = to_bits<R>(kFunction(std::get<I>(inputs)[lane]...)) & mask;
    });
  }
}

template <class R, class... A>
constexpr auto positions_of(R (*)(A...)) {
  return std::index_sequence_for<A...>();
}

// Applies a function to the inputs of each lane. Parameters and results of type bool are
// predicates.
template <auto kFunction>
void apply(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  apply_function<kFunction>(warp, instruction, lanes, kFunction, positions_of(kFunction));
}

// The name of the type of a C++ type in PTX.
template <class T>
constexpr const char *type_name() {
  if constexpr (std::is_same_v<T, int8_t>) return "s8";
  if constexpr (std::is_same_v<T, int16_t>) return "s16";
  if constexpr (std::is_same_v<T, int32_t>) return "s32";
  if constexpr (std::is_same_v<T, int64_t>) return "s64";
  if constexpr (std::is_same_v<T, uint8_t>) return "u8";
  if constexpr (std::is_same_v<T, uint16_t>) return "u16";
  if constexpr (std::is_same_v<T, uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, uint64_t>) return "u64";
  if constexpr (std::is_same_v<T, Half>) return "f16";
  if constexpr (std::is_same_v<T, HalfPair>) return "f16x2";
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, bool>) return "pred";
}

// The name of the untyped bits of an unsigned type.
template <class T>
std::string bits_name() {
  return "b" + std::to_string(8 * sizeof(T));
}

// Returns the description of an output followed by inputs of one type, for slots_of.
inline std::string outputs_and_inputs(const std::string &output, const std::string &input,
                                      int ninputs) {
  std::string all = "=" + output;
  for (int i = 0; i < ninputs; ++i) all += " " + input;
  return all;
}

// Adds the instruction `opcode.type`, whose operands all have the type T.
template <auto kFunction, class T>
void add_uniform(Forms *forms, const std::string &opcode, int ninputs,
                 const std::string &type = type_name<T>()) {
  forms->add(opcode + "." + type,
             {&apply<kFunction>, slots_of(outputs_and_inputs(type, type, ninputs))});
}

// Calls f.template operator()<T>() for each type.
template <class... T, class F>
void for_types(F f) {
  (f.template operator()<T>(), ...);
}

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_APPLY_H
