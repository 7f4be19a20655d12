// SPDX-License-Identifier: Apache-2.0
// Calls guf_call, guf_resolve, guf_explain, guf_call_chunked and plans with arbitrary operands. No
// byte outside the operands may be accessed, and invalid calls must be rejected with a message.
#include <gufunc/chunks.h>

#include <algorithm>
#include <vector>

#include "drawn_operand.h"
#include "target.h"
#include "tests/support/requests.h"

namespace gufunc::fuzz {
namespace {

constexpr int32_t kMaxOperands = 4;

// The operands are static, because mapping their memory again for each input would take most of the
// time.
DrawnOperand operands[kMaxOperands];
DrawnOperand mask;

struct DrawnCall {
  guf_operand inputs[kMaxOperands];
  guf_operand outputs[kMaxOperands];
  guf_operand where;
  guf_dtype signature[kMaxOperands];
  int64_t axis_of_axes[8];
  guf_core_axes axes[4];
  int64_t axis = 0;
  guf_dim dim = {"p", 2};
  uint32_t fp_flags = 0;
  guf_call_args args = {};

  void draw(ByteReader *bytes, guf_ufunc ufunc);
  // Releases output arrays that a call allocated.
  void release_outputs();
};

void DrawnCall::draw(ByteReader *bytes, guf_ufunc ufunc) {
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  check(guf_ufunc_get_info(ufunc, &info, nullptr) == GUF_OK, "guf_ufunc_get_info");
  args.struct_size = sizeof args;
  args.ninputs = info.nin;
  args.noutputs = bytes->one_in(4) ? 0 : info.nout;
  if (bytes->one_in(32)) args.ninputs = static_cast<int32_t>(bytes->below(kMaxOperands));
  const int32_t nin = std::min(args.ninputs, kMaxOperands - 1);
  const DrawnShape shape = DrawnShape::draw(bytes);
  for (int32_t i = 0; i < kMaxOperands; ++i) {
    DrawnOperand &operand = operands[i];
    operand.draw(bytes, shape, i >= nin);
    if (i > 0 && bytes->one_in(4)) {
      operand.overlap(operands[bytes->below(static_cast<uint32_t>(i))], bytes);
    }
    (i < nin ? inputs[i] : outputs[i - nin]) = operand.operand();
  }
  if (bytes->one_in(8)) outputs[0] = {};  // an output that the call allocates
  args.inputs = inputs;
  args.outputs = outputs;
  mask.clear();
  if (bytes->one_in(4)) {
    mask.draw(bytes, shape, false);
    where = mask.operand();
    args.where = &where;
  }
  args.casting = static_cast<int32_t>(bytes->below(7));
  args.order = static_cast<int32_t>(bytes->below(5));
  args.options.threads = bytes->below(4);
  args.flags = bytes->one_in(8) ? bytes->below(4) : 0;
  if (bytes->one_in(8)) args.dtype = draw_dtype(bytes);
  if (bytes->one_in(8)) {
    for (guf_dtype &type : signature) type = bytes->one_in(2) ? 0 : draw_dtype(bytes);
    args.signature = signature;
    args.nsignature = info.nin + info.nout;
  }
  if (bytes->one_in(8)) {
    for (int64_t &each : axis_of_axes) each = static_cast<int8_t>(bytes->byte()) % 6;
    for (guf_core_axes &entry : axes) {
      const uint32_t first = bytes->below(4);
      entry = {axis_of_axes + first, static_cast<int32_t>(bytes->below(5)), 0};
    }
    args.axes = axes;
    args.naxes = static_cast<int32_t>(bytes->below(5));
  }
  if (bytes->one_in(8)) {
    axis = static_cast<int8_t>(bytes->byte()) % 6;
    args.axis = &axis;
  }
  if (bytes->one_in(16)) {
    args.dims = &dim;
    args.ndims = 1;
  }
  if (bytes->one_in(8)) {
    args.options.fp_flags = &fp_flags;
    args.options.fp_report = bytes->below(16);
    args.options.fp_fail = bytes->below(16);
  }
}

bool can_run() {
  return mask.can_run() && std::all_of(std::begin(operands), std::end(operands),
                                       [](const DrawnOperand &each) { return each.can_run(); });
}

bool is_intact() {
  return mask.is_intact() && std::all_of(std::begin(operands), std::end(operands),
                                         [](const DrawnOperand &each) { return each.is_intact(); });
}

void DrawnCall::release_outputs() {
  for (guf_operand &output : outputs) {
    if (output.kind == GUF_OPERAND_ARRAY) guf_array_release(output.array, nullptr);
    output.kind = GUF_OPERAND_NONE;
  }
}

// Returns whether every output of a resolved call has at most kMaxItems elements.
bool is_small(const guf_resolution &resolution, int32_t noutputs) {
  for (int32_t i = 0; i < noutputs; ++i) {
    DrawnShape shape;
    shape.ndim = resolution.output_ndims[i];
    std::copy_n(resolution.output_shapes[i], shape.ndim, shape.extent.begin());
    if (shape.items(kMaxItems) > kMaxItems) return false;
  }
  return true;
}

void run_plan(guf_ufunc ufunc, DrawnCall *call) {
  guf_error error = fresh_error();
  guf_plan plan = nullptr;
  const guf_status created = guf_plan_create(ufunc, &call->args, &plan, &error);
  demand_report(created, error);
  if (created != GUF_OK) return;
  uint64_t nbytes = 0, alignment = 1;
  check(guf_plan_workspace(plan, &nbytes, &alignment, nullptr) == GUF_OK, "guf_plan_workspace");
  std::vector<unsigned char> workspace(nbytes + alignment);
  uint64_t addresses[kMaxOperands + 1];
  int32_t count = 0;
  const auto add = [&](const guf_operand &operand) {
    addresses[count++] = operand.kind == GUF_OPERAND_TENSOR ? operand.tensor->address : 0;
  };
  std::for_each(call->inputs, call->inputs + call->args.ninputs, add);
  std::for_each(call->outputs, call->outputs + call->args.noutputs, add);
  if (call->args.where != nullptr) add(call->where);
  const auto start = reinterpret_cast<uint64_t>(workspace.data());
  error = fresh_error();
  demand_report(guf_plan_launch(plan, nullptr, count, addresses,
                                (start + alignment - 1) / alignment * alignment, &error),
                error);
  guf_plan_release(plan, nullptr);
}

void run_chunked(guf_ufunc ufunc, ByteReader *bytes, DrawnCall *call) {
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = bytes->byte() * uint64_t{8};
  options.depth = static_cast<int32_t>(bytes->below(4));
  options.first_item = static_cast<int8_t>(bytes->byte()) % 4;
  int64_t items = 0;
  guf_error error = fresh_error();
  demand_report(guf_call_chunked(ufunc, &call->args, &options, &items, &error), error);
}

void run(ByteReader *bytes) {
  const guf_ufunc ufunc = draw_ufunc(bytes);
  const uint32_t how = bytes->below(8);
  DrawnCall call;
  call.draw(bytes, ufunc);

  static guf_resolution resolution;
  resolution.struct_size = sizeof resolution;
  guf_error error = fresh_error();
  const guf_status resolved = requests::resolve_call(ufunc, &call.args, &resolution, &error);
  demand_report(resolved, error);
  uint64_t length = 0;
  error = fresh_error();
  demand_report(requests::explain_call(ufunc, &call.args, nullptr, &length, &error), error);
  if (!can_run() || resolved != GUF_OK) return;
  const int32_t noutputs = resolution.noperands - call.args.ninputs;
  if (!is_small(resolution, noutputs)) return;
  if (how < 5) {
    error = fresh_error();
    demand_report(guf_call(ufunc, &call.args, &error), error);
  } else if (how < 7) {
    run_plan(ufunc, &call);
  } else {
    run_chunked(ufunc, bytes, &call);
  }
  check(is_intact(), "bytes outside of the operands are unchanged");
  call.release_outputs();
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::ByteReader bytes(data, size);
  gufunc::fuzz::run(&bytes);
  return 0;
}
