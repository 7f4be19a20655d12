// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_text.h"

#include "core/backend/backend.h"
#include "core/call/placement.h"
#include "core/resolve/weak_scalar.h"

namespace gufunc::plan {
namespace {

std::string describe_block(const guf_launch_block &block, const broadcast::LoopShape &loop) {
  std::string text = "broadcast shape " + describe_list(loop.extent, loop.ndim) + ", " +
                     std::to_string(loop.items) + " items\n";
  text += "loop dimensions after coalescing, innermost first:";
  for (int32_t k = 0; k < block.nloop; ++k) {
    const int64_t *const step = k == 0 ? block.step : block.outer_step[k - 1];
    text += " " + std::to_string(k == 0 ? block.size[0] : block.outer_size[k - 1]) + " by " +
            describe_list(step, block.noperands);
  }
  text += block.nloop == 0 ? " none\n" : "\n";
  if (block.ncore > 0) text += "core sizes " + describe_list(block.size + 1, block.ncore) + "\n";
  return text;
}

bool requests_types(const op::CallView &call) {
  return call.args != nullptr && (call.args->dtype != 0 || call.args->signature != nullptr);
}

// Returns whether the operand casts safely to `type`. A weak scalar already has the dtype of the
// chosen loop, so its kind is used instead.
bool is_taken_safely(const op::OperandView &operand, guf_dtype type) {
  if (resolve::is_weak(operand)) return resolve::adopts(operand.kind, type);
  return dtype::can_cast(operand.layout.dtype, type, GUF_CASTING_SAFE);
}

}  // namespace

std::string describe_list(const int64_t *values, int32_t count) {
  std::string text = "(";
  for (int32_t k = 0; k < count; ++k) {
    text += (k > 0 ? "," : "") + std::to_string(values[k]);
  }
  return text + (count == 1 ? ",)" : ")");
}

std::string describe_loop(const op::CallView &call, const resolve::Choice &choice) {
  return "loop " + std::to_string(choice.index) + " " +
         op::types_of(*call.ufunc, *choice.loop).c_str() + ", " +
         (choice.loop->host != nullptr    ? "registered host function"
          : choice.loop->table != nullptr ? "kernel of a module"
                                          : "kernel of the backend");
}

std::string describe_operand(const op::CallView &call, int32_t i, guf_dtype loop_dtype) {
  const op::OperandView &operand = call.operand[i];
  const op::Signature &signature = call.ufunc->signature;
  const array::Layout &layout = operand.layout;
  const char *role = signature.reads(i) && signature.writes(i) ? "inout"
                     : signature.writes(i)                     ? "out"
                                                               : "in";
  std::string text =
      "argument " + std::to_string(i) + ": " + role + ", " + dtype::name(layout.dtype);
  if (layout.dtype != loop_dtype) {
    text += signature.reads(i) ? " cast to " : " cast from ";
    text += dtype::name(loop_dtype);
  }
  if ((operand.flags & op::kScalar) != 0) return text + ", scalar kept by value\n";
  text += ", shape " + describe_list(layout.shape, layout.ndim) + ", strides " +
          describe_list(layout.strides, layout.ndim);
  if ((operand.flags & op::kSwapped) != 0) text += ", swapped";
  return text + (op::is_missing(operand) ? ", to allocate\n" : "\n");
}

std::string describe_refused(const op::CallView &call, const resolve::Choice &choice,
                             const char *otherwise, bool last_first) {
  std::string text;
  const std::vector<op::Loop *> &loops = call.ufunc->loops().loops;
  for (uint32_t k = 0; k < choice.index && k < loops.size(); ++k) {
    const op::Loop &loop = *loops[k];
    std::string why = otherwise;
    const int32_t nin = requests_types(call) ? 0 : call.ufunc->nin();
    for (int32_t n = 0; n < nin; ++n) {
      const int32_t i = last_first ? n : nin - 1 - n;
      const guf_dtype type = loop.types[static_cast<size_t>(i)];
      if (is_taken_safely(call.operand[i], type)) continue;
      why = "argument " + std::to_string(i) + " cannot be cast safely to " + dtype::name(type);
    }
    text += std::string("  refused ") + op::types_of(*call.ufunc, loop).c_str() + ": " + why + "\n";
  }
  return text;
}

std::string describe_plan(const op::CallView &call, const broadcast::LoopShape &loop,
                          const resolve::Choice &choice, const guf_launch_block &block,
                          uint64_t workspace) {
  std::string text = call.ufunc->full_name + " on " + call.device->spec + ": " +
                     describe_loop(call, choice) + ", casting " +
                     dtype::casting_name(call.casting) + "\n";
  text += call::describe_auto(call, choice, loop);
  text += backend::describe_kernel(*call.ufunc, *choice.loop, *call.device);
  text += describe_refused(call, choice,
                           requests_types(call) ? "signature= or dtype= requests other types"
                                                : "the rule for its types prefers a later one");
  for (int32_t i = 0; i < call.noperands; ++i) {
    text += describe_operand(call, i, choice.loop->types[static_cast<size_t>(i)]);
  }
  if (call.has_where) {
    text += "where: shape " + describe_list(call.where.layout.shape, call.where.layout.ndim) + "\n";
  }
  text += describe_block(block, loop);
  text += call.ufunc->signature.generalized ? "generalized launch\n" : "elementwise launch\n";
  return text + "workspace " + std::to_string(workspace) + " bytes\n";
}

std::string describe_overlaps(const op::CallView &call, const call::Staging &staging) {
  std::string text;
  for (const call::StagedOperand &staged : staging) {
    if (!staged.whole) continue;
    text += "argument " + std::to_string(staged.operand) +
            ": copied to the workspace, because the kernel overwrites it\n";
  }
  for (int32_t o = 0; o < call.noperands; ++o) {
    if (!call.ufunc->signature.writes(o)) continue;
    for (int32_t i = 0; i < call.noperands; ++i) {
      if (i == o || (call.operand[i].flags & op::kScalar) != 0) continue;
      const bool staged = staging.contains(i) || staging.contains(o);
      const call::Overlap overlap = call::overlap_of(call, o, i);
      text += "arguments " + std::to_string(o) + " and " + std::to_string(i) + ": " +
              (overlap == call::Overlap::kDisjoint    ? "disjoint"
               : overlap == call::Overlap::kIdentical ? "the same view"
               : staged                               ? "overlapping, staged through the workspace"
                                                      : "overlapping") +
              "\n";
    }
  }
  return text;
}

}  // namespace gufunc::plan
