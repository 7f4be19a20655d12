// SPDX-License-Identifier: Apache-2.0
// Logic, shifts, bit fields and moves. PTX ISA, "Logic and Shift Instructions", "Integer Arithmetic
// Instructions" (bfe, bfi, bfind, brev, clz, popc) and "Data Movement and Conversion Instructions"
// (mov, prmt).
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

template <class T>
constexpr uint32_t kBits = 8 * sizeof(T);

template <class T>
T bit_and(T a, T b) {
  return a & b;
}
template <class T>
T bit_or(T a, T b) {
  return a | b;
}
template <class T>
T bit_xor(T a, T b) {
  return a ^ b;
}
template <class T>
T bit_not(T a) {
  return static_cast<T>(~a);
}
template <class T>
T logical_not(T a) {
  return a == 0 ? 1 : 0;
}
bool not_of(bool a) {
  return !a;
}
bool and_of(bool a, bool b) {
  return a && b;
}
bool or_of(bool a, bool b) {
  return a || b;
}
bool xor_of(bool a, bool b) {
  return a != b;
}

template <class T>
T identity(T a) {
  return a;
}

// Shift amounts above the size of the type are clamped to it.
template <class T>
T shift_left(T a, uint32_t by) {
  return by >= kBits<T> ? T(0) : static_cast<T>(a << by);
}
template <class T>
T shift_right(T a, uint32_t by) {
  if (by >= kBits<T>) return a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> by);
}

template <bool kWrap>
uint32_t amount_of(uint32_t by) {
  return kWrap ? by & 31 : std::min<uint32_t>(by, 32);
}
// The funnel shifts move the 64 bits of b and a, of which b has the upper ones.
template <bool kWrap>
uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t by) {
  const uint64_t both = uint64_t{b} << 32 | a;
  return static_cast<uint32_t>(both << amount_of<kWrap>(by) >> 32);
}
template <bool kWrap>
uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t by) {
  const uint64_t both = uint64_t{b} << 32 | a;
  return static_cast<uint32_t>(both >> amount_of<kWrap>(by));
}

template <class T>
uint32_t population(T a) {
  return static_cast<uint32_t>(std::popcount(a));
}
template <class T>
uint32_t leading_zeros(T a) {
  return static_cast<uint32_t>(std::countl_zero(a));
}
template <class T>
T reversed(T a) {
  T result = 0;
  for (uint32_t i = 0; i < kBits<T>; ++i) {
    result = static_cast<T>(result << 1 | (a >> i & 1));
  }
  return result;
}

// The position of the most significant bit that differs from the sign.
template <class T, bool kShiftAmount>
uint32_t find_bit(T a) {
  using U = std::make_unsigned_t<T>;
  const U bits = a < 0 ? static_cast<U>(~static_cast<U>(a)) : static_cast<U>(a);
  if (bits == 0) return ~uint32_t{0};
  const auto zeros = static_cast<uint32_t>(std::countl_zero(bits));
  return kShiftAmount ? zeros : kBits<T> - 1 - zeros;
}

template <class T>
T extract_field(T a, uint32_t position, uint32_t length) {
  const uint32_t top = kBits<T> - 1;
  position &= 255;
  length &= 255;
  // Bits above the field are copies of its upper bit, which is at most bit `top` of a.
  const uint32_t last = std::min(position + length - 1, top);
  const bool sign = std::is_signed_v<T> && length != 0 && (a >> last & 1) != 0;
  uint64_t result = 0;
  for (uint32_t i = 0; i <= top; ++i) {
    const bool inside = i < length && position + i <= top;
    const bool bit = inside ? (a >> (position + i) & 1) != 0 : sign;
    result |= uint64_t{bit} << i;
  }
  return static_cast<T>(result);
}

// Returns b with `length` of its bits, from `position`, replaced by the lower bits of a.
template <class T>
T insert_field(T a, T b, uint32_t position, uint32_t length) {
  position &= 255;
  length &= 255;
  for (uint32_t i = 0; i < length && position + i < kBits<T>; ++i) {
    const T bit = static_cast<T>(T(1) << (position + i));
    b = static_cast<T>((b & ~bit) | ((a >> i & 1) != 0 ? bit : T(0)));
  }
  return b;
}

// Each hexadecimal digit of the selector chooses one of the eight bytes of b and a. The upper bit
// of a digit replicates the sign of that byte.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t digit = selector >> (4 * i) & 15;
    uint32_t byte = both >> (8 * (digit & 7)) & 255;
    if ((digit & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return result;
}

// `mov` between a register and the elements of a vector.
void pack(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  uint64_t *const out = warp.registers(instruction.output(0));
  const size_t count = static_cast<size_t>(instruction.noperands) - 1;
  for_lanes(lanes, [&](uint32_t lane) {
    uint64_t all = 0;
    for (size_t i = count; i-- > 0;) {
      all = all << (8 * instruction.bytes) | warp.values(instruction.input(i))[lane];
    }
    out[lane] = all;
  });
}

void unpack(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const in = warp.values(instruction.input(0));
  const uint64_t mask = (uint64_t{1} << (8 * instruction.bytes)) - 1;
  for (size_t i = 0; i < instruction.noutputs; ++i) {
    uint64_t *const out = warp.registers(instruction.output(i));
    for_lanes(lanes,
              [&](uint32_t lane) { out[lane] = in[lane] >> (8 * instruction.bytes * i) & mask; });
  }
}

void add_vector_move(Forms *forms, unsigned bits, unsigned count) {
  const std::string type = "b" + std::to_string(bits), elements = std::to_string(count);
  const std::string vector = "b" + std::to_string(bits / count) + "*" + elements;
  const auto bytes = static_cast<uint8_t>(bits / count / 8);
  Form packs{&pack, slots_of("=" + type + " " + vector)};
  packs.bytes = bytes;
  forms->add("mov." + type + ".pack" + elements, packs);
  Form unpacks{&unpack, slots_of("=" + vector + " " + type)};
  unpacks.bytes = bytes;
  forms->add("mov." + type + ".unpack" + elements, unpacks);
}

template <class T>
void add_logic(Forms *forms) {
  const std::string type = bits_name<T>();
  add_uniform<&bit_and<T>, T>(forms, "and", 2, type);
  add_uniform<&bit_or<T>, T>(forms, "or", 2, type);
  add_uniform<&bit_xor<T>, T>(forms, "xor", 2, type);
  add_uniform<&bit_not<T>, T>(forms, "not", 1, type);
  add_uniform<&logical_not<T>, T>(forms, "cnot", 1, type);
  const auto shift = [](const std::string &name) {
    return slots_of("=" + name + " " + name + " u32");
  };
  using S = std::make_signed_t<T>;
  forms->add("shl." + type, {&apply<&shift_left<T>>, shift(type)});
  forms->add("shr." + type, {&apply<&shift_right<T>>, shift(type)});
  forms->add(std::string("shr.") + type_name<T>(),
             {&apply<&shift_right<T>>, shift(type_name<T>())});
  forms->add(std::string("shr.") + type_name<S>(),
             {&apply<&shift_right<S>>, shift(type_name<S>())});
}

template <class T>
void add_fields(Forms *forms) {
  const std::string type = bits_name<T>();
  forms->add("popc." + type, {&apply<&population<T>>, slots_of("=u32 " + type)});
  forms->add("clz." + type, {&apply<&leading_zeros<T>>, slots_of("=u32 " + type)});
  add_uniform<&reversed<T>, T>(forms, "brev", 1, type);
  forms->add("bfi." + type, {&apply<&insert_field<T>>,
                             slots_of("=" + type + " " + type + " " + type + " u32 u32")});
}

template <class T>
void add_typed_fields(Forms *forms) {
  const std::string type = type_name<T>();
  forms->add("bfe." + type,
             {&apply<&extract_field<T>>, slots_of("=" + type + " " + type + " u32 u32")});
  forms->add("bfind." + type, {&apply<&find_bit<T, false>>, slots_of("=u32 " + type)});
  forms->add("bfind.shiftamt." + type, {&apply<&find_bit<T, true>>, slots_of("=u32 " + type)});
}

void add_moves(Forms *forms) {
  for (const char *type :
       {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    forms->add(std::string("mov.") + type,
               {&apply<&identity<uint64_t>>, slots_of(outputs_and_inputs(type, type, 1))});
  }
  add_uniform<&identity<bool>, bool>(forms, "mov", 1);
  add_vector_move(forms, 16, 2);
  add_vector_move(forms, 32, 2);
  add_vector_move(forms, 32, 4);
  add_vector_move(forms, 64, 2);
  add_vector_move(forms, 64, 4);
}

}  // namespace

void add_bit_forms(Forms *forms) {
  for_types<uint16_t, uint32_t, uint64_t>([&]<class T>() { add_logic<T>(forms); });
  for_types<uint32_t, uint64_t>([&]<class T>() { add_fields<T>(forms); });
  for_types<int32_t, uint32_t, int64_t, uint64_t>([&]<class T>() { add_typed_fields<T>(forms); });
  Form ands{&apply<&and_of>, slots_of("=pred pred pred")};
  ands.mode = kAnds;
  forms->add("and.pred", ands);
  Form ors{&apply<&or_of>, slots_of("=pred pred pred")};
  ors.mode = kOrs;
  forms->add("or.pred", ors);
  add_uniform<&xor_of, bool>(forms, "xor", 2);
  add_uniform<&not_of, bool>(forms, "not", 1);
  const std::vector<Slot> funnel = slots_of("=b32 b32 b32 u32");
  forms->add("shf.l.wrap.b32", {&apply<&funnel_left<true>>, funnel});
  forms->add("shf.l.clamp.b32", {&apply<&funnel_left<false>>, funnel});
  forms->add("shf.r.wrap.b32", {&apply<&funnel_right<true>>, funnel});
  forms->add("shf.r.clamp.b32", {&apply<&funnel_right<false>>, funnel});
  forms->add("prmt.b32", {&apply<&permute>, slots_of("=b32 b32 b32 b32")});
  forms->add("lop3.b32", {&apply<&logic3>, slots_of("=b32 b32 b32 b32 b32")});
  add_moves(forms);
}

}  // namespace ptx
