// SPDX-License-Identifier: Apache-2.0
// Runs a kernel of a PTX text on a grid of blocks, one block after the other, in the calling
// thread. A kernel whose blocks wait for one another never ends.
#ifndef GUFUNC_TESTS_PTX_PTX_GRID_H
#define GUFUNC_TESTS_PTX_PTX_GRID_H

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/ptx/ptx_memory.h"
#include "tests/ptx/ptx_program.h"

namespace ptx {

// The order of the blocks of a grid and of the warps of a block.
struct Order {
  bool descending = false;
  uint64_t shuffle_seed = 0;  // if it is not 0, the order is random
};

struct Launch {
  Program *program = nullptr;
  std::string_view entry;
  const unsigned char *arguments = nullptr;
  uint64_t argument_bytes = 0;
  uint32_t blocks[3] = {1, 1, 1};
  uint32_t threads[3] = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;
  GlobalMemory *memory = nullptr;
  Order order;
  // Runs only this many blocks at each end of the grid, if it is not 0.
  uint64_t edges = 0;
};

struct Result {
  std::string fault;               // empty if the kernel ended without an error
  uint64_t lane_instructions = 0;  // executed instructions, counted once per lane
};

Result run(const Launch &launch);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_GRID_H
