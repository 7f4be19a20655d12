// SPDX-License-Identifier: Apache-2.0
// The functions of launch_queue.cc that are implemented in separate files.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// The status word of a launch and the floating-point flags that the launch must check.
struct LaunchStatus {
  uint64_t address;   // 0: no status word
  uint32_t fp_flags;  // flags of guf_fp_flag
};

// Requires operands of the loop's dtypes, except for casts that the entry `nd` supports.
guf_status queue_elementwise(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// Requires operands of the loop's dtypes that are native and aligned, or immediate.
guf_status queue_generalized(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// The operands that must first be copied to scratch memory in the loop's dtypes, as bit masks.
// Copying the `optional` operands only makes the launch faster.
struct StagedOperands {
  uint32_t needed, optional;
};
guf_status find_staged(const guf_launch_block &block, const CommandSink &commands,
                       StagedOperands *out, guf_error *error);
guf_status queue_staged(const guf_launch_block &block, const StagedOperands &staged,
                        const LaunchStatus &status, CommandSink &commands, guf_error *error);

// Converts an immediate operand to the loop's dtype. Writes the bits of the element to *out_address
// or, if the element has 16 bytes or `in_memory` is set, the address of the element in device
// memory.
guf_status place_immediate(const guf_launch_block &block, int operand, bool in_memory,
                           uint64_t *out_address, CommandSink &commands, guf_error *error);

// Reports GUF_E_NO_IMAGE.
[[gnu::cold]] guf_status fail_no_entry(guf_error *error, const char *entry);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H
