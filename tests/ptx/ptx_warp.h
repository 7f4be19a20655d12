// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes with a program counter each. Lanes with the same program counter in the same
// activation of a function execute together. Among the groups of lanes that can run, the warp runs
// the one with the deepest activation and, among these, the lowest program counter, so lanes that
// diverged meet again at the first instruction that all of them reach.
#ifndef GUFUNC_TESTS_PTX_PTX_WARP_H
#define GUFUNC_TESTS_PTX_PTX_WARP_H

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/ptx/ptx_hazards.h"
#include "tests/ptx/ptx_memory.h"
#include "tests/ptx/ptx_program.h"

namespace ptx {

constexpr uint32_t kAllLanes = 0xFFFF'FFFF;

// Calls f(lane) for each bit of `lanes`.
template <class F>
inline void for_lanes(uint32_t lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<uint32_t>(std::countr_zero(lanes)));
}

// An activation of a function, which all lanes that made the call together share.
struct Frame {
  const Function *function = nullptr;
  Frame *caller = nullptr;
  uint32_t call = 0;       // index of the call in the caller
  uint32_t return_pc = 0;  // instruction of the caller after the call
  uint32_t depth = 0;
  uint32_t lanes = 0;  // lanes that have not returned
  uint32_t local_base = 0;
  uint32_t carry = 0;  // the condition code register CC.CF of each lane
  std::vector<std::array<uint64_t, kWarpSize>> registers;
  std::vector<uint32_t> predicates;
  std::vector<uint32_t> ready, predicates_ready;  // lanes that have written the register
  std::vector<unsigned char> area;                // the parameter area of each lane

  // The area of a lane, which is aligned, begins with the address `area_first`.
  uint64_t area_first() const { return function->uniform_bytes & ~uint64_t{15}; }
  size_t area_stride() const { return align_up(function->area_bytes - area_first(), 16); }
  unsigned char *area_of(uint32_t lane, uint64_t address) {
    return area.data() + area_stride() * lane + (address - area_first());
  }
};

// The state that the warps of a block share.
struct BlockState {
  Program *program = nullptr;
  const Function *entry = nullptr;
  const unsigned char *arguments = nullptr;
  RangeCache *global = nullptr;
  uint32_t block[3] = {0, 0, 0}, blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  std::vector<unsigned char> shared;
  Hazards hazards;
  uint64_t dynamic_shared_bytes = 0;
  uint64_t lane_instructions = 0;  // instructions executed, counted once per lane

  uint32_t nthreads() const { return threads[0] * threads[1] * threads[2]; }
};

class Warp {
 public:
  Warp(BlockState &block, uint32_t index);

  // Prepares the warp for the first instruction of the entry.
  void start();
  // Runs until no lane can run, or until the warp has executed `budget` instructions.
  void run(uint64_t budget);

  bool can_run() const { return runnable_ != 0; }
  uint32_t live() const { return live_; }
  // Lanes that wait at a barrier of the block.
  uint32_t at_barrier() const { return at_barrier_; }
  // The barrier at which a lane waits: its number, and the number of threads that it expects or 0.
  uint32_t barrier_of(uint32_t lane) const { return lanes_[lane].barrier; }
  uint32_t barrier_count(uint32_t lane) const { return lanes_[lane].barrier_count; }
  const Instruction &instruction_of(uint32_t lane) const;
  // Lets lanes continue after their barrier.
  void pass_barrier(uint32_t lanes);
  // Throws a Fault that describes the lanes that wait for lanes of this warp. Does nothing if there
  // are none.
  void report_waiting_lanes() const;

  // The following functions are for handlers.
  Frame &frame() { return *frame_; }
  BlockState &block() { return block_; }
  const uint64_t *values(const Operand &operand) const;
  uint64_t *registers(const Operand &operand) { return frame_->registers[operand.index].data(); }
  uint32_t predicate(const Operand &operand) const;
  void set_predicate(const Operand &operand, uint32_t lanes, uint32_t value);
  // Returns the host address of bytes that an instruction accesses. Throws Fault if the access is
  // not allowed.
  unsigned char *locate(const Instruction &instruction, uint32_t lane, Space space,
                        uint64_t address, uint64_t bytes, bool writes);
  [[noreturn]] void fail(const Instruction &instruction, uint32_t lane,
                         const std::string &text) const;

 private:
  struct Lane {
    Frame *frame = nullptr;
    uint32_t pc = 0;
    uint32_t barrier = 0, barrier_count = 0;
  };

  bool choose();
  void run_group();
  uint32_t guarded(const Instruction &instruction, uint32_t lanes) const;
  void check_inputs(const Instruction &instruction, uint32_t lanes) const;
  uint32_t ready_lanes(const Operand &operand) const;
  uint32_t defined_lanes(const Instruction &instruction, uint32_t lanes) const;
  void mark_outputs(const Instruction &instruction, uint32_t lanes, uint32_t written);
  void set_pc(uint32_t lanes, uint32_t pc);
  // Each of these functions ends the run of a group, or returns true if the group continues after
  // the instruction.
  bool branch(const Instruction &instruction, uint32_t taken);
  void call(const Instruction &instruction, uint32_t lanes);
  void leave(uint32_t lanes);
  void exit(uint32_t lanes);
  bool warp_sync(const Instruction &instruction, uint32_t lanes);
  void barrier(const Instruction &instruction, uint32_t lanes);
  void execute(const Instruction &instruction, uint32_t lanes);
  bool release_syncs();
  uint32_t members_of(const Instruction &instruction, uint32_t lanes) const;
  uint32_t waiting_with(uint32_t lane) const;

  Frame *new_frame(const Function &function, uint32_t lanes, uint32_t local_base);
  void free_frame(Frame *frame);
  void set_presets(Frame &frame);
  uint64_t special_value(const Frame &frame, const Preset &preset, uint32_t lane) const;
  void copy_parameters(const Instruction &instruction, Frame &from, Frame &to, uint32_t lanes);
  std::string thread_name(uint32_t lane) const;
  [[noreturn]] void fail_unwritten(const Instruction &instruction, uint32_t lanes,
                                   size_t position) const;
  unsigned char *locate_param(const Instruction &instruction, uint32_t lane, uint64_t address,
                              uint64_t bytes, bool writes);
  unsigned char *locate_local(const Instruction &instruction, uint32_t lane, uint64_t address,
                              uint64_t bytes);
  unsigned char *locate_shared(const Instruction &instruction, uint32_t lane, uint64_t address,
                               uint64_t bytes, bool writes);
  unsigned char *locate_global(const Instruction &instruction, uint32_t lane, uint64_t address,
                               uint64_t bytes, bool writes);

  BlockState &block_;
  const uint32_t first_thread_;
  std::array<Lane, kWarpSize> lanes_;
  uint32_t live_ = 0, runnable_ = 0, at_sync_ = 0, at_barrier_ = 0;

  // The group that runs.
  Frame *frame_ = nullptr;
  uint32_t group_ = 0, pc_ = 0;
  uint32_t limit_ = 0;  // the lowest program counter of other lanes of the activation
  uint32_t last_group_ = 0;
  bool is_unfair_ = false;  // the last group ran for long while others waited
  uint64_t budget_ = 0;
  uint32_t syncs_ = 0;  // number of `bar.warp.sync` that the warp has executed

  std::vector<std::unique_ptr<Frame>> frames_;
  std::vector<Frame *> free_frames_;
  std::unique_ptr<unsigned char[]> local_;
};

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_WARP_H
