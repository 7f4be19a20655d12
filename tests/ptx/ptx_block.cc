// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_block.h"

#include <algorithm>
#include <bit>

namespace ptx {
namespace {

constexpr uint32_t kBarriers = 16;
constexpr uint64_t kTurn = 1 << 20;  // instructions that a warp executes before the next one runs

uint32_t waiting_at(const Warp &warp, uint32_t barrier) {
  uint32_t lanes = 0;
  for_lanes(warp.at_barrier(), [&](uint32_t lane) {
    if (warp.barrier_of(lane) == barrier) lanes |= uint32_t{1} << lane;
  });
  return lanes;
}

}  // namespace

Block::Block(const Launch &launch, const Function &entry, RangeCache *global)
    : order_(launch.order), random_(launch.order.shuffle_seed) {
  state_.program = launch.program;
  state_.entry = &entry;
  state_.arguments = launch.arguments;
  state_.global = global;
  std::copy(launch.blocks, launch.blocks + 3, state_.blocks);
  std::copy(launch.threads, launch.threads + 3, state_.threads);
  state_.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  state_.shared.resize(launch.program->static_shared_bytes() + launch.dynamic_shared_bytes);
  for (uint32_t first = 0; first < state_.nthreads(); first += kWarpSize) {
    warps_.push_back(std::make_unique<Warp>(state_, first / kWarpSize));
    sequence_.push_back(warps_.back().get());
  }
  if (order_.descending) std::reverse(sequence_.begin(), sequence_.end());
}

void Block::run(uint64_t number) {
  state_.block[0] = static_cast<uint32_t>(number % state_.blocks[0]);
  state_.block[1] = static_cast<uint32_t>(number / state_.blocks[0] % state_.blocks[1]);
  state_.block[2] = static_cast<uint32_t>(number / state_.blocks[0] / state_.blocks[1]);
  std::fill(state_.shared.begin(), state_.shared.end(), kFresh);
  state_.hazards.start_block(state_.shared.size());
  for (const auto &warp : warps_) warp->start();
  for (;;) {
    if (order_.shuffle_seed != 0) std::shuffle(sequence_.begin(), sequence_.end(), random_);
    if (run_warps()) continue;
    if (release_barriers()) continue;
    const bool ended = std::all_of(warps_.begin(), warps_.end(),
                                   [](const auto &warp) { return warp->live() == 0; });
    if (ended) return;
    report_deadlock();
  }
}

// Runs each warp until it waits, or for one turn. Returns false if no warp can run.
bool Block::run_warps() {
  bool ran = false;
  for (Warp *warp : sequence_) {
    if (!warp->can_run()) continue;
    warp->run(kTurn);
    ran = true;
  }
  return ran;
}

// Lets the threads continue that wait at a barrier at which all expected threads have arrived. A
// barrier expects all threads of the block, or the number of threads that the instruction names.
bool Block::release_barriers() {
  for (uint32_t barrier = 0; barrier < kBarriers; ++barrier) {
    uint32_t arrived = 0, expected = state_.nthreads();
    for (const auto &warp : warps_) {
      const uint32_t lanes = waiting_at(*warp, barrier);
      if (lanes == 0) continue;
      arrived += static_cast<uint32_t>(std::popcount(lanes));
      const uint32_t named = warp->barrier_count(static_cast<uint32_t>(std::countr_zero(lanes)));
      if (named != 0) expected = named;
    }
    if (arrived == 0 || arrived < expected) continue;
    state_.hazards.pass_barrier();
    for (const auto &warp : warps_) {
      const uint32_t lanes = waiting_at(*warp, barrier);
      if (lanes == 0) continue;
      check_aligned(*warp, lanes);
      warp->pass_barrier(lanes);
    }
    return true;
  }
  return false;
}

// PTX ISA, "bar": all threads of a warp must execute the same instruction, if it is aligned.
void Block::check_aligned(const Warp &warp, uint32_t lanes) const {
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const Instruction &instruction = warp.instruction_of(first);
  if (instruction.mode != kAligned) return;
  bool same = lanes == warp.live();
  for_lanes(lanes,
            [&](uint32_t lane) { same = same && &warp.instruction_of(lane) == &instruction; });
  if (!same) warp.fail(instruction, first, "the lanes of the warp wait at different barriers");
}

void Block::report_deadlock() const {
  uint32_t live = 0, waiting = 0;
  for (const auto &warp : warps_) {
    live += static_cast<uint32_t>(std::popcount(warp->live()));
    waiting += static_cast<uint32_t>(std::popcount(warp->at_barrier()));
  }
  for (const auto &warp : warps_) {
    if (warp->at_barrier() == 0) continue;
    const auto lane = static_cast<uint32_t>(std::countr_zero(warp->at_barrier()));
    warp->fail(warp->instruction_of(lane), lane,
               std::to_string(waiting) + " threads wait at barriers, and " +
                   std::to_string(state_.nthreads() - live) + " of " +
                   std::to_string(state_.nthreads()) + " threads have ended");
  }
  for (const auto &warp : warps_) warp->report_waiting_lanes();
  throw Fault("the block makes no progress");
}

}  // namespace ptx
