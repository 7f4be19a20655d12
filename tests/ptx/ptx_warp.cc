// SPDX-License-Identifier: Apache-2.0
// The groups of lanes of a warp, and the instructions that change them.
#include "tests/ptx/ptx_warp.h"

#include <algorithm>
#include <limits>

namespace ptx {
namespace {

constexpr uint32_t kNoLimit = std::numeric_limits<uint32_t>::max();
// Instructions that a group may execute while other groups of the warp can run. Lanes that wait in
// a loop for another lane of the warp must not keep it from running.
constexpr uint64_t kFairSteps = 1 << 16;

uint32_t lane_bit(uint32_t lane) {
  return uint32_t{1} << lane;
}

}  // namespace

Warp::Warp(BlockState &block, uint32_t index) : block_(block), first_thread_(index * kWarpSize) {}

void Warp::start() {
  const uint32_t threads = std::min(block_.nthreads() - first_thread_, kWarpSize);
  live_ = threads == kWarpSize ? kAllLanes : lane_bit(threads) - 1;
  runnable_ = live_;
  at_sync_ = at_barrier_ = 0;
  free_frames_.clear();
  for (const auto &frame : frames_) free_frames_.push_back(frame.get());
  Frame *const frame = new_frame(*block_.entry, live_, 0);
  for_lanes(live_, [&](uint32_t lane) { lanes_[lane] = {frame, 0, 0, 0}; });
  is_unfair_ = false;
}

void Warp::run(uint64_t budget) {
  budget_ = budget;
  while (budget_ != 0) {
    if (choose()) {
      run_group();
    } else if (!release_syncs()) {
      return;
    }
  }
}

// Chooses the group that runs next. Returns false if no lane can run.
bool Warp::choose() {
  uint32_t candidates = runnable_;
  if (candidates == 0) return false;
  if (is_unfair_ && (candidates & ~last_group_) != 0) candidates &= ~last_group_;
  frame_ = nullptr;
  for_lanes(candidates, [&](uint32_t lane) {
    const Lane &other = lanes_[lane];
    if (frame_ != nullptr && other.frame->depth < frame_->depth) return;
    if (frame_ == nullptr || other.frame->depth > frame_->depth || other.pc < pc_) {
      frame_ = other.frame;
      pc_ = other.pc;
    }
  });
  group_ = 0;
  limit_ = kNoLimit;
  for_lanes(runnable_, [&](uint32_t lane) {
    const Lane &other = lanes_[lane];
    if (other.frame != frame_) return;
    if (other.pc == pc_) group_ |= lane_bit(lane);
    if (other.pc > pc_) limit_ = std::min(limit_, other.pc);
  });
  is_unfair_ = false;
  last_group_ = group_;
  return true;
}

void Warp::set_pc(uint32_t lanes, uint32_t pc) {
  for_lanes(lanes, [&](uint32_t lane) { lanes_[lane].pc = pc; });
}

uint32_t Warp::guarded(const Instruction &instruction, uint32_t lanes) const {
  if (instruction.guard == 0) return lanes;
  const uint32_t unwritten = lanes & ~frame_->predicates_ready[instruction.guard];
  if (unwritten != 0) {
    fail(instruction, static_cast<uint32_t>(std::countr_zero(unwritten)),
         "the guard is read before it is written");
  }
  const uint32_t value = frame_->predicates[instruction.guard];
  return lanes & (instruction.guard_negated ? ~value : value);
}

// Returns the lanes that have written the operand.
uint32_t Warp::ready_lanes(const Operand &operand) const {
  if (operand.kind == Operand::kRegister) return frame_->ready[operand.index];
  if (operand.kind == Operand::kPredicate) return frame_->predicates_ready[operand.index];
  return kAllLanes;
}

void Warp::check_inputs(const Instruction &instruction, uint32_t lanes) const {
  for (size_t i = instruction.noutputs; i < instruction.noperands; ++i) {
    const uint32_t unwritten = lanes & ~ready_lanes(instruction.operands[i]);
    if (unwritten != 0) fail_unwritten(instruction, unwritten, i);
  }
}

// Returns the lanes in which the output of an instruction is defined: those that have written all
// inputs on which the output depends. The compiler also emits instructions with inputs that no lane
// has written, if the program discards their output. Such an input is an error only when it
// decides a branch, is an address or is stored.
uint32_t Warp::defined_lanes(const Instruction &instruction, uint32_t lanes) const {
  if (instruction.mode < kSelects) {
    for (size_t i = instruction.noutputs; i < instruction.noperands; ++i) {
      lanes &= ready_lanes(instruction.operands[i]);
    }
    return lanes;
  }
  const Operand &first = instruction.input(0), &second = instruction.input(1);
  const uint32_t a = ready_lanes(first), b = ready_lanes(second);
  if (instruction.mode == kSelects) {
    const Operand &condition = instruction.input(2);
    const uint32_t value = predicate(condition);
    return lanes & ready_lanes(condition) & ((value & a) | (~value & b));
  }
  // One input decides the output if it is false (`and`) or true (`or`).
  const uint32_t decides = instruction.mode == kOrs ? 0 : kAllLanes;
  return lanes &
         ((a & b) | (a & (predicate(first) ^ decides)) | (b & (predicate(second) ^ decides)));
}

void Warp::mark_outputs(const Instruction &instruction, uint32_t lanes, uint32_t written) {
  for (size_t i = 0; i < instruction.noutputs; ++i) {
    const Operand &operand = instruction.operands[i];
    uint32_t &ready = operand.kind == Operand::kPredicate ? frame_->predicates_ready[operand.index]
                                                          : frame_->ready[operand.index];
    ready = (ready & ~lanes) | written;
  }
}

void Warp::execute(const Instruction &instruction, uint32_t lanes) {
  uint32_t written = lanes;
  if (instruction.flow == Flow::kPlain && !instruction.uses_memory) {
    written = defined_lanes(instruction, lanes);
  } else {
    check_inputs(instruction, lanes);
  }
  instruction.handler(*this, instruction, lanes);
  mark_outputs(instruction, lanes, written);
  if (instruction.flow == Flow::kWarpSync && instruction.mode == kWarpBarrier) ++syncs_;
}

// Runs the group until its lanes diverge, wait, or reach the program counter of other lanes.
void Warp::run_group() {
  const std::vector<Instruction> &code = frame_->function->instructions;
  uint64_t steps = std::min(budget_, kFairSteps);
  budget_ -= steps;
  for (; pc_ < limit_ && steps != 0; --steps) {
    const Instruction &instruction = code[pc_];
    const uint32_t lanes = guarded(instruction, group_);
    block_.lane_instructions += static_cast<uint64_t>(std::popcount(lanes));
    if (instruction.flow == Flow::kPlain) {
      if (lanes != 0) execute(instruction, lanes);
      ++pc_;
      continue;
    }
    if (instruction.flow == Flow::kBranch) {
      if (branch(instruction, lanes)) continue;
      break;
    }
    if (lanes == 0) {
      ++pc_;
      continue;
    }
    if (instruction.flow == Flow::kWarpSync && warp_sync(instruction, lanes)) continue;
    // Lanes whose guard is false continue after the instruction.
    set_pc(group_ & ~lanes, pc_ + 1);
    if (instruction.flow == Flow::kCall) call(instruction, lanes);
    if (instruction.flow == Flow::kReturn) leave(lanes);
    if (instruction.flow == Flow::kExit) exit(lanes);
    if (instruction.flow == Flow::kBarrier) barrier(instruction, lanes);
    budget_ += steps - 1;
    return;
  }
  is_unfair_ = steps == 0;
  budget_ += steps;
  if (pc_ != kNoLimit) set_pc(group_, pc_);
}

// Returns false if the lanes diverge. `pc_` is then invalid.
bool Warp::branch(const Instruction &instruction, uint32_t taken) {
  if (taken == group_) {
    pc_ = instruction.target;
    return true;
  }
  if (taken == 0) {
    ++pc_;
    return true;
  }
  set_pc(taken, instruction.target);
  set_pc(group_ & ~taken, pc_ + 1);
  pc_ = kNoLimit;
  return false;
}

void Warp::call(const Instruction &instruction, uint32_t lanes) {
  const Call &call = frame_->function->calls[instruction.target];
  const uint32_t top = frame_->local_base + frame_->function->local_bytes;
  Frame *const made = new_frame(*call.callee, lanes, static_cast<uint32_t>(align_up(top, 16)));
  made->caller = frame_;
  made->call = instruction.target;
  made->return_pc = pc_ + 1;
  made->depth = frame_->depth + 1;
  constexpr uint32_t kMaxDepth = 1000;
  if (made->depth > kMaxDepth) {
    fail(instruction, static_cast<uint32_t>(std::countr_zero(lanes)), "too many nested calls");
  }
  for (const Transfer &transfer : call.arguments) {
    for_lanes(lanes, [&](uint32_t lane) {
      const unsigned char *from = frame_->area_of(lane, transfer.caller);
      std::copy(from, from + transfer.bytes, made->area_of(lane, transfer.callee));
    });
  }
  for_lanes(lanes, [&](uint32_t lane) {
    lanes_[lane].frame = made;
    lanes_[lane].pc = 0;
  });
}

void Warp::leave(uint32_t lanes) {
  Frame *const caller = frame_->caller;
  if (caller == nullptr) return exit(lanes);
  for (const Transfer &transfer : caller->function->calls[frame_->call].results) {
    for_lanes(lanes, [&](uint32_t lane) {
      const unsigned char *from = frame_->area_of(lane, transfer.callee);
      std::copy(from, from + transfer.bytes, caller->area_of(lane, transfer.caller));
    });
  }
  for_lanes(lanes, [&](uint32_t lane) {
    lanes_[lane].frame = caller;
    lanes_[lane].pc = frame_->return_pc;
  });
  frame_->lanes &= ~lanes;
  if (frame_->lanes == 0) free_frames_.push_back(frame_);
}

void Warp::exit(uint32_t lanes) {
  live_ &= ~lanes;
  runnable_ &= ~lanes;
}

// Returns the mask of an instruction whose lanes execute together: its last operand.
uint32_t Warp::members_of(const Instruction &instruction, uint32_t lanes) const {
  const uint64_t *const masks = values(instruction.operands[instruction.noperands - 1u]);
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const auto members = static_cast<uint32_t>(masks[first]);
  for_lanes(lanes, [&](uint32_t lane) {
    if (masks[lane] != members) fail(instruction, lane, "the lanes have different masks");
    if ((members >> lane & 1) == 0) fail(instruction, lane, "the lane is not in its mask");
  });
  return members;
}

// Returns the lanes that wait at the same instruction of the same activation.
uint32_t Warp::waiting_with(uint32_t lane) const {
  uint32_t all = 0;
  for_lanes(at_sync_, [&](uint32_t other) {
    const bool same =
        lanes_[other].frame == lanes_[lane].frame && lanes_[other].pc == lanes_[lane].pc;
    if (same) all |= lane_bit(other);
  });
  return all;
}

// Executes the instruction and returns true if the whole group is at the instruction and no other
// lane of the mask is missing. Otherwise the lanes wait.
bool Warp::warp_sync(const Instruction &instruction, uint32_t lanes) {
  check_inputs(instruction, lanes);
  const uint32_t missing = members_of(instruction, lanes) & live_ & ~lanes;
  if (missing == 0) {
    execute(instruction, lanes);
    ++pc_;
    return true;
  }
  set_pc(lanes, pc_);
  runnable_ &= ~lanes;
  at_sync_ |= lanes;
  return false;
}

// Executes instructions for which all lanes of the mask have arrived. Returns false if there are
// none.
bool Warp::release_syncs() {
  for (uint32_t rest = at_sync_; rest != 0;) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t lanes = waiting_with(lane);
    rest &= ~lanes;
    frame_ = lanes_[lane].frame;
    const Instruction &instruction = frame_->function->instructions[lanes_[lane].pc];
    if ((members_of(instruction, lanes) & live_ & ~lanes) != 0) continue;
    execute(instruction, lanes);
    set_pc(lanes, lanes_[lane].pc + 1);
    at_sync_ &= ~lanes;
    runnable_ |= lanes;
    return true;
  }
  return false;
}

void Warp::barrier(const Instruction &instruction, uint32_t lanes) {
  check_inputs(instruction, lanes);
  const uint64_t *const barriers = values(instruction.input(0));
  const uint64_t *const counts = values(instruction.input(1));
  for_lanes(lanes, [&](uint32_t lane) {
    if (barriers[lane] > 15) fail(instruction, lane, "there are 16 barriers");
    lanes_[lane].barrier = static_cast<uint32_t>(barriers[lane]);
    lanes_[lane].barrier_count = static_cast<uint32_t>(counts[lane]);
    lanes_[lane].pc = pc_;
  });
  runnable_ &= ~lanes;
  at_barrier_ |= lanes;
}

void Warp::pass_barrier(uint32_t lanes) {
  for_lanes(lanes, [&](uint32_t lane) { ++lanes_[lane].pc; });
  at_barrier_ &= ~lanes;
  runnable_ |= lanes;
}

const Instruction &Warp::instruction_of(uint32_t lane) const {
  return lanes_[lane].frame->function->instructions[lanes_[lane].pc];
}

void Warp::report_waiting_lanes() const {
  if (at_sync_ == 0) return;
  const auto lane = static_cast<uint32_t>(std::countr_zero(at_sync_));
  const uint32_t lanes = waiting_with(lane);
  const Instruction &instruction = instruction_of(lane);
  fail(instruction, lane,
       std::to_string(std::popcount(lanes)) +
           " lanes wait for other lanes of their mask, which wait elsewhere");
}

}  // namespace ptx
