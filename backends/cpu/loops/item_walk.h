// SPDX-License-Identifier: Apache-2.0
// Visits a range of a launch's items, row by row, and calls the loop on each row.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H
#define GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H

#include <gufunc/backend.h>

#include "backends/cpu/loops/host_loop.h"
#include "backends/cpu/loops/tiled_loop.h"

namespace gufunc::cpu {

// How one thread visits items.
enum class Walk : uint8_t {
  kRows,         // whole rows without a copy, or the runs of a row that the mask selects
  kTiles,        // see TiledLoop
  kNonTemporal,  // see NonTemporalLoop
  kStaged        // see StagedLoop
};

struct ItemTraversal {
  Walk walk;
  Tiling tiles;  // only for kTiles
};

// Determined once for all ranges of a launch; also used to describe a launch.
ItemTraversal item_traversal(const guf_launch_block &block);

// Runs a range of a launch's items, numbered with dimension 0 fastest. Ranges are independent: the
// first and the last row can be partial, except for kTiles. Stops at the first failure of a loop
// that reports one.
// Errors  what the loop returns; GUF_E_NO_MEMORY, GUF_E_DTYPE <= see StagedLoop::open
guf_status run_items(const guf_launch_block &block, const HostLoop &loop,
                     const ItemTraversal &traversal, uint64_t first, uint64_t last,
                     guf_error *error);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_ITEM_WALK_H
