// SPDX-License-Identifier: Apache-2.0
// `atom` and `red`. PTX ISA, "Parallel Synchronization and Communication Instructions". The lanes
// of a warp access memory in ascending order.
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

template <class T>
T add(T a, T b, T) {
  return a + b;
}
// In global memory, the addition of single precision flushes subnormal numbers.
float add_flushed(float a, float b, float) {
  return canonical(flushed(flushed(a) + flushed(b)));
}
template <class T>
T minimum(T a, T b, T) {
  return b < a ? b : a;
}
template <class T>
T maximum(T a, T b, T) {
  return b > a ? b : a;
}
template <class T>
T bit_and(T a, T b, T) {
  return a & b;
}
template <class T>
T bit_or(T a, T b, T) {
  return a | b;
}
template <class T>
T bit_xor(T a, T b, T) {
  return a ^ b;
}
template <class T>
T exchange(T, T b, T) {
  return b;
}
template <class T>
T compare_exchange(T a, T expected, T desired) {
  return a == expected ? desired : a;
}
uint32_t increment(uint32_t a, uint32_t b, uint32_t) {
  return a >= b ? 0 : a + 1;
}
uint32_t decrement(uint32_t a, uint32_t b, uint32_t) {
  return a == 0 || a > b ? b : a - 1;
}

bool is_global(const Instruction &instruction, uint64_t address) {
  return instruction.space == Space::kGlobal ||
         (instruction.space == Space::kGeneric && address < kSharedWindow);
}

template <class T, auto kFunction>
void atomic(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const base = warp.values(instruction.input(0));
  const uint64_t *const b = warp.values(instruction.input(1));
  const bool has_third = instruction.noperands - instruction.noutputs > 2;
  const uint64_t *const c = has_third ? warp.values(instruction.input(2)) : b;
  for_lanes(lanes, [&](uint32_t lane) {
    const uint64_t address = base[lane] + static_cast<uint64_t>(instruction.offset);
    unsigned char *const at =
        warp.locate(instruction, lane, instruction.space, address, sizeof(T), true);
    const T operand = from_bits<T>(b[lane]), third = from_bits<T>(c[lane]);
    uint64_t old = read_bytes(at, sizeof(T)), desired = 0;
    do {
      const T value = from_bits<T>(old);
      if constexpr (std::is_same_v<T, float>) {
        desired = to_bits<T>(is_global(instruction, address) ? add_flushed(value, operand, third)
                                                             : kFunction(value, operand, third));
      } else {
        desired = to_bits<T>(kFunction(value, operand, third));
      }
    } while (!exchange_if_equal(at, sizeof(T), &old, desired));
    if (instruction.noutputs != 0) warp.registers(instruction.output(0))[lane] = old;
  });
}

struct Order {
  std::string name;
  std::string space_name;
  Space space;
};

void add_form(Forms *forms, const Order &order, Handler handler, const std::string &operation,
              const std::string &type, int ninputs) {
  Form form;
  form.handler = handler;
  form.space = order.space;
  form.mode = kStrong;
  std::string slots = "=" + type + " address";
  for (int i = 0; i < ninputs; ++i) slots += " " + type;
  const std::string suffix = order.name + order.space_name + "." + operation + "." + type;
  form.slots = slots_of(slots);
  forms->add("atom" + suffix, form);
  if (operation == "exch" || operation == "cas") return;
  form.slots.erase(form.slots.begin());
  forms->add("red" + suffix, form);
}

template <class T>
void add_bits(Forms *forms, const Order &order) {
  const std::string type = bits_name<T>();
  add_form(forms, order, &atomic<T, &bit_and<T>>, "and", type, 1);
  add_form(forms, order, &atomic<T, &bit_or<T>>, "or", type, 1);
  add_form(forms, order, &atomic<T, &bit_xor<T>>, "xor", type, 1);
  add_form(forms, order, &atomic<T, &exchange<T>>, "exch", type, 1);
  add_form(forms, order, &atomic<T, &compare_exchange<T>>, "cas", type, 2);
}

void add_for(Forms *forms, const Order &order) {
  for_types<uint32_t, int32_t, uint64_t, int64_t>([&]<class T>() {
    add_form(forms, order, &atomic<T, &minimum<T>>, "min", type_name<T>(), 1);
    add_form(forms, order, &atomic<T, &maximum<T>>, "max", type_name<T>(), 1);
  });
  for_types<uint32_t, uint64_t, float, double>(
      [&]<class T>() { add_form(forms, order, &atomic<T, &add<T>>, "add", type_name<T>(), 1); });
  add_form(forms, order, &atomic<uint32_t, &add<uint32_t>>, "add", "s32", 1);
  add_bits<uint32_t>(forms, order);
  add_bits<uint64_t>(forms, order);
  add_form(forms, order, &atomic<uint32_t, &increment>, "inc", "u32", 1);
  add_form(forms, order, &atomic<uint32_t, &decrement>, "dec", "u32", 1);
}

}  // namespace

void add_atomic_forms(Forms *forms) {
  for (const char *semantics : {"", ".relaxed", ".acquire", ".release", ".acq_rel"}) {
    for (const char *scope : {"", ".cta", ".gpu", ".sys"}) {
      const std::string name = std::string(semantics) + scope;
      add_for(forms, {name, "", Space::kGeneric});
      add_for(forms, {name, ".global", Space::kGlobal});
      add_for(forms, {name, ".shared", Space::kShared});
    }
  }
}

}  // namespace ptx
