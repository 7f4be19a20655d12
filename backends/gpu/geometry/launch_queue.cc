// SPDX-License-Identifier: Apache-2.0
// Checks a launch, determines the operands to stage and queues the launch.
#include "backends/gpu/geometry/launch_queue.h"

#include <cstring>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_parts.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kLaunchFlags = GUF_LAUNCH_GENERALIZED | GUF_LAUNCH_ANY_THREAD |
                                  GUF_LAUNCH_STATUS | GUF_LAUNCH_MASKED | GUF_LAUNCH_CAST |
                                  GUF_LAUNCH_SWAPPED;

guf_status check_launch(const guf_launch_block &block, guf_error *error) {
  const uint32_t unknown = block.flags & ~kLaunchFlags;
  if (__builtin_expect(unknown != 0, 0)) {
    return fail(error, GUF_E_UNSUPPORTED, "launch flags: 0x%x is not known to this plugin",
                unknown);
  }
  if (__builtin_expect(block.noperands > kMaxOperands, 0)) {
    return fail(error, GUF_E_UNSUPPORTED,
                "the loop has %d operands; on a device it may have at most %d", block.noperands,
                kMaxOperands);
  }
  if ((block.flags & GUF_LAUNCH_GENERALIZED) == 0) return GUF_OK;
  if (block.ncore > guf::device::kCoreNames) {
    return fail(error, GUF_E_UNSUPPORTED,
                "the signature has %d core dimensions; on a device it may have at most %d",
                block.ncore, int{guf::device::kCoreNames});
  }
  for (int i = 0; i < block.noperands; ++i) {
    if (block.core_ndim[i] <= guf::device::kCoreStrides) continue;
    return fail(error, GUF_E_UNSUPPORTED,
                "operand %d has %d core dimensions; on a device it may have at most %d", i,
                block.core_ndim[i], int{guf::device::kCoreStrides});
  }
  return GUF_OK;
}

// Returns the requested floating-point flags that the function can raise (docs/fp-flags.md).
uint32_t requested_fp_flags(const guf_launch_block &block, const guf_fp_status *fp_status) {
  if (fp_status == nullptr) return 0;
  uint32_t fp_flags = fp_status->report | fp_status->fail;
  if ((fp_status->function_flags & GUF_FUNCTION_UNDERFLOWS) == 0) {
    fp_flags &= ~uint32_t{GUF_FP_UNDERFLOW};
  }
  if ((fp_status->function_flags & GUF_FUNCTION_DIVIDES) == 0 || block.ncore != 0) {
    fp_flags &= ~uint32_t{GUF_FP_INTEGER_DIVIDE};
  }
  return fp_flags;
}

}  // namespace

guf_status fail_no_entry(guf_error *error, const char *entry) {
  return fail(error, GUF_E_NO_IMAGE,
              "the kernel's image lacks the entry '%s', which the launch requires", entry);
}

guf_status place_immediate(const guf_launch_block &block, int operand, bool in_memory,
                           uint64_t *out_address, CommandSink &commands, guf_error *error) {
  const guf_dtype from = block.dtype[operand], to = block.loop_dtype[operand];
  ElementCast cast = {};
  if (!choose_cast(from, to, &cast)) return fail_no_cast(error, operand, from, to);
  const auto *const host = reinterpret_cast<const void *>(block.address[operand]);
  const guf::device::raw_element raw =
      cast_on_host(host, from, block.operand_flags[operand], to, cast);
  *out_address = raw.lo;
  if (!in_memory && dtype_size(to) <= 8) return GUF_OK;
  return commands.upload(&raw, sizeof raw, out_address, error);
}

guf_status queue_launch(const guf_backend_launch &launch, CommandSink &commands, guf_error *error) {
  const guf_launch_block &block = *launch.block;
  GUF_BACKEND_TRY(check_launch(block, error));
  if (block.items == 0) return GUF_OK;
  StagedOperands staged;
  GUF_BACKEND_TRY(find_staged(block, commands, &staged, error));
  LaunchStatus status = {0, requested_fp_flags(block, launch.fp_status)};
  if (status.fp_flags != 0 || (block.flags & GUF_LAUNCH_STATUS) != 0) {
    GUF_BACKEND_TRY(commands.status_word(&status.address, error));
  }
  if (__builtin_expect((staged.needed | staged.optional) != 0, 0)) {
    return queue_staged(block, staged, status, commands, error);
  }
  return (block.flags & GUF_LAUNCH_GENERALIZED) != 0
             ? queue_generalized(block, status, commands, error)
             : queue_elementwise(block, status, commands, error);
}

}  // namespace gufunc::gpu
