// SPDX-License-Identifier: Apache-2.0
// Launches of `row`, for elementwise loops and copies of elements.
#ifndef GUFUNC_BACKENDS_GPU_LAUNCH_ROW_H
#define GUFUNC_BACKENDS_GPU_LAUNCH_ROW_H

#include "backends/gpu/command_sink.h"
#include "backends/gpu/launch_shape.h"

namespace gufunc::gpu {

// What `row` has to know of a loop. Operands are of the loop's types, aligned and in order.
struct RowLoop {
  Entry entry;
  int nin;
  uint32_t vectors;       // words that a thread moves per operand (DeviceTraits)
  uint32_t immediates;    // bits: operands whose address holds the element
  const uint32_t *bytes;  // of each operand's elements
  uint64_t status;        // address of the status word, or 0
};

// Rows shorter than this waste a thread's vectors: `nd` is taken instead.
inline constexpr int64_t kShortRow = 32;

// Whether `row` can walk this at all; whether it should.
bool row_can(const LaunchShape &shape);
inline bool row_should(const LaunchShape &shape) {
  return shape.ndim <= 1 || (shape.size[0] >= kShortRow && row_can(shape));
}

guf_status queue_row(const LaunchShape &shape, const RowLoop &loop, CommandSink &commands,
                     guf_error *error);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_LAUNCH_ROW_H
