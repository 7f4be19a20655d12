// SPDX-License-Identifier: Apache-2.0
// Loads, stores and conversions of addresses. PTX ISA, "Data Movement and Conversion Instructions".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

void load(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const base = warp.values(instruction.input(0));
  const unsigned bytes = instruction.bytes;
  for_lanes(lanes, [&](uint32_t lane) {
    const unsigned char *const from =
        warp.locate(instruction, lane, instruction.space,
                    base[lane] + static_cast<uint64_t>(instruction.offset),
                    uint64_t{bytes} * instruction.count, false);
    // All elements are read before the first register is written, because the address may be one
    // of these registers.
    uint64_t values[4];
    for (unsigned i = 0; i < instruction.count; ++i)
      values[i] = read_bytes(from + bytes * i, bytes);
    for (unsigned i = 0; i < instruction.count; ++i) {
      if (instruction.is_signed) {
        const unsigned shift = 64 - 8 * bytes;
        values[i] = static_cast<uint64_t>(static_cast<int64_t>(values[i] << shift) >> shift);
      }
      warp.registers(instruction.output(i))[lane] = values[i] & instruction.output_mask;
    }
  });
}

void store(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const base = warp.values(instruction.input(0));
  const unsigned bytes = instruction.bytes;
  for_lanes(lanes, [&](uint32_t lane) {
    unsigned char *const to = warp.locate(instruction, lane, instruction.space,
                                          base[lane] + static_cast<uint64_t>(instruction.offset),
                                          uint64_t{bytes} * instruction.count, true);
    for (unsigned i = 0; i < instruction.count; ++i) {
      write_bytes(to + bytes * i, bytes, warp.values(instruction.input(1 + i))[lane]);
    }
  });
}

template <uint64_t kWindow>
uint64_t to_generic(uint64_t address) {
  return address + kWindow;
}
// An address outside the window becomes an address that every access reports.
template <uint64_t kWindow>
uint64_t from_generic(uint64_t address) {
  return address - kWindow;
}
template <uint64_t kWindow>
bool is_in_window(uint64_t address) {
  return kWindow == 0 ? address < kSharedWindow : address - kWindow < kWindowBytes;
}

struct NamedSpace {
  const char *name;
  Space space;
};
constexpr NamedSpace kSpaces[] = {{"", Space::kGeneric},          {".global", Space::kGlobal},
                                  {".global.nc", Space::kGlobal}, {".shared", Space::kShared},
                                  {".local", Space::kLocal},      {".param", Space::kParam},
                                  {".const", Space::kConst}};

void add_accesses(Forms *forms, const std::string &order, const NamedSpace &space,
                  const std::string &type) {
  const Type element = type_of(type);
  for (const char *count : {"", "2", "4"}) {
    const std::string vector = *count == 0 ? "" : std::string(".v") + count;
    const std::string values = *count == 0 ? type + "+" : type + "*" + count + "+";
    const std::string suffix = order + space.name + vector + "." + type;
    Form form{&load, slots_of("=" + values + " address")};
    form.space = space.space;
    form.bytes = static_cast<uint8_t>(element.bits / 8);
    form.count = static_cast<uint8_t>(*count == 0 ? 1 : *count - '0');
    form.is_signed = element.kind == Kind::kSigned;
    form.mode = order.empty() || order == ".weak" ? 0 : kStrong;
    if (order.rfind(".release", 0) != 0) forms->add("ld" + suffix, form);
    const bool read_only = space.space == Space::kConst || suffix.find(".nc") != suffix.npos;
    if (read_only || order.rfind(".acquire", 0) == 0) continue;
    form.handler = &store;
    form.slots = slots_of("address " + values);
    forms->add("st" + suffix, form);
  }
}

template <uint64_t kWindow>
void add_window(Forms *forms, const std::string &space) {
  const std::vector<Slot> slots = slots_of("=u64 u64");
  forms->add("cvta." + space + ".u64", {&apply<&to_generic<kWindow>>, slots});
  forms->add("cvta.to." + space + ".u64", {&apply<&from_generic<kWindow>>, slots});
  forms->add("isspacep." + space, {&apply<&is_in_window<kWindow>>, slots_of("=pred u64")});
}

}  // namespace

void add_memory_forms(Forms *forms) {
  for (const char *order :
       {"", ".weak", ".volatile", ".relaxed.cta", ".relaxed.gpu", ".relaxed.sys", ".acquire.cta",
        ".acquire.gpu", ".acquire.sys", ".release.cta", ".release.gpu", ".release.sys"}) {
    for (const NamedSpace &space : kSpaces) {
      for (const char *type : {"b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32",
                               "b64", "u64", "s64", "f64"}) {
        add_accesses(forms, order, space, type);
      }
    }
  }
  add_window<0>(forms, "global");
  add_window<0>(forms, "const");
  add_window<kSharedWindow>(forms, "shared");
  add_window<kLocalWindow>(forms, "local");
  add_window<kParamWindow>(forms, "param");
  for (const char *name :
       {"prefetch.global.L1", "prefetch.global.L2", "prefetch.L1", "prefetch.L2", "prefetchu.L1"}) {
    forms->add(name, {&do_nothing, slots_of("address")});
  }
}

}  // namespace ptx
