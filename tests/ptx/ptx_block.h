// SPDX-License-Identifier: Apache-2.0
// The warps of a block and their barriers.
#ifndef GUFUNC_TESTS_PTX_PTX_BLOCK_H
#define GUFUNC_TESTS_PTX_PTX_BLOCK_H

#include <memory>
#include <random>
#include <vector>

#include "tests/ptx/ptx_grid.h"
#include "tests/ptx/ptx_warp.h"

namespace ptx {

class Block {
 public:
  Block(const Launch &launch, const Function &entry, RangeCache *global);

  // Runs the block with this number. Throws Fault.
  void run(uint64_t number);

  uint64_t lane_instructions() const { return state_.lane_instructions; }

 private:
  void order_warps();
  bool run_warps();
  bool release_barriers();
  void check_aligned(const Warp &warp, uint32_t lanes) const;
  [[noreturn]] void report_deadlock() const;

  BlockState state_;
  Order order_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<Warp *> sequence_;
};

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_BLOCK_H
