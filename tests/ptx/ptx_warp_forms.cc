// SPDX-License-Identifier: Apache-2.0
// Instructions that exchange values between the lanes of a warp. PTX ISA, "Data Movement and
// Conversion Instructions: shfl.sync" and "Parallel Synchronization and Communication
// Instructions".
#include "tests/ptx/ptx_apply.h"

namespace ptx {
namespace {

enum Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };
enum Vote : uint8_t { kAll, kAny, kUniform };

struct Source {
  uint32_t lane;
  bool in_range;
};

Source source_of(uint8_t mode, uint32_t lane, uint32_t b, uint32_t c) {
  const uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  switch (mode) {
    case kUp: {
      // The clamp of this mode is the lowest lane of the segment.
      const auto from = static_cast<int32_t>(lane - by);
      return {static_cast<uint32_t>(from), from >= static_cast<int32_t>(last)};
    }
    case kDown:
      return {lane + by, lane + by <= last};
    case kButterfly:
      return {lane ^ by, (lane ^ by) <= last};
    default: {
      const uint32_t from = first | (by & ~segment);
      return {from, from <= last};
    }
  }
}

void shuffle(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint64_t *const a = warp.values(instruction.input(0));
  const uint64_t *const b = warp.values(instruction.input(1));
  const uint64_t *const c = warp.values(instruction.input(2));
  uint64_t result[kWarpSize] = {};
  uint32_t in_range = 0;
  for_lanes(lanes, [&](uint32_t lane) {
    const Source source = source_of(instruction.mode, lane, static_cast<uint32_t>(b[lane]),
                                    static_cast<uint32_t>(c[lane]));
    const uint32_t from = source.in_range ? source.lane : lane;
    if ((lanes >> from & 1) == 0) {
      warp.fail(instruction, lane,
                "lane " + std::to_string(from) + ", which it reads, does not take part");
    }
    result[lane] = a[from];
    in_range |= static_cast<uint32_t>(source.in_range) << lane;
  });
  uint64_t *const out = warp.registers(instruction.output(0));
  for_lanes(lanes, [&](uint32_t lane) { out[lane] = result[lane]; });
  warp.set_predicate(instruction.output(1), lanes, in_range);
}

void vote(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint32_t set = warp.predicate(instruction.input(0)) & lanes;
  const bool all = set == lanes, any = set != 0;
  const bool result = instruction.mode == kAll ? all : instruction.mode == kAny ? any : all || !any;
  warp.set_predicate(instruction.output(0), lanes, result ? kAllLanes : 0);
}

void ballot(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  const uint32_t set = warp.predicate(instruction.input(0)) & lanes;
  uint64_t *const out = warp.registers(instruction.output(0));
  for_lanes(lanes, [&](uint32_t lane) { out[lane] = set; });
}

void active_mask(Warp &warp, const Instruction &instruction, uint32_t lanes) {
  uint64_t *const out = warp.registers(instruction.output(0));
  for_lanes(lanes, [&](uint32_t lane) { out[lane] = lanes; });
}

Form synchronized(Handler handler, std::string_view slots, uint8_t mode = 0) {
  Form form{handler, slots_of(slots)};
  form.flow = Flow::kWarpSync;
  form.mode = mode;
  return form;
}

}  // namespace

void add_warp_forms(Forms *forms) {
  const char *const slots = "=b32| b32 b32 b32 b32";
  forms->add("shfl.sync.up.b32", synchronized(&shuffle, slots, kUp));
  forms->add("shfl.sync.down.b32", synchronized(&shuffle, slots, kDown));
  forms->add("shfl.sync.bfly.b32", synchronized(&shuffle, slots, kButterfly));
  forms->add("shfl.sync.idx.b32", synchronized(&shuffle, slots, kIndex));
  forms->add("vote.sync.all.pred", synchronized(&vote, "=pred pred b32", kAll));
  forms->add("vote.sync.any.pred", synchronized(&vote, "=pred pred b32", kAny));
  forms->add("vote.sync.uni.pred", synchronized(&vote, "=pred pred b32", kUniform));
  forms->add("vote.sync.ballot.b32", synchronized(&ballot, "=b32 pred b32"));
  forms->add("bar.warp.sync", synchronized(&do_nothing, "b32", kWarpBarrier));
  forms->add("activemask.b32", {&active_mask, slots_of("=b32")});
}

}  // namespace ptx
