// SPDX-License-Identifier: Apache-2.0
// Walks a range of a launch's items, row by row, and calls the loop on each row.
#ifndef GUFUNC_BACKENDS_CPU_ITEM_WALK_H
#define GUFUNC_BACKENDS_CPU_ITEM_WALK_H

#include <gufunc/backend.h>

#include "backends/cpu/host_loop.h"
#include "backends/cpu/tiled_loop.h"

namespace gufunc::cpu {

// How one thread goes over items.
enum class Walk : uint8_t {
  kRows,         // the loop takes rows as they lie, or runs of them that the mask has
  kTiles,        // see TiledLoop
  kNonTemporal,  // see NonTemporalLoop
  kStaged        // see StagedLoop
};

struct ItemTraversal {
  Walk walk;
  Tiling tiles;  // set with kTiles
};

// Decided once for all ranges of a launch, and for whoever asks.
ItemTraversal item_traversal(const guf_launch_block &block);

// Runs a range of a launch's items. They are numbered with dimension 0 fastest. Any range is a
// piece of work of its own: its first and last rows may be parts, but for kTiles. Stops at the
// first failure of a loop that reports one.
// Errors  what the loop returns; GUF_E_NO_MEMORY, GUF_E_DTYPE <= see StagedLoop::open
guf_status run_items(const guf_launch_block &block, const HostLoop &loop,
                     const ItemTraversal &traversal, uint64_t first, uint64_t last,
                     guf_error *error);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_ITEM_WALK_H
