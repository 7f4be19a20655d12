// SPDX-License-Identifier: Apache-2.0
// Launches of the entry `row`, which runs elementwise loops and copies elements.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {

// The properties of a loop that `row` needs. The operands have the loop's dtypes,
// are aligned and are in native byte order.
struct RowLoop {
  Entry entry;
  int nin;
  uint32_t vectors;       // number of words of each operand that a thread processes (DeviceTraits)
  uint32_t immediates;    // bit mask of operands whose address is the element itself
  const uint32_t *bytes;  // element sizes of the operands
  uint64_t status;        // address of the status word, or 0
};

// Rows of fewer than kShortRow elements do not fill the vectors of a thread, so the entry `nd` runs
// launches with such rows.
inline constexpr int64_t kShortRow = 32;

// Returns whether `row` supports the shape.
bool row_supports(const LaunchShape &shape);
// Returns whether `row` supports the shape and is the fastest entry for it.
inline bool prefers_row(const LaunchShape &shape) {
  return shape.ndim <= 1 || (shape.size[0] >= kShortRow && row_supports(shape));
}

guf_status queue_row(const LaunchShape &shape, const RowLoop &loop, CommandSink &commands,
                     guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H
