// SPDX-License-Identifier: Apache-2.0
// Executes one launch on the calling thread and the pool, and returns when the launch is complete.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_CPU_LAUNCH_H
#define GUFUNC_BACKENDS_CPU_LOOPS_CPU_LAUNCH_H

#include <gufunc/backend.h>

namespace gufunc::cpu {

// Errors  the status that a GUF_LAUNCH_STATUS loop returns;
//         GUF_E_LOOP <= the loop returned a value that is not an error code; `native_code`
//         contains the value;
//         GUF_E_NO_MEMORY <= no scratch memory for staged operands;
//         GUF_E_DTYPE <= a staged operand has a dtype without casts
guf_status execute_launch(const guf_backend_launch &launch, guf_error *error);

// The flags of launches whose items cannot all be passed to the loop in place: a mask excludes some
// of them, or their elements must be converted.
inline constexpr uint32_t kMaskedOrStagedFlags =
    GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED;

[[gnu::cold]] guf_status fail_flags(uint32_t unknown, guf_error *error);

// Errors  GUF_E_UNSUPPORTED <= a flag that this plugin does not support
inline guf_status check_flags(const guf_launch_block &block, guf_error *error) {
  constexpr uint32_t kKnown = GUF_LAUNCH_GENERALIZED | GUF_LAUNCH_ANY_THREAD | GUF_LAUNCH_STATUS |
                              GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST | GUF_LAUNCH_SWAPPED |
                              GUF_LAUNCH_ERROR;
  const uint32_t unknown = block.flags & ~kKnown;
  return __builtin_expect(unknown == 0, 1) ? guf_status{GUF_OK} : fail_flags(unknown, error);
}

// Implements the `convert` slot.  Errors  GUF_E_DTYPE <= the pair of dtypes has no cast
guf_status execute_convert(const guf_launch_block &block, guf_error *error);

// execute_copy copies memory; a large copy uses several threads. execute_fill fills memory with
// copies of a pattern; `pattern_size` is 1..16.
void execute_copy(uint64_t dst, uint64_t src, uint64_t size);
void execute_fill(uint64_t dst, const void *pattern, uint32_t pattern_size, uint64_t count);

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_CPU_LAUNCH_H
