// SPDX-License-Identifier: Apache-2.0
// Resolves and describes a reduction with a user-defined accumulator.
#include <algorithm>

#include "core/call/placement.h"
#include "core/method/decide.h"
#include "core/method/state_decide.h"
#include "core/op/state_fold.h"
#include "core/plan/plan_text.h"

namespace gufunc::method {
namespace {

void describe_states(const FoldView &view, const StateResults &results,
                     const StateDecision &decision, guf_resolution *out) {
  const array::Layout &input = view.call.operand[kInput].layout;
  out->loop = decision.leaf.index;
  out->noperands = 1 + results.count;
  out->loop_dtypes[0] = decision.leaf.loop->types[op::kLeafElements];
  out->dtypes[0] = input.dtype;
  for (int32_t k = 0; k < results.count; ++k) {
    out->loop_dtypes[1 + k] = decision.result[k];
    out->dtypes[1 + k] = results.result[k].layout.dtype;
    describe_result(input, decision.folded, decision.axes, k, out);
  }
}

std::string describe_state(const StateDecision &decision) {
  std::string text = "(";
  for (int32_t k = 0; k < decision.nstates; ++k)
    text += (k > 0 ? ", " : "") + std::string(dtype::name(decision.state[k]));
  return text + ")";
}

}  // namespace

guf_status resolve_states(FoldView &view, StateResults &results, guf_resolution *out,
                          guf_error *error) {
  StateDecision decision;
  GUF_TRY(decide_states(view, results, &decision, error));
  describe_states(view, results, decision, out);
  return GUF_OK;
}

guf_status explain_states(FoldView &view, StateResults &results, std::string *out,
                          guf_error *error) {
  StateDecision decision;
  guf_resolution resolution = {};
  GUF_TRY(decide_states(view, results, &decision, error));
  describe_states(view, results, decision, &resolution);
  op::CallView &call = view.call;
  const op::StateFold &fold = *call.ufunc->state_fold();
  *out = call.ufunc->full_name + ".reduce on " + call.device->spec + ": " +
         plan::describe_loop(call, decision.leaf) + "\n" + call::describe_auto(call);
  *out += plan::describe_operand(call, kInput, resolution.loop_dtypes[0]);
  const array::Layout &input = call.operand[kInput].layout;
  int64_t stride = 0;
  if (decision.elements != 0 &&
      (!find_fold_stride(input, input, decision.folded, &stride) ||
       (call.has_where && !find_fold_stride(call.where.layout, input, decision.folded, &stride)))) {
    *out += call.has_where ? "copied first: argument 1 and the mask" : "copied first: argument 1";
    *out += ", as the reduced axes have no common stride\n";
  }
  for (int32_t k = 0; k < results.count; ++k) {
    *out += "result " + std::to_string(k) + ": " + dtype::name(resolution.dtypes[1 + k]) +
            ", shape " +
            plan::describe_list(resolution.output_shapes[k], resolution.output_ndims[k]) + "\n";
  }
  *out += "state " + describe_state(decision) + " of leaves of " + std::to_string(GUF_LEAF_SIZE) +
          " elements in C order over the reduced axes, merged in pairs by " + fold.merge->full_name;
  *out += fold.finish ? ", finished by " + fold.finish->full_name + "\n" : "\n";
  return GUF_OK;
}

}  // namespace gufunc::method
