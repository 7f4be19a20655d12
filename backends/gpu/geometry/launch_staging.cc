// SPDX-License-Identifier: Apache-2.0
// Stages operands that an entry cannot access directly. Inputs are copied to scratch memory before
// the launch, and results are copied back after the launch.

#include "backends/gpu/geometry/copy_commands.h"
#include "backends/gpu/geometry/gpu_host.h"
#include "backends/gpu/geometry/launch_parts.h"
#include "backends/gpu/geometry/launch_shape.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kStoredFlags = GUF_LAUNCH_OPERAND_SWAPPED | GUF_LAUNCH_OPERAND_UNALIGNED;

// Transposing an operand costs two passes over it. Without transposing,
// `row` reads a memory sector for each element.
constexpr uint64_t kMinTransposedItems = uint64_t{1} << 16;  // number of items
constexpr int64_t kTransposedSide = 16;

// Returns whether an input should be transposed. Transposing is useful if the input is contiguous
// along a dimension other than 0, while all outputs are contiguous along dimension 0.
bool is_transposed(const guf_launch_block &block, int operand) {
  const uint64_t bytes = dtype_size(block.dtype[operand]);
  if (abs_step(block.step[operand]) < 4 * bytes || block.size[0] < kTransposedSide) return false;
  bool along = false;
  for (int d = 1; d < block.nloop; ++d) {
    const int64_t step = block.outer_step[d - 1][operand];
    // The operand is broadcast, so a copy would not reduce the work.
    if (step == 0) return false;
    along = along ||
            (step == static_cast<int64_t>(bytes) && block.outer_size[d - 1] >= kTransposedSide);
  }
  for (int i = block.nin; i < block.noperands; ++i) {
    along = along && block.step[i] == static_cast<int64_t>(dtype_size(block.dtype[i]));
  }
  return along;
}

// The copy of one operand to or from scratch memory.
struct StagedOperand {
  int operand;
  LaunchShape shape;  // operand 0 is the launch's operand, operand 1 the scratch memory
};

// Computes the operand's steps in scratch memory, writes
// them to `inner` and returns the size of the scratch memory.
// A dimension with step 0 is left out, because all its elements are the same. An empty dimension is
// kept, so that nothing is copied.
uint64_t lay_out(const guf_launch_block &block, int operand, guf_launch_block *inner,
                 StagedOperand *out) {
  out->operand = operand;
  LaunchShape &shape = out->shape;
  shape.count = 2;
  shape.ndim = 0;
  shape.items = 1;
  // The mask of results must be set first, because merging dimensions uses the steps of the mask.
  shape.mask = block.mask;
  if ((block.flags & GUF_LAUNCH_MASKED) == 0) shape.mask = 0;
  int64_t next = dtype_size(block.loop_dtype[operand]);
  const auto add = [&](int64_t size, int64_t step, int64_t mask_step) -> int64_t {
    if (size == 1 || (step == 0 && size != 0)) return 0;
    const int64_t steps[2] = {step, next};
    add_dimension(&shape, size, steps, mask_step);
    shape.items *= static_cast<uint64_t>(size);
    next *= size;
    return steps[1];
  };
  int first = block.noperands;
  for (int i = 0; i < operand; ++i) first += block.core_ndim[i];
  for (int j = block.core_ndim[operand] - 1; j >= 0; --j) {
    const int place = first + j - block.noperands;
    inner->step[first + j] = add(block.size[1 + block.core_name[place]], block.step[first + j], 0);
  }
  if (block.nloop > 0) {
    inner->step[operand] = add(block.size[0], block.step[operand], block.mask_step[0]);
  }
  for (int d = 1; d < block.nloop; ++d) {
    inner->outer_step[d - 1][operand] =
        add(block.outer_size[d - 1], block.outer_step[d - 1][operand], block.mask_step[d]);
  }
  return static_cast<uint64_t>(next == 0 ? 1 : next);
}

guf_status stage_in(const guf_launch_block &block, guf_launch_block *inner, StagedOperand *out,
                    CommandSink &commands, guf_error *error) {
  const int i = out->operand;
  const bool read = i < block.nin || (block.operand_flags[i] & GUF_LAUNCH_OPERAND_READ) != 0;
  out->shape.address[0] = block.address[i];
  out->shape.address[1] = inner->address[i];
  inner->dtype[i] = block.loop_dtype[i];
  inner->operand_flags[i] &= ~kStoredFlags;
  if (!read) return GUF_OK;
  LaunchShape whole = out->shape;
  whole.mask = 0;
  return queue_copy(&whole, {block.dtype[i], block.operand_flags[i]}, {block.loop_dtype[i], 0},
                    commands, error);
}

guf_status stage_out(const guf_launch_block &block, const StagedOperand &staged,
                     CommandSink &commands, guf_error *error) {
  const int i = staged.operand;
  if ((block.operand_flags[i] & GUF_LAUNCH_OPERAND_WRITTEN) == 0) return GUF_OK;
  LaunchShape back = staged.shape;
  std::swap(back.address[0], back.address[1]);
  for (int d = 0; d < back.ndim; ++d) std::swap(back.step[d][0], back.step[d][1]);
  return queue_copy(&back, {block.loop_dtype[i], 0},
                    {block.dtype[i], block.operand_flags[i] & kStoredFlags}, commands, error);
}

}  // namespace

guf_status find_staged(const guf_launch_block &block, const CommandSink &commands,
                       StagedOperands *out, guf_error *error) {
  *out = {0, 0};
  const bool generalized = (block.flags & GUF_LAUNCH_GENERALIZED) != 0;
  const bool may_transpose = !generalized && block.items >= kMinTransposedItems &&
                             block.nloop >= 2 && (block.flags & GUF_LAUNCH_MASKED) == 0 &&
                             commands.has(Entry::kRow);
  for (int i = 0; i < block.noperands; ++i) {
    const uint32_t flags = block.operand_flags[i];
    if ((flags & GUF_LAUNCH_OPERAND_IMMEDIATE) != 0) continue;
    const bool stored = (flags & kStoredFlags) != 0;
    bool needed = generalized && stored;
    if (__builtin_expect(block.dtype[i] != block.loop_dtype[i], 0)) {
      ElementCast in = {}, back = {};
      const guf_dtype from = block.dtype[i], to = block.loop_dtype[i];
      const bool written = (flags & GUF_LAUNCH_OPERAND_WRITTEN) != 0;
      const bool read = !written || (flags & GUF_LAUNCH_OPERAND_READ) != 0;
      if (read && !choose_cast(from, to, &in)) return fail_no_cast(error, i, from, to);
      if (written && !choose_cast(to, from, &back)) return fail_no_cast(error, i, to, from);
      needed = needed || in.kind != guf::device::kRecast || back.kind != guf::device::kRecast;
      needed = needed || (generalized && !((!read || in.same) && (!written || back.same)));
    } else if (may_transpose && i < block.nin && !stored && is_transposed(block, i)) {
      out->optional |= 1U << i;
    }
    if (needed) out->needed |= 1U << i;
  }
  return GUF_OK;
}

guf_status queue_staged(const guf_launch_block &block, const StagedOperands &staged,
                        const LaunchStatus &status, CommandSink &commands, guf_error *error) {
  guf_launch_block inner = block;
  StagedOperand operands[kMaxOperands];
  int nstaged = 0;
  for (int i = 0; i < block.noperands; ++i) {
    const bool needed = (staged.needed >> i & 1U) != 0;
    if (!needed && (staged.optional >> i & 1U) == 0) continue;
    guf_launch_block tried = inner;
    const uint64_t bytes = lay_out(block, i, &tried, &operands[nstaged]);
    const guf_status allocated = commands.scratch(bytes, &tried.address[i], error);
    if (allocated != GUF_OK && needed) return allocated;
    if (allocated != GUF_OK) continue;
    inner = tried;
    GUF_BACKEND_TRY(stage_in(block, &inner, &operands[nstaged++], commands, error));
  }
  GUF_BACKEND_TRY((block.flags & GUF_LAUNCH_GENERALIZED) != 0
                      ? queue_generalized(inner, status, commands, error)
                      : queue_elementwise(inner, status, commands, error));
  for (int k = 0; k < nstaged; ++k) GUF_BACKEND_TRY(stage_out(block, operands[k], commands, error));
  return GUF_OK;
}

}  // namespace gufunc::gpu
