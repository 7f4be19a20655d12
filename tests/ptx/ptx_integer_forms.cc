// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic. PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic Instructions".
#include <limits>

#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

// 64-bit and 128-bit products.
template <class T>
using Wide =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, Int128, Uint128>,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <class T>
constexpr int kBits = 8 * sizeof(T);

template <class T>
T add(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
}
template <class T>
T sub(T a, T b) {
  return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
}
template <class T>
T mul_lo(T a, T b) {
  return static_cast<T>(static_cast<Wide<Unsigned<T>>>(Unsigned<T>(a)) * Unsigned<T>(b));
}
template <class T>
T mul_hi(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * b >> kBits<T>);
}
template <class T>
T mad_lo(T a, T b, T c) {
  return add(mul_lo(a, b), c);
}
template <class T>
T mad_hi(T a, T b, T c) {
  return add(mul_hi(a, b), c);
}
template <class D, class T>
D mul_wide(T a, T b) {
  return static_cast<D>(static_cast<D>(a) * static_cast<D>(b));
}
template <class D, class T>
D mad_wide(T a, T b, D c) {
  return add(mul_wide<D, T>(a, b), c);
}

// The quotient and the remainder of a division by zero are unspecified.
template <class T>
T divide(T a, T b) {
  if (b == 0) return static_cast<T>(~T(0));
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return sub<T>(0, a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}

template <class T>
T minimum(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  return a > b ? a : b;
}
template <class T>
T negate(T a) {
  return sub<T>(0, a);
}
template <class T>
T absolute(T a) {
  return a < 0 ? negate(a) : a;
}
template <class T>
T distance(T a, T b, T c) {
  return add(c, a < b ? sub(b, a) : sub(a, b));
}

int32_t add_saturated(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>(std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}
int32_t sub_saturated(int32_t a, int32_t b) {
  const int64_t difference = int64_t{a} - b;
  return static_cast<int32_t>(std::clamp<int64_t>(difference, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

// The sum of c and the four products of the bytes of a and b.
template <class D, class A, class B>
D dot_of_bytes(uint32_t a, uint32_t b, D c) {
  auto sum = static_cast<uint32_t>(c);
  for (int shift = 0; shift < 32; shift += 8) {
    const int left = static_cast<A>(a >> shift), right = static_cast<B>(b >> shift);
    sum += static_cast<uint32_t>(left * right);
  }
  return static_cast<D>(sum);
}

// Instructions that use the carry CC.CF. A sum is a + b + carry; a difference is
// a - b - borrow, and its borrow is stored as the carry.
enum class Carry : uint8_t { kAdd, kSub, kMadLo, kMadHi };

template <class T, Carry kOperation, bool kReads, bool kWrites>
void with_carry(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  using U = Unsigned<T>;
  const uint64_t *const a = warp.values(instruction.input(0));
  const uint64_t *const b = warp.values(instruction.input(1));
  const bool mad = kOperation == Carry::kMadLo || kOperation == Carry::kMadHi;
  const uint64_t *const c = warp.values(instruction.input(mad ? 2 : 1));
  uint64_t *const out = warp.registers(instruction.output(0));
  uint32_t &carry = warp.frame().carry;
  for_lanes(lanes, [&](uint32_t lane) {
    const Uint128 in = kReads ? carry >> lane & 1 : 0;
    Uint128 left = static_cast<U>(a[lane]), right = static_cast<U>(c[lane]);
    if (kOperation == Carry::kMadLo) left = U(mul_lo<T>(T(a[lane]), T(b[lane])));
    if (kOperation == Carry::kMadHi) left = U(mul_hi<T>(T(a[lane]), T(b[lane])));
    const Uint128 all = kOperation == Carry::kSub ? left - right - in : left + right + in;
    out[lane] = static_cast<U>(all);
    const auto bit = static_cast<uint32_t>(all >> kBits<T> & 1);
    if (kWrites) carry = (carry & ~(uint32_t{1} << lane)) | bit << lane;
  });
}

template <class T, Carry kOperation>
void add_carries(Forms *forms, const std::string &opcode, const std::string &suffix, int ninputs) {
  const std::string type = type_name<T>();
  const std::vector<Slot> slots = slots_of(outputs_and_inputs(type, type, ninputs));
  forms->add(opcode + suffix + ".cc." + type, {&with_carry<T, kOperation, false, true>, slots});
  forms->add(opcode + "c" + suffix + "." + type, {&with_carry<T, kOperation, true, false>, slots});
  forms->add(opcode + "c" + suffix + ".cc." + type,
             {&with_carry<T, kOperation, true, true>, slots});
}

template <class T>
void add_arithmetic(Forms *forms) {
  add_uniform<&add<T>, T>(forms, "add", 2);
  add_uniform<&sub<T>, T>(forms, "sub", 2);
  add_uniform<&mul_lo<T>, T>(forms, "mul.lo", 2);
  add_uniform<&mul_hi<T>, T>(forms, "mul.hi", 2);
  add_uniform<&mad_lo<T>, T>(forms, "mad.lo", 3);
  add_uniform<&mad_hi<T>, T>(forms, "mad.hi", 3);
  add_uniform<&divide<T>, T>(forms, "div", 2);
  add_uniform<&remainder<T>, T>(forms, "rem", 2);
  add_uniform<&minimum<T>, T>(forms, "min", 2);
  add_uniform<&maximum<T>, T>(forms, "max", 2);
  add_uniform<&distance<T>, T>(forms, "sad", 3);
  if constexpr (std::is_signed_v<T>) {
    add_uniform<&negate<T>, T>(forms, "neg", 1);
    add_uniform<&absolute<T>, T>(forms, "abs", 1);
  }
}

template <class T, class D>
void add_wide(Forms *forms) {
  const std::string type = type_name<T>(), wide = type_name<D>();
  forms->add("mul.wide." + type,
             {&apply<&mul_wide<D, T>>, slots_of(outputs_and_inputs(wide, type, 2))});
  forms->add("mad.wide." + type, {&apply<&mad_wide<D, T>>,
                                  slots_of("=" + wide + " " + type + " " + type + " " + wide)});
}

template <class T>
void add_all_carries(Forms *forms) {
  add_carries<T, Carry::kAdd>(forms, "add", "", 2);
  add_carries<T, Carry::kSub>(forms, "sub", "", 2);
  add_carries<T, Carry::kMadLo>(forms, "mad", ".lo", 3);
  add_carries<T, Carry::kMadHi>(forms, "mad", ".hi", 3);
}

}  // namespace

void add_integer_forms(Forms *forms) {
  for_types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>(
      [&]<class T>() { add_arithmetic<T>(forms); });
  for_types<int32_t, uint32_t, int64_t, uint64_t>([&]<class T>() { add_all_carries<T>(forms); });
  add_wide<int16_t, int32_t>(forms);
  add_wide<uint16_t, uint32_t>(forms);
  add_wide<int32_t, int64_t>(forms);
  add_wide<uint32_t, uint64_t>(forms);
  add_uniform<&add_saturated, int32_t>(forms, "add.sat", 2);
  add_uniform<&sub_saturated, int32_t>(forms, "sub.sat", 2);
  const std::vector<Slot> dot = slots_of("=s32 b32 b32 s32");
  forms->add("dp4a.s32.s32", {&apply<&dot_of_bytes<int32_t, int8_t, int8_t>>, dot});
  forms->add("dp4a.s32.u32", {&apply<&dot_of_bytes<int32_t, int8_t, uint8_t>>, dot});
  forms->add("dp4a.u32.s32", {&apply<&dot_of_bytes<int32_t, uint8_t, int8_t>>, dot});
  forms->add("dp4a.u32.u32",
             {&apply<&dot_of_bytes<uint32_t, uint8_t, uint8_t>>, slots_of("=u32 b32 b32 u32")});
}

}  // namespace ptx
