// SPDX-License-Identifier: Apache-2.0
// Launches of plans. A launch checks the addresses against the plan's assumptions, copies the
// used parts of the plan's block, and calls the backend. A launch with a null stream allocates
// nothing, takes no lock and formats nothing.
#include "core/plan/prepared_plan.h"

#include <gufunc/float_control.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/base/caller_state.h"
#include "core/base/fork.h"
#include "core/call/pipeline.h"

namespace gufunc::plan {
namespace {

using base::kNone;

[[gnu::cold, gnu::noinline]] guf_status fail_overlap(int32_t a, int32_t b, guf_error *error) {
  return base::fail(error, GUF_E_PLAN_MISMATCH, a, kNone,
                    "arguments %d and %d overlap differently than when the plan was made", a, b);
}

template <class T>
inline void copy_few(const T *from, int32_t count, T *to) {
  for (int32_t k = 0; k < count; ++k) to[k] = from[k];
}

// PERF. Most calls have few operands. A copy of fixed size needs one or two
// instructions, whereas a loop over the operands is a call of memcpy or a vectorised
// loop with a prologue (19 of the 29 ns of a launch).
template <class T>
inline void copy_fixed(const T *from, T *to) {
  std::memcpy(to, from, static_cast<size_t>(kFewOperands) * sizeof(T));
}

}  // namespace

guf_status PreparedPlan::check_addresses(const uint64_t *addresses, uint64_t workspace,
                                         guf_error *error) const {
  for (int32_t i = 0; i < naddresses_; ++i) {
    if (__builtin_expect(addresses[i] == 0 && operands_[static_cast<size_t>(i)].fixed == 0, 0)) {
      return base::fail(error, GUF_E_ARG, i, kNone, "addresses[%d] is 0", i);
    }
  }
  if (__builtin_expect(workspace_ != 0, 0)) {
    if (workspace == 0 || workspace % kWorkspaceAlignment != 0) {
      return base::fail(
          error, GUF_E_ARG, kNone, kNone,
          "the plan needs a workspace of %llu bytes, aligned to %d; got address 0x%llx",
          static_cast<unsigned long long>(workspace_), static_cast<int>(kWorkspaceAlignment),
          static_cast<unsigned long long>(workspace));
    }
  }
  for (const Pair &pair : pairs_) {
    const Operand &a = operands_[static_cast<size_t>(pair.a)];
    const Operand &b = operands_[static_cast<size_t>(pair.b)];
    const auto distance = static_cast<int64_t>(addresses[pair.a] - addresses[pair.b]);
    const bool apart = distance + a.first >= b.end || distance + a.end <= b.first;
    if (__builtin_expect(!apart && distance != pair.distance, 0)) {
      return fail_overlap(pair.a, pair.b, error);
    }
  }
  return GUF_OK;
}

void PreparedPlan::fill_block(const uint64_t *addresses, uint64_t workspace,
                              guf_launch_block *block) const {
  const guf_launch_block &from = block_;
  const int32_t n = noperands_;
  block->noperands = n;
  block->nin = from.nin;
  block->nloop = from.nloop;
  block->ncore = from.ncore;
  block->ncorestrides = from.ncorestrides;
  block->flags = from.flags;
  block->items = from.items;
  copy_few(from.size, 1 + from.ncore, block->size);
  copy_few(from.step, n + from.ncorestrides, block->step);
  copy_few(from.core_name, from.ncorestrides, block->core_name);
  for (int32_t k = 0; k + 1 < from.nloop; ++k) {
    block->outer_size[k] = from.outer_size[k];
    copy_few(from.outer_step[k], n, block->outer_step[k]);
  }
  for (int32_t i = 0; i < n; ++i) {
    const Operand &operand = operands_[static_cast<size_t>(i)];
    const uint64_t base = operand.fixed != 0 ? operand.fixed : addresses[i];
    block->address[i] = base + static_cast<uint64_t>(operand.offset);
    block->dtype[i] = from.dtype[i];
    block->loop_dtype[i] = from.loop_dtype[i];
    block->operand_flags[i] = from.operand_flags[i];
    block->core_ndim[i] = from.core_ndim[i];
  }
  for (const Stage &stage : stages_) {
    if (stage.operand == n) continue;
    const Operand &operand = operands_[static_cast<size_t>(stage.operand)];
    block->address[stage.operand] =
        workspace + stage.workspace_offset + static_cast<uint64_t>(operand.offset);
  }
  for (int32_t i = 0; i < n; ++i) {
    geometry::flag_alignment(block, i, operands_[static_cast<size_t>(i)].stride_bits);
  }
  block->mask = 0;
  if (!masked_) return;
  const Operand &mask = operands_[static_cast<size_t>(n)];
  block->mask = mask.fixed != 0 ? mask.fixed : addresses[n];
  for (const Stage &stage : stages_) {
    if (stage.operand == n) block->mask = workspace + stage.workspace_offset;
  }
  block->mask += static_cast<uint64_t>(mask.offset);
  copy_few(from.mask_step, std::max(from.nloop, 1), block->mask_step);
}

// Like fill_block, for few operands, one loop dimension, no mask, no core dimensions, no stages.
void PreparedPlan::fill_small_block(const uint64_t *addresses, guf_launch_block *block) const {
  const guf_launch_block &from = block_;
  static_assert(offsetof(guf_launch_block, size) == 32);
  std::memcpy(block, &from, offsetof(guf_launch_block, size));
  block->size[0] = from.size[0];
  copy_fixed(from.step, block->step);
  copy_fixed(from.dtype, block->dtype);
  copy_fixed(from.loop_dtype, block->loop_dtype);
  copy_fixed(from.operand_flags, block->operand_flags);
  copy_fixed(from.core_ndim, block->core_ndim);
  block->mask = 0;
  for (int32_t i = 0; i < noperands_; ++i) {
    const Operand &operand = operands_[static_cast<size_t>(i)];
    const uint64_t base = operand.fixed != 0 ? operand.fixed : addresses[i];
    block->address[i] = base + static_cast<uint64_t>(operand.offset);
    geometry::flag_alignment(block, i, operand.stride_bits);
  }
}

guf_status PreparedPlan::copy_stages(bool load, backend::Stream *stream, const uint64_t *addresses,
                                     uint64_t workspace, guf_error *error) const {
  for (const Stage &stage : stages_) {
    if (!(load ? stage.load : stage.store)) continue;
    if (!load && stage.masked_store.get() != nullptr) {
      GUF_TRY(store_masked(stage, stream, addresses, workspace, error));
      continue;
    }
    const memory::CopyOperand outside = {{stage.dtype, stage.ndim, stage.shape.data(),
                                          stage.strides.data(), addresses[stage.operand]},
                                         stage.swapped};
    const memory::CopyOperand inside = {
        {stage.dtype, stage.ndim, stage.staged_shape.data(), stage.staged_strides.data(),
         workspace + stage.workspace_offset},
        false};
    // Elements of broadcast axes are copied once, so both operands have the staged shape.
    memory::CopyOperand outside_once = outside;
    outside_once.layout.shape = stage.staged_shape.data();
    GUF_TRY(load ? memory::convert(*device_, stream, inside, outside_once, error)
                 : memory::convert(*device_, stream, outside_once, inside, error));
  }
  return GUF_OK;
}

// Stores a staged output where the mask is true. Earlier stores cannot have changed the mask,
// because the mask is in the workspace or is a scalar in this plan.
guf_status PreparedPlan::store_masked(const Stage &stage, backend::Stream *stream,
                                      const uint64_t *addresses, uint64_t workspace,
                                      guf_error *error) const {
  uint64_t mask = 0;
  for (const Stage &other : stages_) {
    if (other.operand == noperands_) mask = workspace + other.workspace_offset;
  }
  const uint64_t masked_addresses[] = {workspace + stage.workspace_offset, addresses[stage.operand],
                                       mask};
  return stage.masked_store->queue(stream, masked_addresses, 0, error);
}

guf_status PreparedPlan::run_excess(backend::Stream *stream, const guf_launch_block &block,
                                    guf_error *error) const {
  geometry::Launch launch;
  launch.block = block;
  launch.nexcess = excess_->nexcess;
  for (int32_t k = 0; k < launch.nexcess; ++k) {
    launch.excess_size[k] = excess_->excess_size[k];
    launch.excess_mask_step[k] = excess_->excess_mask_step[k];
    copy_few(excess_->excess_step[k], noperands_, launch.excess_step[k]);
  }
  return call::run(*device_, stream, kernel_, *loop_, threads_, nullptr, &launch, error);
}

guf_status PreparedPlan::launch(backend::Stream *stream, int32_t naddresses,
                                const uint64_t *addresses, uint64_t workspace, guf_error *error) {
  if (__builtin_expect(naddresses != naddresses_, 0)) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "addresses: expected %d, got %d", naddresses_,
                      naddresses);
  }
  if (__builtin_expect(stream != nullptr && stream->device != device_, 0)) {
    return base::fail(error, GUF_E_DEVICE_MISMATCH, kNone, kNone,
                      "the stream is of %s, the plan of %s", stream->device->spec.c_str(),
                      device_->spec.c_str());
  }
  if (items_ == 0) return GUF_OK;
  GUF_TRY(check_addresses(addresses, workspace, error));
  backend::ErrorRecord record(error);
  if (__builtin_expect(quiet_ && stream == nullptr, 1)) {
    return queue(nullptr, addresses, workspace, record.get());
  }
  const base::CallerState kept;
  const guf_status status = queue(stream, addresses, workspace, record.get());
  ensure_default_float_control();
  // Queued work reads the plan's scalars and runs the ufunc's code, even if a later step failed.
  // The plan, which contains both, is therefore retained until the work is done. A device with its
  // own memory has copied the scalars with the launch, and its plugin retains the code.
  if (stream != nullptr && device_->host_memory) backend::retain_until_done(*stream, *this);
  return status;
}

guf_status PreparedPlan::queue(backend::Stream *stream, const uint64_t *addresses,
                               uint64_t workspace, guf_error *error) const {
  if (!stages_.empty()) GUF_TRY(copy_stages(true, stream, addresses, workspace, error));
  guf_launch_block block;
  if (small_) {
    fill_small_block(addresses, &block);
  } else {
    fill_block(addresses, workspace, &block);
  }
  GUF_TRY(excess_ == nullptr
              ? backend::launch(*device_, stream, kernel_, *loop_, threads_, block, nullptr, error)
              : run_excess(stream, block, error));
  return stages_.empty() ? GUF_OK : copy_stages(false, stream, addresses, workspace, error);
}

}  // namespace gufunc::plan
