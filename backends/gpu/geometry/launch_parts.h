// SPDX-License-Identifier: Apache-2.0
// The parts of launch_queue.cc.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H

#include "backends/gpu/geometry/command_sink.h"

namespace gufunc::gpu {

// The status word of a launch, and the floating-point flags to check.
struct LaunchStatus {
  uint64_t address;   // 0: none
  uint32_t fp_flags;  // guf_fp_flag flags
};

// Requires operands of the loop's dtypes, except for casts that `nd` supports.
guf_status queue_elementwise(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// Requires operands of the loop's dtypes, native and aligned, or immediate.
guf_status queue_generalized(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// Operands that must first be copied to scratch memory in the loop's dtypes; bit i is operand i.
// Copying `optional` ones only makes the launch faster.
struct StagedOperands {
  uint32_t needed, optional;
};
guf_status find_staged(const guf_launch_block &block, const CommandSink &commands,
                       StagedOperands *out, guf_error *error);
guf_status queue_staged(const guf_launch_block &block, const StagedOperands &staged,
                        const LaunchStatus &status, CommandSink &commands, guf_error *error);

// Stores an immediate operand as an element of the loop's dtype: as its bits, or in device memory
// if it has 16 bytes or if `in_memory` is set.
guf_status place_immediate(const guf_launch_block &block, int operand, bool in_memory,
                           uint64_t *out_address, CommandSink &commands, guf_error *error);

// Fails with GUF_E_NO_IMAGE.
[[gnu::cold]] guf_status fail_no_entry(guf_error *error, const char *entry);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_LAUNCH_PARTS_H
