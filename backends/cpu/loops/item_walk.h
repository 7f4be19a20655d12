// SPDX-License-Identifier: Apache-2.0
// Runs a range of a launch's items row by row. A row consists of the items along dimension 0.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H
#define GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/host_loop.h"
#include "backends/cpu/loops/tiled_loop.h"

namespace gufunc::cpu {

// The traversal of the items of a launch by one thread.
enum class Walk : uint8_t {
  kRows,         // row by row in place; with a mask, only the runs of items that it selects
  kTiles,        // tile by tile, with TiledLoop
  kNonTemporal,  // row by row, with NonTemporalLoop
  kStaged        // row by row, with StagedLoop
};

struct ItemTraversal {
  Walk walk;
  Tiling tiles;  // used only by kTiles
};

// Determines the traversal once for all ranges of a launch.
// describe_launch also uses the result.
ItemTraversal item_traversal(const guf_launch_block &block);

// Runs the items [first, last), numbered with dimension 0 fastest.
// Ranges are independent of each other. The first and the last row of a range may be partial,
// except for kTiles. Stops at the first failure that the loop reports.
// Errors  the loop's failure; GUF_E_NO_MEMORY, GUF_E_DTYPE <= see StagedLoop::open
guf_status run_items(const guf_launch_block &block, const HostLoop &loop,
                     const ItemTraversal &traversal, uint64_t first, uint64_t last,
                     guf_error *error);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H
