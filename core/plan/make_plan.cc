// SPDX-License-Identifier: Apache-2.0
// Creation of plans, which makes every decision of guf_call in advance.
#include <algorithm>
#include <cstring>

#include "core/array/overlap.h"
#include "core/base/checked.h"
#include "core/call/masked_copy.h"
#include "core/call/pipeline.h"
#include "core/call/requested_fp_flags.h"
#include "core/call/separate_outputs.h"
#include "core/call/temporaries.h"
#include "core/plan/plan_text.h"
#include "core/plan/prepared_plan.h"

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

}  // namespace

void PreparedPlan::describe_operands(const op::CallView &call) {
  for (int32_t i = 0; i < naddresses_; ++i) {
    const op::OperandView &view = i < call.noperands ? call.operand[i] : call.where;
    const array::ByteSpan span = array::span_of(view.layout);
    operands_.push_back({static_cast<int64_t>(span.first - view.layout.address),
                         static_cast<int64_t>(span.end - view.layout.address), 0, 0, 0});
  }
}

void PreparedPlan::find_pairs(const op::CallView &call, const call::OverlapCopies &copies) {
  const op::Signature &signature = call.ufunc->signature;
  const auto add = [&](int32_t a, int32_t b, const op::OperandView &other) {
    if (!call::has_memory(other)) return;
    const uint64_t from = call.operand[a].layout.address;
    pairs_.push_back({a, b, static_cast<int64_t>(from - other.layout.address)});
  };
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!signature.writes(o)) continue;
    for (int32_t i = 0; i < call.noperands; ++i) {
      if (i == o || (signature.writes(i) && i < o)) continue;
      // Pairs with a staged operand need no check at launch, because the launch accesses the copy
      // of the operand in the workspace.
      if (call::has_bit(copies.copied | copies.staged, i) || call::has_bit(copies.staged, o))
        continue;
      add(o, i, call.operand[i]);
    }
    if (masked_ && !copies.mask_copied && !call::has_bit(copies.staged, o))
      add(o, noperands_, call.where);
  }
}

guf_status PreparedPlan::add_stage(op::OperandView *operand, int32_t index, bool load, bool store,
                                   guf_error *error) {
  const array::Layout &layout = operand->layout;
  const auto ndim = static_cast<size_t>(layout.ndim);
  Stage stage = {index,
                 layout.dtype,
                 (operand->flags & op::kSwapped) != 0,
                 load,
                 store,
                 0,
                 layout.ndim,
                 std::vector<int64_t>(layout.shape, layout.shape + ndim),
                 std::vector<int64_t>(layout.strides, layout.strides + ndim),
                 {},
                 {}};
  stage.staged_shape.resize(ndim);
  stage.staged_strides.resize(ndim);
  call::staged_shape(layout, stage.staged_shape.data());
  array::contiguous_strides(layout.dtype, layout.ndim, stage.staged_shape.data(), GUF_ORDER_C,
                            stage.staged_strides.data());
  uint64_t size = 0;
  GUF_TRY(
      array::count_elements(layout.dtype, layout.ndim, stage.staged_shape.data(), &size, error));
  stage.workspace_offset = workspace_;
  const uint64_t nbytes = size * dtype::itemsize(layout.dtype);
  const uint64_t rounded =
      (nbytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
  if (!base::checked_add(workspace_, rounded, &workspace_)) {
    return base::fail(error, GUF_E_SHAPE, index, kNone, "the workspace's size overflows");
  }
  stages_.push_back(std::move(stage));
  return GUF_OK;
}

guf_status PreparedPlan::plan_stages(op::CallView &call, const call::OverlapCopies &copies,
                                     guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  stages_.reserve(static_cast<size_t>(naddresses_));
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (call::has_bit(copies.copied, i))
      GUF_TRY(add_stage(&call.operand[i], i, true, false, error));
    if (call::has_bit(copies.staged, i)) {
      GUF_TRY(add_stage(&call.operand[i], i, masked_ || signature.reads(i), true, error));
    }
  }
  if (copies.mask_copied) GUF_TRY(add_stage(&call.where, noperands_, true, false, error));
  // The geometry of the launch is computed for the staged layouts.
  for (Stage &stage : stages_) {
    op::OperandView &view = stage.operand == noperands_ ? call.where : call.operand[stage.operand];
    int64_t *const strides =
        call.stride_buffer[stage.operand == noperands_ ? GUF_MAX_OPERANDS : stage.operand];
    const array::Layout staged = {stage.dtype, stage.ndim, stage.staged_shape.data(),
                                  stage.staged_strides.data(), 0};
    call::staged_strides(view.layout, staged, strides);
    view.layout.strides = strides;
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
    if (!stage.store) continue;
    const memory::CopyOperand outside = {
        {stage.dtype, stage.ndim, stage.shape.data(), stage.strides.data(), 0}, stage.swapped};
    const int32_t ncore = loop.core_ndim[stage.operand];
    call::MaskedCopy copy;
    GUF_TRY(copy.prepare(call, outside, call::as_copy_operand(call.operand[stage.operand]), ncore,
                         error));
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
  constexpr uint64_t kDummyAddress = uint64_t{1}
                                     << 40;  // an aligned address that is never accessed
  guf_launch_block block;
  fill_block(described_.data(), kDummyAddress, &block);
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
  // Each launch receives an address for a mask that the program passed, even if the mask is the
  // scalar true, which placement removes on devices.
  const guf_operand *where = call.args->where;
  const bool has_mask = call.has_where || (where != nullptr && where->kind != GUF_OPERAND_NONE);
  plan.naddresses_ = call.noperands + (has_mask ? 1 : 0);
  plan.items_ = loop.items;
  GUF_TRY(backend::load_kernel(*call.ufunc, *choice.loop, *call.device, &plan.kernel_, error));
  call::OverlapCopies copies = {0, 0, false};
  call::find_overlaps(call, &copies);
  // The mask must be copied, because it is read again when staged outputs are
  // stored, after other outputs have been written.
  if (copies.staged != 0 && call.has_where && call::has_memory(call.where))
    copies.mask_copied = true;
  plan.describe_operands(call);
  plan.find_pairs(call, copies);
  plan.keep_scalars(call);
  const std::string overlaps = describe_overlaps(call, copies);
  GUF_TRY(plan.plan_stages(call, copies, error));
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

}  // namespace gufunc::plan
