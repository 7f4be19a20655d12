// SPDX-License-Identifier: Apache-2.0
// Creation and launches of plans. The creation makes every decision of guf_call in advance. A
// launch checks the addresses against the plan's assumptions, copies the used parts of the plan's
// block, and calls the backend. A launch with a null stream allocates nothing, takes no lock and
// formats nothing.
#include "core/plan/prepared_plan.h"

#include <gufunc/float_control.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/array/overlap.h"
#include "core/base/caller_state.h"
#include "core/base/fork.h"
#include "core/call/masked_copy.h"
#include "core/call/pipeline.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/separate_outputs.h"
#include "core/call/temporaries.h"
#include "core/plan/plan_text.h"

namespace gufunc::plan {
namespace {

using base::kNone;

guf_status check_given(const op::CallView &call, guf_error *error) {
  if (call.nseparate != 0) {
    return base::fail(
        error, GUF_E_UNSUPPORTED, kNone, kNone,
        "%s: a plan runs in place on inout operands; only a call accepts separate outputs",
        call.ufunc->name.c_str());
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!op::is_missing(call.operand[i])) continue;
    return base::fail(error, GUF_E_ARG, i, kNone,
                      "argument %d is missing: a plan needs all outputs", i);
  }
  return GUF_OK;
}

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

void PreparedPlan::describe_operands(const op::CallView &call) {
  for (int32_t i = 0; i < naddresses_; ++i) {
    const op::OperandView &view = i < call.noperands ? call.operand[i] : call.where;
    const array::ByteSpan span = array::span_of(view.layout);
    operands_.push_back({static_cast<int64_t>(span.first - view.layout.address),
                         static_cast<int64_t>(span.end - view.layout.address), 0, 0, 0});
  }
}

void PreparedPlan::find_pairs(const op::CallView &call, const call::Staging &staging) {
  const op::Signature &signature = call.ufunc->signature;
  const auto add = [&](int32_t a, int32_t b, const op::OperandView &other) {
    if (!call::has_memory(other)) return;
    const uint64_t from = call.operand[a].layout.address;
    pairs_.push_back({a, b, static_cast<int64_t>(from - other.layout.address)});
  };
  for (int32_t o = 0; o < call.noperands; ++o) {
    // Pairs with a staged operand need no check at launch, because the launch accesses the copy of
    // the operand in the workspace.
    if (!signature.writes(o) || staging.contains(o)) continue;
    for (int32_t i = 0; i < call.noperands; ++i) {
      if (i == o || (signature.writes(i) && i < o)) continue;
      if (!staging.contains(i)) add(o, i, call.operand[i]);
    }
    if (masked_ && !staging.contains(noperands_)) add(o, noperands_, call.where);
  }
}

guf_status PreparedPlan::plan_stages(op::CallView &call, const call::Staging &staging,
                                     const broadcast::LoopShape &loop, guf_error *error) {
  // The call keeps pointers to the strides in the stages, so the stages must not move.
  stages_.reserve(static_cast<size_t>(staging.end() - staging.begin()));
  for (const call::StagedOperand &staged : staging) {
    op::OperandView &view = call::staged_view(call, staged);
    array::Layout &layout = view.layout;
    Stage &stage = stages_.emplace_back();
    stage.staged = staged;
    stage.swapped = (view.flags & op::kSwapped) != 0;
    if (staged.whole) {
      call::SpreadLayout all;
      GUF_TRY(call::spread(call, loop, staged.operand, &all, error));
      stage.shape.assign(all.shape, all.shape + all.ndim);
      stage.strides.assign(all.strides, all.strides + all.ndim);
      layout.ndim = all.ndim;
      layout.shape = stage.shape.data();
      layout.strides = stage.strides.data();
    } else {
      stage.shape.assign(layout.shape, layout.shape + layout.ndim);
      stage.strides.assign(layout.strides, layout.strides + layout.ndim);
    }
    GUF_TRY(call::lay_out_copy(layout, staged.dtype, staged.whole, &stage.copy, error));
    GUF_TRY(
        call::append_copy(stage.copy, staged.operand, &workspace_, &stage.workspace_offset, error));
    // The geometry of the launch is computed for the layout of the copy.
    layout.strides = stage.copy.broadcast_strides;
    view.flags &= ~static_cast<uint32_t>(op::kSwapped);
  }
  return GUF_OK;
}

// Prepares the masked stores of staged outputs. Must run after plan_stages, which changes the
// operands to their staged layouts.
guf_status PreparedPlan::plan_masked_stores(const op::CallView &call,
                                            const broadcast::LoopShape &loop, guf_error *error) {
  if (!masked_ || items_ == 0) return GUF_OK;
  for (Stage &stage : stages_) {
    if (!stage.staged.store) continue;
    const op::OperandView &copied = call.operand[stage.staged.operand];
    const memory::CopyOperand outside = {
        {copied.layout.dtype, copied.layout.ndim, stage.shape.data(), stage.strides.data(), 0},
        stage.swapped};
    const int32_t ncore = loop.core_ndim[stage.staged.operand];
    call::MaskedCopy copy;
    GUF_TRY(copy.prepare(call, outside, call::as_copy_operand(copied), ncore, error));
    GUF_TRY(prepare(copy.call, copy.choice, copy.loop, &stage.masked_store, error));
  }
  return GUF_OK;
}

void PreparedPlan::keep_scalars(op::CallView &call) {
  for (int32_t i = 0; i < naddresses_; ++i) {
    op::OperandView &view = i < call.noperands ? call.operand[i] : call.where;
    if ((view.flags & op::kScalar) == 0) continue;
    std::memcpy(scalars_[i], reinterpret_cast<const void *>(view.layout.address),
                dtype::itemsize(view.layout.dtype));
    view.layout.address = reinterpret_cast<uint64_t>(scalars_[i]);
    operands_[static_cast<size_t>(i)].fixed = view.layout.address;
  }
}

guf_status PreparedPlan::take_geometry(const geometry::Request &request, guf_error *error) {
  auto geometry = std::make_unique<geometry::Launch>();
  GUF_TRY(geometry::make_launch(request, geometry.get(), error));
  block_ = geometry->block;
  block_.flags &= ~static_cast<uint32_t>(GUF_LAUNCH_SWAPPED);
  for (int32_t i = 0; i < noperands_; ++i) {
    const op::OperandView &view = request.call.operand[i];
    Operand &operand = operands_[static_cast<size_t>(i)];
    operand.offset = static_cast<int64_t>(block_.address[i] - view.layout.address);
    operand.stride_bits = geometry->stride_bits[i];
    // The alignment is determined at each launch, the byte order when the plan is made.
    block_.operand_flags[i] &= ~static_cast<uint32_t>(GUF_LAUNCH_OPERAND_UNALIGNED);
    if ((block_.operand_flags[i] & GUF_LAUNCH_OPERAND_SWAPPED) != 0)
      block_.flags |= GUF_LAUNCH_SWAPPED;
  }
  if (masked_) {
    operands_[static_cast<size_t>(noperands_)].offset =
        static_cast<int64_t>(block_.mask - request.call.where.layout.address);
  }
  small_ = noperands_ <= kFewOperands && block_.nloop <= 1 && block_.ncore == 0 && !masked_ &&
           stages_.empty();
  if (geometry->nexcess != 0) excess_ = std::move(geometry);
  return GUF_OK;
}

// Describes the launch block for the addresses of the call from which the plan was made.
std::string PreparedPlan::describe_launch() const {
  if (items_ == 0) return "no items: nothing is launched\n";
  guf_launch_block block;
  fill_block(described_.data(), geometry::kDummyAddress, &block);
  std::string text;
  if (excess_ != nullptr) {
    text = "launches: one for each of " + std::to_string(items_ / block_.items) +
           " positions in the outer dimensions\n";
  }
  return text + backend::describe_launch(*device_, kernel_, *loop_, threads_, block);
}

std::string PreparedPlan::text() const {
  return text_ + describe_launch();
}

guf_status PreparedPlan::make(op::CallView &call, base::Ref<PreparedPlan> *out, guf_error *error) {
  GUF_TRY(check_given(call, error));
  if ((call.args->options.fp_report | call.args->options.fp_fail) != 0) {
    return base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                      "fp_report and fp_fail: plans do not detect floating-point flags");
  }
  resolve::Choice choice;
  broadcast::LoopShape loop;
  GUF_TRY(call::decide(call, {}, &choice, &loop, error));
  if (call.auto_placement == op::AutoPlacement::kTransferOutweighsWork)
    call.auto_placement = op::AutoPlacement::kPlan;
  if (call.host_copies != op::HostCopies::kNone) {
    return base::fail(error, GUF_E_UNSUPPORTED, kNone, kNone,
                      "operands are in host memory, which %s cannot access; a plan does not copy "
                      "operands: copy them to the device first",
                      call.device->spec.c_str());
  }
  return prepare(call, choice, loop, out, error);
}

guf_status PreparedPlan::explain(op::CallView &call, std::string *out, guf_error *error) {
  base::collect();  // frees the plans of earlier calls of explain
  resolve::Choice choice;
  broadcast::LoopShape loop;
  call::SeparateOutputs separate(call, nullptr);
  GUF_TRY(call::decide(call, {call::AutoOffload::kWhole, &separate}, &choice, &loop, error));
  uint32_t missing = separate.laid_out();
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!op::is_missing(call.operand[i])) continue;
    GUF_TRY(call::lay_out_missing(call, i, &loop, error));
    call.operand[i].flags = 0;  // as in a call, it influences the layout of later outputs
    missing |= 1U << i;
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (call::has_bit(missing, i)) call.operand[i].flags = op::kMissing;
  }
  GUF_TRY(call::check_fp_flags(call, GUF_BACKEND_FP_FLAGS, error));
  base::Ref<PreparedPlan> plan;
  GUF_TRY(prepare(call, choice, loop, &plan, error));
  *out = plan->text() + separate.text();
  return GUF_OK;
}

guf_status PreparedPlan::prepare(op::CallView &call, const resolve::Choice &choice,
                                 const broadcast::LoopShape &loop, base::Ref<PreparedPlan> *out,
                                 guf_error *error) {
  auto made = base::Ref<PreparedPlan>::adopt(new PreparedPlan);
  PreparedPlan &plan = *made;
  plan.ufunc_ = base::Ref<op::Ufunc>::share(call.ufunc);
  plan.loop_ = choice.loop;
  plan.device_ = call.device;
  plan.threads_ = call.args->options.threads;
  plan.noperands_ = call.noperands;
  plan.masked_ = call.has_where;
  // If the program passed a mask, each launch receives an address for it, even if the mask is the
  // scalar true, which placement removes on devices.
  const guf_operand *where = call.args->where;
  const bool has_mask = call.has_where || (where != nullptr && where->kind != GUF_OPERAND_NONE);
  plan.naddresses_ = call.noperands + (has_mask ? 1 : 0);
  plan.items_ = loop.items;
  GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &plan.kernel_, error));
  call::OverlapCopies copies = {0, 0, false};
  call::find_overlaps(call, &copies);
  const bool overwrites = call::overwrites_first(call, choice, loop);
  const call::Staging staging = call::Staging::of_plan(call, copies, overwrites);
  plan.describe_operands(call);
  plan.find_pairs(call, staging);
  plan.keep_scalars(call);
  const std::string overlaps = describe_overlaps(call, staging);
  GUF_TRY(plan.plan_stages(call, staging, loop, error));
  GUF_TRY(plan.plan_masked_stores(call, loop, error));
  GUF_TRY(plan.take_geometry({call, loop, choice}, error));
  plan.quiet_ =
      plan.device_->host_memory && !op::is_host_function(*plan.loop_) && plan.stages_.empty();
  plan.text_ = describe_plan(call, loop, choice, plan.block_, plan.workspace_) + overlaps;
  for (int32_t i = 0; i < plan.naddresses_; ++i) {
    plan.described_.push_back((i < plan.noperands_ ? call.operand[i] : call.where).layout.address);
  }
  *out = std::move(made);
  return GUF_OK;
}

guf_status PreparedPlan::check_addresses(const uint64_t *addresses, uint64_t workspace,
                                         guf_error *error) const {
  for (int32_t i = 0; i < naddresses_; ++i) {
    if (__builtin_expect(addresses[i] == 0 && operands_[static_cast<size_t>(i)].fixed == 0, 0)) {
      return base::fail(error, GUF_E_ARG, i, kNone, "addresses[%d] is 0", i);
    }
  }
  if (__builtin_expect(workspace_ != 0, 0)) {
    if (workspace == 0 || workspace % call::kWorkspaceAlignment != 0) {
      return base::fail(
          error, GUF_E_ARG, kNone, kNone,
          "the plan needs a workspace of %llu bytes, aligned to %d; got address 0x%llx",
          static_cast<unsigned long long>(workspace_), static_cast<int>(call::kWorkspaceAlignment),
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
    const int32_t i = stage.staged.operand;
    if (i == n) continue;
    const Operand &operand = operands_[static_cast<size_t>(i)];
    block->address[i] = workspace + stage.workspace_offset + static_cast<uint64_t>(operand.offset);
  }
  for (int32_t i = 0; i < n; ++i) {
    geometry::flag_alignment(block, i, operands_[static_cast<size_t>(i)].stride_bits);
  }
  block->mask = 0;
  if (!masked_) return;
  const Operand &mask = operands_[static_cast<size_t>(n)];
  block->mask = mask.fixed != 0 ? mask.fixed : addresses[n];
  for (const Stage &stage : stages_) {
    if (stage.staged.operand == n) block->mask = workspace + stage.workspace_offset;
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
    if (!(load ? stage.staged.load : stage.staged.store)) continue;
    if (!load && stage.masked_store.get() != nullptr) {
      GUF_TRY(store_masked(stage, stream, addresses, workspace, error));
      continue;
    }
    const auto ndim = static_cast<int32_t>(stage.shape.size());
    const int32_t operand = stage.staged.operand;
    const uint64_t fixed = operands_[static_cast<size_t>(operand)].fixed;
    const uint64_t address = fixed != 0 ? fixed : addresses[operand];
    const memory::CopyOperand outside = {
        {stage.staged.dtype, ndim, stage.copy.shape, stage.strides.data(), address},
        stage.swapped,
        fixed != 0};
    const memory::CopyOperand inside = {{stage.staged.dtype, ndim, stage.copy.shape,
                                         stage.copy.strides, workspace + stage.workspace_offset},
                                        false};
    GUF_TRY(load ? memory::convert(*device_, stream, inside, outside, error)
                 : memory::convert(*device_, stream, outside, inside, error));
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
    if (other.staged.operand == noperands_) mask = workspace + other.workspace_offset;
  }
  const uint64_t masked_addresses[] = {workspace + stage.workspace_offset,
                                       addresses[stage.staged.operand], mask};
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
