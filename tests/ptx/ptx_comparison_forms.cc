// SPDX-License-Identifier: Apache-2.0
// Comparisons and selections. PTX ISA, "Comparison and Selection Instructions".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

template <class T>
T number(T value) {
  return value;
}
double number(Half value) {
  return widen(value);
}

// Comparisons of integers, and of floats without NaN.
struct Equal {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static bool of(T a, T b) {
    return a < b || a > b;
  }
};
struct Less {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct Ordered {
  template <class T>
  static bool of(T a, T b) {
    return a == a && b == b;
  }
};
// The unordered comparisons are true if an operand is NaN.
template <class Relation>
struct OrNan {
  template <class T>
  static bool of(T a, T b) {
    return !Ordered::of(a, b) || Relation::of(a, b);
  }
};
struct Unordered {
  template <class T>
  static bool of(T a, T b) {
    return !Ordered::of(a, b);
  }
};

// What happens with the result of a comparison. `setp` stores it, or combines it with a predicate.
// `set` stores all ones or 1.0 if the comparison is true.
enum Use : uint8_t { kStore, kAnd, kOr, kXor, kAllOnes, kOne };

void use_result(Warp &warp, const Instruction &instruction, uint32_t lanes, uint32_t result) {
  const Operand &output = instruction.output(0);
  switch (instruction.mode) {
    case kAnd:
      return warp.set_predicate(output, lanes, result & warp.predicate(instruction.input(2)));
    case kOr:
      return warp.set_predicate(output, lanes, result | warp.predicate(instruction.input(2)));
    case kXor:
      return warp.set_predicate(output, lanes, result ^ warp.predicate(instruction.input(2)));
    case kAllOnes:
    case kOne: {
      const uint64_t value = instruction.mode == kOne ? to_bits(1.0f) : 0xFFFF'FFFF;
      uint64_t *const out = warp.registers(output);
      for_lanes(lanes, [&](uint32_t lane) { out[lane] = (result >> lane & 1) != 0 ? value : 0; });
      return;
    }
    default:
      return warp.set_predicate(output, lanes, result);
  }
}

template <class Relation, class T, bool kFlush>
void compare(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const Input<T> a(warp, instruction.input(0)), b(warp, instruction.input(1));
  uint32_t result = 0;
  for_lanes(lanes, [&](uint32_t lane) {
    const bool holds = Relation::of(number(maybe_flushed<kFlush>(a[lane])),
                                    number(maybe_flushed<kFlush>(b[lane])));
    result |= static_cast<uint32_t>(holds) << lane;
  });
  use_result(warp, instruction, lanes, result);
}

template <class T>
T select(T a, T b, bool c) {
  return c ? a : b;
}
template <class T>
T select_by_sign(T a, T b, int32_t c) {
  return c >= 0 ? a : b;
}

template <class Relation, class T, bool kFlush = false>
void add_relation(Forms *forms, const std::string &relation, const std::string &type) {
  const std::string suffix = (kFlush ? ".ftz." : ".") + type, two = " " + type + " " + type;
  const auto add = [&](const std::string &name, const std::string &slots, Use use) {
    Form form{&compare<Relation, T, kFlush>, slots_of(slots)};
    form.mode = use;
    forms->add(name, form);
  };
  add("setp." + relation + suffix, "=pred" + two, kStore);
  add("setp." + relation + ".and" + suffix, "=pred" + two + " pred", kAnd);
  add("setp." + relation + ".or" + suffix, "=pred" + two + " pred", kOr);
  add("setp." + relation + ".xor" + suffix, "=pred" + two + " pred", kXor);
  const std::string set = "set." + relation + (kFlush ? ".ftz." : ".");
  add(set + "u32." + type, "=b32" + two, kAllOnes);
  add(set + "s32." + type, "=b32" + two, kAllOnes);
  add(set + "f32." + type, "=f32" + two, kOne);
}

template <class T, bool kFlush = false>
void add_ordered_relations(Forms *forms) {
  const std::string type = type_name<T>();
  add_relation<Equal, T, kFlush>(forms, "eq", type);
  add_relation<NotEqual, T, kFlush>(forms, "ne", type);
  add_relation<Less, T, kFlush>(forms, "lt", type);
  add_relation<LessEqual, T, kFlush>(forms, "le", type);
  add_relation<Greater, T, kFlush>(forms, "gt", type);
  add_relation<GreaterEqual, T, kFlush>(forms, "ge", type);
}

template <class T, bool kFlush = false>
void add_float_relations(Forms *forms) {
  const std::string type = type_name<T>();
  add_ordered_relations<T, kFlush>(forms);
  add_relation<OrNan<Equal>, T, kFlush>(forms, "equ", type);
  add_relation<OrNan<NotEqual>, T, kFlush>(forms, "neu", type);
  add_relation<OrNan<Less>, T, kFlush>(forms, "ltu", type);
  add_relation<OrNan<LessEqual>, T, kFlush>(forms, "leu", type);
  add_relation<OrNan<Greater>, T, kFlush>(forms, "gtu", type);
  add_relation<OrNan<GreaterEqual>, T, kFlush>(forms, "geu", type);
  add_relation<Ordered, T, kFlush>(forms, "num", type);
  add_relation<Unordered, T, kFlush>(forms, "nan", type);
}

template <class T>
void add_bit_relations(Forms *forms) {
  add_relation<Equal, T>(forms, "eq", bits_name<T>());
  add_relation<NotEqual, T>(forms, "ne", bits_name<T>());
  const std::string type = type_name<T>();
  add_relation<Less, T>(forms, "lo", type);
  add_relation<LessEqual, T>(forms, "ls", type);
  add_relation<Greater, T>(forms, "hi", type);
  add_relation<GreaterEqual, T>(forms, "hs", type);
}

}  // namespace

void add_comparison_forms(Forms *forms) {
  for_types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(
      [&]<class T>() { add_ordered_relations<T>(forms); });
  for_types<uint16_t, uint32_t, uint64_t>([&]<class T>() { add_bit_relations<T>(forms); });
  for_types<Half, float, double>([&]<class T>() { add_float_relations<T>(forms); });
  add_float_relations<float, true>(forms);
  for (const char *type :
       {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const std::string name = type;
    Form selects{&apply<&select<uint64_t>>,
                 slots_of("=" + name + " " + name + " " + name + " pred")};
    selects.mode = kSelects;
    forms->add("selp." + name, selects);
    forms->add("slct." + name + ".s32", {&apply<&select_by_sign<uint64_t>>,
                                         slots_of("=" + name + " " + name + " " + name + " s32")});
  }
}

}  // namespace ptx
