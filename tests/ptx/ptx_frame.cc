// SPDX-License-Identifier: Apache-2.0
// The activations of a warp, their registers, and the errors of instructions.
#include <cstdio>
#include <cstring>

#include "tests/ptx/ptx_warp.h"

namespace ptx {
namespace {

constexpr uint32_t kLocalBytes = 64 << 10;  // per lane

}  // namespace

Frame *Warp::new_frame(const Function &function, uint32_t lanes, uint32_t local_base) {
  if (free_frames_.empty()) {
    frames_.push_back(std::make_unique<Frame>());
    free_frames_.push_back(frames_.back().get());
  }
  Frame *const frame = free_frames_.back();
  free_frames_.pop_back();
  frame->function = &function;
  frame->caller = nullptr;
  frame->depth = 0;
  frame->lanes = lanes;
  frame->local_base = local_base;
  frame->carry = 0;
  if (frame->registers.size() < function.nregisters) frame->registers.resize(function.nregisters);
  frame->ready.assign(function.nregisters, 0);
  frame->predicates.assign(function.npredicates, 0);
  frame->predicates_ready.assign(function.npredicates, 0);
  frame->area.assign(frame->area_stride() * kWarpSize, kFresh);
  if (function.local_bytes != 0) {
    if (local_base + function.local_bytes > kLocalBytes) {
      throw Fault(std::string(function.name) + ": more than 64 KiB of local memory per thread");
    }
    if (local_ == nullptr) local_.reset(new unsigned char[size_t{kLocalBytes} * kWarpSize]);
    for_lanes(lanes, [&](uint32_t lane) {
      std::memset(local_.get() + size_t{kLocalBytes} * lane + local_base, kFresh,
                  function.local_bytes);
    });
  }
  set_presets(*frame);
  return frame;
}

void Warp::set_presets(Frame &frame) {
  for (const Preset &preset : frame.function->presets) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      frame.registers[preset.reg][lane] = special_value(frame, preset, lane);
    }
    frame.ready[preset.reg] = kAllLanes;
  }
}

uint64_t Warp::special_value(const Frame &frame, const Preset &preset, uint32_t lane) const {
  const uint32_t *const threads = block_.threads;
  const uint32_t thread = first_thread_ + lane, bit = uint32_t{1} << lane;
  switch (preset.special) {
    case Special::kTidX:
      return thread % threads[0];
    case Special::kTidY:
      return thread / threads[0] % threads[1];
    case Special::kTidZ:
      return thread / threads[0] / threads[1];
    case Special::kNtidX:
      return threads[0];
    case Special::kNtidY:
      return threads[1];
    case Special::kNtidZ:
      return threads[2];
    case Special::kCtaidX:
      return block_.block[0];
    case Special::kCtaidY:
      return block_.block[1];
    case Special::kCtaidZ:
      return block_.block[2];
    case Special::kNctaidX:
      return block_.blocks[0];
    case Special::kNctaidY:
      return block_.blocks[1];
    case Special::kNctaidZ:
      return block_.blocks[2];
    case Special::kLaneid:
      return lane;
    case Special::kWarpid:
      return first_thread_ / kWarpSize;
    case Special::kNwarpid:
      return (block_.nthreads() + kWarpSize - 1) / kWarpSize;
    case Special::kLanemaskEq:
      return bit;
    case Special::kLanemaskLt:
      return bit - 1;
    case Special::kLanemaskLe:
      return bit | (bit - 1);
    case Special::kLanemaskGt:
      return static_cast<uint32_t>(~(bit | (bit - 1)));
    case Special::kLanemaskGe:
      return static_cast<uint32_t>(~(bit - 1));
    case Special::kDynamicSmemSize:
      return block_.dynamic_shared_bytes;
    case Special::kTotalSmemSize:
      return block_.shared.size();
    case Special::kLocalAddress:
      return frame.local_base + preset.offset;
  }
  return 0;
}

const uint64_t *Warp::values(const Operand &operand) const {
  return operand.kind == Operand::kRegister ? frame_->registers[operand.index].data()
                                            : frame_->function->constants[operand.index].data();
}

uint32_t Warp::predicate(const Operand &operand) const {
  if (operand.kind == Operand::kPredicate) return frame_->predicates[operand.index];
  return operand.index != 0 ? kAllLanes : 0;
}

void Warp::set_predicate(const Operand &operand, uint32_t lanes, uint32_t value) {
  uint32_t &all = frame_->predicates[operand.index];
  all = (all & ~lanes) | (value & lanes);
}

std::string Warp::thread_name(uint32_t lane) const {
  const uint32_t thread = first_thread_ + lane, *const threads = block_.threads;
  char text[120];
  std::snprintf(text, sizeof(text), "thread (%u, %u, %u) of block (%u, %u, %u)",
                thread % threads[0], thread / threads[0] % threads[1],
                thread / threads[0] / threads[1], block_.block[0], block_.block[1],
                block_.block[2]);
  return text;
}

void Warp::fail(const Instruction &instruction, uint32_t lane, const std::string &text) const {
  throw Fault("line " + std::to_string(instruction.line) + ": " + thread_name(lane) + ": " + text +
              ": " + std::string(block_.program->line(instruction.line)));
}

void Warp::fail_unwritten(const Instruction &instruction, uint32_t lanes, size_t position) const {
  fail(instruction, static_cast<uint32_t>(std::countr_zero(lanes)),
       "operand " + std::to_string(position) + " is read before it is written");
}

unsigned char *Warp::locate_local(const Instruction &instruction, uint32_t lane, uint64_t address,
                                  uint64_t bytes) {
  const uint64_t top = uint64_t{frame_->local_base} + frame_->function->local_bytes;
  if (address > top || bytes > top - address) {
    fail(instruction, lane,
         "local address " + std::to_string(address) + " is outside the " + std::to_string(top) +
             " bytes of local memory");
  }
  return local_.get() + size_t{kLocalBytes} * lane + address;
}

unsigned char *Warp::locate_shared(const Instruction &instruction, uint32_t lane, uint64_t address,
                                   uint64_t bytes, bool writes) {
  const uint64_t size = block_.shared.size();
  if (address > size || bytes > size - address) {
    fail(instruction, lane,
         "shared address " + std::to_string(address) + " is outside the " + std::to_string(size) +
             " bytes of shared memory");
  }
  const Hazards::Access *const earlier = block_.hazards.record(
      address, bytes,
      {first_thread_ + lane, syncs_, instruction.line, 0, instruction.mode == kStrong}, writes);
  if (earlier != nullptr) {
    fail(instruction, lane,
         std::string(writes ? "write" : "read") + " of shared address " + std::to_string(address) +
             ", which thread " + std::to_string(earlier->thread) + " accesses in line " +
             std::to_string(earlier->line) + ", without a barrier in between");
  }
  return block_.shared.data() + address;
}

unsigned char *Warp::locate_param(const Instruction &instruction, uint32_t lane, uint64_t address,
                                  uint64_t bytes, bool writes) {
  const Function &function = *frame_->function;
  const bool uniform = address < function.uniform_bytes;
  const uint64_t end = uniform ? function.uniform_bytes : function.area_bytes;
  if (address > end || bytes > end - address) {
    fail(instruction, lane,
         "parameter address " + std::to_string(address) + " is outside the " + std::to_string(end) +
             " bytes of parameters");
  }
  if (!uniform) return frame_->area_of(lane, address);
  if (writes) fail(instruction, lane, "the parameters of an entry are read-only");
  return const_cast<unsigned char *>(block_.arguments) + address;
}

unsigned char *Warp::locate_global(const Instruction &instruction, uint32_t lane, uint64_t address,
                                   uint64_t bytes, bool writes) {
  if (block_.global->allows(address, bytes, writes)) {
    return reinterpret_cast<unsigned char *>(address);
  }
  const Variable *const variable = block_.program->variable_at(address);
  if (variable != nullptr && block_.program->variable_at(address + bytes - 1) == variable &&
      (variable->space == Space::kGlobal || !writes)) {
    return reinterpret_cast<unsigned char *>(address);
  }
  char text[120];
  std::snprintf(text, sizeof(text), "%s of %llu bytes at global address 0x%llx, which is not %s",
                writes ? "write" : "read", static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>(address),
                address < kSharedWindow ? "allocated" : "a global address");
  fail(instruction, lane, text);
}

unsigned char *Warp::locate(const Instruction &instruction, uint32_t lane, Space space,
                            uint64_t address, uint64_t bytes, bool writes) {
  // PTX ISA, "Addresses as Operands": an address must be a multiple of the size of the access.
  if ((address & (bytes - 1)) != 0) {
    char text[80];
    std::snprintf(text, sizeof(text), "address 0x%llx is not a multiple of %llu",
                  static_cast<unsigned long long>(address), static_cast<unsigned long long>(bytes));
    fail(instruction, lane, text);
  }
  if (space == Space::kGeneric) {
    const auto is_in = [address](uint64_t window) { return address - window < kWindowBytes; };
    if (is_in(kSharedWindow)) {
      return locate_shared(instruction, lane, address - kSharedWindow, bytes, writes);
    }
    if (is_in(kLocalWindow)) return locate_local(instruction, lane, address - kLocalWindow, bytes);
    if (is_in(kParamWindow)) {
      return locate_param(instruction, lane, address - kParamWindow, bytes, writes);
    }
    return locate_global(instruction, lane, address, bytes, writes);
  }
  if (space == Space::kShared) return locate_shared(instruction, lane, address, bytes, writes);
  if (space == Space::kLocal) return locate_local(instruction, lane, address, bytes);
  if (space == Space::kParam) return locate_param(instruction, lane, address, bytes, writes);
  return locate_global(instruction, lane, address, bytes, writes);
}

}  // namespace ptx
