// SPDX-License-Identifier: Apache-2.0
// Calls reduce, accumulate, reduceat, at and outer with arbitrary operands, axes and indices. No
// byte outside the operands may be accessed, and invalid calls must be rejected with a message.
#include <algorithm>

#include "drawn_operand.h"
#include "target.h"
#include "tests/support/requests.h"

namespace gufunc::fuzz {
namespace {

// The operands are static, because mapping their memory again for each input would take most of the
// time.
DrawnOperand input, output, mask, initial, indices[2];

struct Keywords {
  guf_dtype dtype = 0;
  int32_t order = 0;
  uint32_t threads = 0;
  uint32_t fp_flags = 0, fp_report = 0, fp_fail = 0;

  explicit Keywords(ByteReader *bytes) {
    if (bytes->one_in(4)) dtype = draw_dtype(bytes);
    order = static_cast<int32_t>(bytes->below(5));
    threads = bytes->below(4);
    if (bytes->one_in(8)) {
      fp_report = bytes->below(16);
      fp_fail = bytes->below(16);
    }
  }

  template <class Args>
  void write(Args *args) {
    args->struct_size = sizeof *args;
    args->dtype = dtype;
    args->order = order;
    write_rest(args);
  }
  template <class Args>
  void write_rest(Args *args) {
    args->struct_size = sizeof *args;
    args->options.threads = threads;
    args->options.fp_flags = &fp_flags;
    args->options.fp_report = fp_report;
    args->options.fp_fail = fp_fail;
  }
};

bool can_run() {
  return input.can_run() && output.can_run() && mask.can_run() && initial.can_run() &&
         indices[0].can_run() && indices[1].can_run();
}

void demand_intact() {
  check(input.is_intact() && output.is_intact() && mask.is_intact() && initial.is_intact() &&
            indices[0].is_intact() && indices[1].is_intact(),
        "bytes outside of the operands are unchanged");
}

// Resolves and explains a method. Neither function reads an element.
template <class Args>
void describe(guf_status (*resolve)(guf_ufunc, const Args *, guf_resolution *, guf_error *),
              guf_status (*explain)(guf_ufunc, const Args *, char *, uint64_t *, guf_error *),
              guf_ufunc ufunc, const Args *args) {
  static guf_resolution resolution;
  resolution.struct_size = sizeof resolution;
  guf_error error = fresh_error();
  demand_report(resolve(ufunc, args, &resolution, &error), error);
  uint64_t length = 0;
  error = fresh_error();
  demand_report(explain(ufunc, args, nullptr, &length, &error), error);
}

void release(guf_operand *operand) {
  if (operand->kind == GUF_OPERAND_ARRAY) guf_array_release(operand->array, nullptr);
}

// Draws an output whose shape is the valid result of a reduction. The shape does not contain the
// reduced axes, or with keepdims contains them with extent 1.
void draw_result(ByteReader *bytes, const DrawnShape &shape, const int64_t *axes, int32_t naxes,
                 bool keepdims) {
  DrawnShape result;
  for (int32_t axis = 0; axis < shape.ndim; ++axis) {
    const bool reduced =
        std::any_of(axes, axes + std::max(naxes, 0),
                    [&](int64_t each) { return each == axis || each == axis - shape.ndim; }) ||
        naxes == GUF_ALL_AXES;
    if (reduced && !keepdims) continue;
    result.extent[static_cast<size_t>(result.ndim++)] =
        reduced ? 1 : shape.extent[static_cast<size_t>(axis)];
  }
  if (bytes->one_in(8)) {
    output.draw(bytes, result, true);
  } else {
    output.draw_exact(bytes, result, draw_dtype(bytes));
  }
}

void run_reduce(ByteReader *bytes, guf_ufunc ufunc, const DrawnShape &shape) {
  guf_reduce_args args = {};
  Keywords keywords(bytes);
  keywords.write(&args);
  int64_t axes[GUF_MAX_NDIM];
  const uint32_t how = bytes->below(4);
  args.naxis = how == 0 ? GUF_ALL_AXES : static_cast<int32_t>(bytes->below(5));
  if (how == 1) args.naxis = shape.ndim;
  for (int32_t i = 0; i < args.naxis; ++i) {
    axes[i] = how == 1 ? i : static_cast<int8_t>(bytes->byte()) % 5;
  }
  args.axis = how == 3 && args.naxis == 0 ? nullptr : axes;
  args.flags = bytes->one_in(4) ? GUF_CALL_KEEPDIMS : 0;
  draw_result(bytes, shape, axes, args.naxis, args.flags != 0);
  if (bytes->one_in(4)) output.overlap(input, bytes);
  guf_operand result = output.operand();
  if (bytes->one_in(8)) result = {};
  const guf_operand where = mask.operand(), start = initial.operand();
  args.input = &input.operand();
  args.output = &result;
  if (bytes->one_in(4)) args.where = &where;
  if (bytes->one_in(4)) args.initial = &start;
  describe(requests::resolve_reduce, requests::explain_reduce, ufunc, &args);
  if (!can_run()) return;
  guf_error error = fresh_error();
  demand_report(guf_reduce(ufunc, &args, &error), error);
  release(&result);
}

void run_accumulate(ByteReader *bytes, guf_ufunc ufunc, const DrawnShape &shape, bool at_indices) {
  guf_accumulate_args args = {};
  Keywords keywords(bytes);
  keywords.write(&args);
  args.axis = static_cast<int8_t>(bytes->byte()) % 5;
  const auto axis = static_cast<size_t>(args.axis < 0 ? args.axis + shape.ndim : args.axis);
  const bool exists = axis < static_cast<size_t>(shape.ndim);
  DrawnShape result = shape;
  if (at_indices) {
    DrawnShape list;
    list.ndim = 1;
    list.extent[0] = static_cast<int64_t>(bytes->below(6));
    indices[0].draw_exact(bytes, list, bytes->one_in(8) ? draw_dtype(bytes) : guf_dtype{GUF_I64});
    indices[0].fill_indices(bytes, exists ? shape.extent[axis] : 1);
    if (exists) result.extent[axis] = list.extent[0];
    args.indices = &indices[0].operand();
  }
  output.draw_exact(bytes, result, draw_dtype(bytes));
  if (bytes->one_in(4)) output.overlap(input, bytes);
  guf_operand written = output.operand();
  if (bytes->one_in(8)) written = {};
  args.input = &input.operand();
  args.output = &written;
  describe(at_indices ? requests::resolve_reduceat : requests::resolve_accumulate,
           at_indices ? requests::explain_reduceat : requests::explain_accumulate, ufunc, &args);
  if (!can_run()) return;
  guf_error error = fresh_error();
  demand_report((at_indices ? guf_reduceat : guf_accumulate)(ufunc, &args, &error), error);
  release(&written);
}

void run_at(ByteReader *bytes, guf_ufunc ufunc, const DrawnShape &shape) {
  guf_at_args args = {};
  Keywords keywords(bytes);
  keywords.write_rest(&args);
  DrawnShape list;
  list.ndim = static_cast<int32_t>(bytes->below(3));
  for (int32_t k = 0; k < list.ndim; ++k) {
    list.extent[static_cast<size_t>(k)] = static_cast<int64_t>(bytes->below(5));
  }
  args.nindices = 1 + static_cast<int32_t>(bytes->below(2));
  guf_operand places[2];
  for (int32_t i = 0; i < 2; ++i) {
    indices[i].draw_exact(bytes, list, bytes->one_in(8) ? draw_dtype(bytes) : guf_dtype{GUF_I64});
    if (!indices[i].can_run()) return;
    indices[i].fill_indices(bytes, i < shape.ndim ? shape.extent[static_cast<size_t>(i)] : 1);
    places[i] = indices[i].operand();
  }
  DrawnShape values = list;
  for (int32_t axis = args.nindices; axis < shape.ndim && values.ndim < GUF_MAX_NDIM; ++axis) {
    values.extent[static_cast<size_t>(values.ndim++)] = shape.extent[static_cast<size_t>(axis)];
  }
  output.draw(bytes, values, false);
  if (bytes->one_in(4)) output.overlap(input, bytes);
  args.array = &input.operand();
  args.indices = places;
  args.operand = bytes->one_in(8) ? nullptr : &output.operand();
  describe(requests::resolve_at, requests::explain_at, ufunc, &args);
  if (!can_run()) return;
  guf_error error = fresh_error();
  demand_report(guf_at(ufunc, &args, &error), error);
}

void run_outer(ByteReader *bytes, guf_ufunc ufunc, const DrawnShape &shape) {
  guf_call_args args = {};
  Keywords keywords(bytes);
  keywords.write(&args);
  const DrawnShape second = DrawnShape::draw(bytes);
  output.draw(bytes, second, false);
  const guf_operand pair[2] = {input.operand(), output.operand()};
  guf_operand result = {};
  args.ninputs = 2;
  args.noutputs = 1;
  args.inputs = pair;
  args.outputs = &result;
  describe(requests::resolve_outer, requests::explain_outer, ufunc, &args);
  if (shape.items(64) > 64 || second.items(64) > 64 || !can_run()) return;
  guf_error error = fresh_error();
  demand_report(guf_outer(ufunc, &args, &error), error);
  release(&result);
}

void run(ByteReader *bytes) {
  const guf_ufunc ufunc = draw_ufunc(bytes);
  const uint32_t method = bytes->below(8);
  const DrawnShape shape = DrawnShape::draw(bytes);
  for (DrawnOperand *each : {&output, &mask, &initial, &indices[0], &indices[1]}) each->clear();
  input.draw_exact(bytes, shape, draw_dtype(bytes));
  if (bytes->one_in(4)) mask.draw(bytes, shape, false);
  if (bytes->one_in(4)) initial.draw(bytes, DrawnShape(), false);
  if (method < 4) run_reduce(bytes, ufunc, shape);
  if (method == 4) run_accumulate(bytes, ufunc, shape, false);
  if (method == 5) run_accumulate(bytes, ufunc, shape, true);
  if (method == 6) run_at(bytes, ufunc, shape);
  if (method == 7) run_outer(bytes, ufunc, shape);
  demand_intact();
}

}  // namespace
}  // namespace gufunc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gufunc::fuzz::ByteReader bytes(data, size);
  gufunc::fuzz::run(&bytes);
  return 0;
}
