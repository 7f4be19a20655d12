// SPDX-License-Identifier: Apache-2.0
// Launches of the entry `row`, for elementwise loops and copies of elements.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H

#include "backends/gpu/geometry/command_sink.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {

// The properties of a loop that `row` needs. Operands have the loop's dtypes, aligned and in native
// byte order.
struct RowLoop {
  Entry entry;
  int nin;
  uint32_t vectors;       // words that a thread processes per operand (DeviceTraits)
  uint32_t immediates;    // bit mask: operands whose address contains the element
  const uint32_t *bytes;  // element size of each operand
  uint64_t status;        // address of the status word, or 0
};

// Shorter rows do not fill a thread's vectors, so `nd` is used instead.
inline constexpr int64_t kShortRow = 32;

// Whether `row` supports the shape, and whether it is faster for it.
bool row_can(const LaunchShape &shape);
inline bool row_should(const LaunchShape &shape) {
  return shape.ndim <= 1 || (shape.size[0] >= kShortRow && row_can(shape));
}

guf_status queue_row(const LaunchShape &shape, const RowLoop &loop, CommandSink &commands,
                     guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_ROW_H
