// SPDX-License-Identifier: Apache-2.0
// The entries that a device image may have for a loop, and those of the backend's own moves.
#ifndef GUFUNC_BACKENDS_GPU_ENTRY_H
#define GUFUNC_BACKENDS_GPU_ENTRY_H

#include <cstdint>

namespace gufunc::gpu {

enum class Entry : uint8_t {
  // Elementwise loops.
  kRow,
  kNd,
  // Generalized loops.
  kThread,
  kStaged,
  kLanes,
  kBlock,
  // Loops X, X -> X and X, Y -> X in methods.
  kLeaves,
  kJoin,
  kFold,
  kScan,
  kAt,
  kLoopEntries,  // how many there are
  // The backend's own, of any loop: what convert, copy and fill are made of.
  kConvert = kLoopEntries,
  kCopy1,
  kCopy2,
  kCopy4,
  kCopy8,
  kCopy16,
  kTile1,
  kTile2,
  kTile4,
  kTile8,
  kTile16,
  kBytes,
  kFill,
  kEntries
};

// The suffix behind a loop's stem ("_row"), or the whole name of a move's kernel
// ("guf_move_convert").
const char *entry_name(Entry entry);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_ENTRY_H
