// SPDX-License-Identifier: Apache-2.0
// A call with a separate output for an inout operand first copies the operand to the output and
// then runs in place on the output. With a mask, both steps use a temporary array of the output's
// size, whose selected elements are then copied to the output.
#include "core/call/separate_outputs.h"

#include <algorithm>

#include "core/array/overlap.h"

namespace gufunc::call {
namespace {

using base::kNone;

guf_status check_broadcast(const array::Layout &from, const array::Layout &to, int32_t operand,
                           guf_error *error) {
  bool fits = from.ndim <= to.ndim;
  for (int32_t k = 0; fits && k < from.ndim; ++k) {
    const int64_t extent = from.shape[from.ndim - 1 - k];
    fits = extent == 1 || extent == to.shape[to.ndim - 1 - k];
  }
  if (fits) return GUF_OK;
  base::Text text;
  text.add("could not broadcast input array from shape ").add_shape(from.shape, from.ndim);
  text.add(" into shape ").add_shape(to.shape, to.ndim);
  return base::fail(error, GUF_E_SHAPE, operand, kNone, "%s; argument %d", text.c_str(), operand);
}

// A layout with permuted axes, broadcast to `ndim` axes.
struct PermutedLayout {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  array::Layout layout;

  PermutedLayout(const array::Layout &from, int32_t ndim, const int8_t *order)
      : layout{from.dtype, ndim, shape, strides, from.address} {
    for (int32_t k = 0; k < ndim; ++k) {
      const int32_t axis = order[k] - (ndim - from.ndim);
      shape[k] = axis < 0 ? 1 : from.shape[axis];
      strides[k] = axis < 0 ? 0 : from.strides[axis];
    }
  }
};

}  // namespace

void SeparateOutputs::mark() {
  int32_t output = call_.noperands;
  for (int32_t i = 0; i < call_.noperands && output < call_.noperands + call_.nseparate; ++i) {
    if (!call_.ufunc->signature.writes(i)) continue;
    call_.operand[i].flags |= op::kHasSeparateOutput;
    pairs_.push_back({i, output++, call_.operand[i], {}});
  }
}

guf_status SeparateOutputs::make_missing(const array::Layout &like, guf_dtype dtype,
                                         const Pair &pair, int32_t number, guf_error *error) {
  op::OperandView &output = call_.operand[pair.output];
  if (arrays_ != nullptr) {
    base::Ref<array::Array> array;
    backend::Device *host = nullptr;
    GUF_TRY(arrays_->find_host(&host, error));
    GUF_TRY(
        memory::allocate(*host, dtype, like.ndim, like.shape, nullptr, GUF_ORDER_C, &array, error));
    point_at(array, &output);
    arrays_->add_output(number, std::move(array));
    return GUF_OK;
  }
  uint64_t size = 0;  // not used: the call only checks that the size fits
  GUF_TRY(array::count_elements(dtype, like.ndim, like.shape, &size, error));
  int64_t *const strides = call_.stride_buffer[pair.output];
  array::contiguous_strides(dtype, like.ndim, like.shape, GUF_ORDER_C, strides);
  output.layout = {dtype, like.ndim, like.shape, strides, 0};
  output.flags = 0;  // not missing, so that broadcasting uses its shape
  laid_out_ |= 1U << pair.operand;
  return GUF_OK;
}

guf_status SeparateOutputs::redirect_one(Pair *pair, int32_t number, resolve::Choice *choice,
                                         guf_error *error) {
  op::OperandView &operand = call_.operand[pair->operand];
  op::OperandView &output = call_.operand[pair->output];
  const guf_dtype loop_dtype = choice->loop->types[static_cast<size_t>(pair->operand)];
  pair->source = operand;
  // The strides are copied, because axes= may overwrite the memory in which they are stored.
  std::copy_n(operand.layout.strides, operand.layout.ndim, pair->source_strides);
  pair->source.layout.strides = pair->source_strides;
  if ((operand.flags & op::kScalar) != 0) {
    // A scalar's value is inside the operand struct, so its address must point into the copy.
    const uint64_t offset = operand.layout.address - reinterpret_cast<uint64_t>(&operand);
    pair->source.layout.address = reinterpret_cast<uint64_t>(&pair->source) + offset;
  }
  if (op::is_missing(output))
    GUF_TRY(make_missing(operand.layout, loop_dtype, *pair, number, error));
  if (!dtype::can_cast(loop_dtype, output.layout.dtype, call_.casting)) {
    return base::fail(
        error, GUF_E_CASTING, pair->output, kNone,
        "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting rule '%s'",
        call_.ufunc->name.c_str(), dtype::name(loop_dtype), dtype::name(output.layout.dtype),
        dtype::casting_name(call_.casting));
  }
  GUF_TRY(check_broadcast(operand.layout, output.layout, pair->operand, error));
  operand = output;
  choice->cast_mask &= ~(1U << pair->operand);
  return GUF_OK;
}

guf_status SeparateOutputs::check_apart(guf_error *error) const {
  for (const Pair &a : pairs_) {
    for (const Pair &b : pairs_) {
      if (a.output >= b.output || has_bit(laid_out_, a.operand) || has_bit(laid_out_, b.operand))
        continue;
      if (!array::shares_memory(call_.operand[a.output].layout, call_.operand[b.output].layout))
        continue;
      return base::fail(error, GUF_E_OVERLAP, b.output, kNone,
                        "argument %d shares memory with argument %d: both are written", b.output,
                        a.output);
    }
  }
  return GUF_OK;
}

guf_status SeparateOutputs::redirect(resolve::Choice *choice, guf_error *error) {
  for (size_t k = 0; k < pairs_.size(); ++k) {
    GUF_TRY(redirect_one(&pairs_[k], static_cast<int32_t>(k), choice, error));
  }
  return check_apart(error);
}

guf_status SeparateOutputs::load(const broadcast::LoopShape &loop, guf_error *error) {
  // If an operand overlaps the separate output of another operand, the operand is copied before any
  // output is written. An operand that overlaps its own output needs no copy, because
  // memory::copy_overlapping permits the overlap.
  for (const Pair &pair : pairs_) {
    const array::Layout &written = call_.operand[pair.output].layout;
    for (Pair &other : pairs_) {
      if (&other == &pair || !has_memory(other.source)) continue;
      if (array::shares_memory(other.source.layout, written)) {
        GUF_TRY(arrays_->replace_by_copy(&other.source, GUF_DTYPE_UNSPECIFIED, error));
      }
    }
  }
  for (Pair &pair : pairs_) {
    const op::OperandView &target = call_.operand[pair.operand];
    if (!call_.ufunc->signature.reads(pair.operand)) continue;
    if (call_.stream != nullptr && pair.source.array != nullptr) {
      arrays_->keep(base::Ref<array::Array>::share(pair.source.array));
    }
    const bool scalar = (pair.source.flags & op::kScalar) != 0;
    if (call_.stream != nullptr && call_.device->host_memory && scalar) {
      op::OperandView *const view = &pair.source;
      GUF_TRY(arrays_->copy_scalars_to_device(&view, 1, error));
    }
    GUF_TRY(arrays_->transfer_input(&pair.source, error));
    memory::CopyOperand source = as_copy_operand(pair.source);
    const int32_t ndim = loop.permuted ? target.layout.ndim : 0;
    const PermutedLayout permuted(source.layout, ndim, loop.axis_permutation[pair.operand]);
    if (loop.permuted) source.layout = permuted.layout;
    GUF_TRY(memory::copy_overlapping(*call_.device, call_.stream, as_copy_operand(target), source,
                                     error));
  }
  return GUF_OK;
}

void SeparateOutputs::describe(guf_resolution *out) const {
  for (size_t k = 0; k < pairs_.size(); ++k) {
    const Pair &pair = pairs_[k];
    const array::Layout &output = call_.operand[pair.output].layout;
    out->dtypes[pair.operand] = pair.source.layout.dtype;
    out->dtypes[pair.output] = output.dtype;
    out->output_ndims[k] = output.ndim;
    std::copy_n(output.shape, output.ndim, out->output_shapes[k]);
  }
}

std::string SeparateOutputs::text() const {
  std::string text;
  for (const Pair &pair : pairs_) {
    const bool reads = call_.ufunc->signature.reads(pair.operand);
    text += (reads ? "copied first: argument " : "unchanged: argument ") +
            std::to_string(pair.operand) + ", " + dtype::name(pair.source.layout.dtype) +
            (reads ? ", into a separate output" : ", for a separate output");
    text += has_bit(laid_out_, pair.operand) ? ", to allocate\n" : "\n";
  }
  return text;
}

}  // namespace gufunc::call
