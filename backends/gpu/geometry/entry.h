// SPDX-License-Identifier: Apache-2.0
// Lists the entries of device images: the entries of a loop, and the entries of the backend's own
// copy and cast kernels.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_ENTRY_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_ENTRY_H

#include <cstdint>

namespace gufunc::gpu {

enum class Entry : uint8_t {
  // Entries of elementwise loops.
  kRow,
  kNd,
  // Entries of generalized loops.
  kThread,
  kStaged,
  kLanes,
  kBlock,
  // Entries of loops X, X -> X and X, Y -> X, which methods use.
  kLeaves,
  kJoin,
  kFold,
  kScan,
  kAt,
  kLoopEntries,  // the number of entries of a loop
  // The backend's own entries, which convert, copy and fill. They do not belong to a loop.
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

// Returns the symbol name of an entry: the suffix after a loop's stem ("_row"), or the complete
// name of a copy or cast kernel ("guf_copy_convert").
const char *entry_name(Entry entry);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_ENTRY_H
