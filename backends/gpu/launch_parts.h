// SPDX-License-Identifier: Apache-2.0
// What launch_queue.cc is made of.
#ifndef GUFUNC_BACKENDS_GPU_LAUNCH_PARTS_H
#define GUFUNC_BACKENDS_GPU_LAUNCH_PARTS_H

#include "backends/gpu/command_sink.h"

namespace gufunc::gpu {

// What entries write into the status word, and what they look for.
struct LaunchStatus {
  uint64_t address;  // 0: nothing
  uint32_t watch;    // guf_fp_event
};

// Operands are of the loop's types but for casts that `nd` knows.
guf_status queue_elementwise(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// Operands are of the loop's types, in order and aligned, or immediate.
guf_status queue_generalized(const guf_launch_block &block, const LaunchStatus &status,
                             CommandSink &commands, guf_error *error);

// Operands that have to be brought into scratch memory of the loop's types first; bit i is operand
// i. `optional` ones only gain by it.
struct StagedOperands {
  uint32_t needed, optional;
};
guf_status find_staged(const guf_launch_block &block, const CommandSink &commands,
                       StagedOperands *out, guf_error *error);
guf_status queue_staged(const guf_launch_block &block, const StagedOperands &staged,
                        const LaunchStatus &status, CommandSink &commands, guf_error *error);

// An immediate operand as an element of the loop's type: its bits, or memory that holds it when it
// has 16 bytes or `in_memory`.
guf_status place_immediate(const guf_launch_block &block, int operand, bool in_memory,
                           uint64_t *out_address, CommandSink &commands, guf_error *error);

// GUF_E_NO_IMAGE
[[gnu::cold]] guf_status fail_no_entry(guf_error *error, const char *entry);

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_LAUNCH_PARTS_H
