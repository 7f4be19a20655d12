// SPDX-License-Identifier: Apache-2.0
// Applies axes=, axis= and keepdims=, after which the core axes of every operand are its last axes.
#include <algorithm>

#include "core/broadcast/core_dims.h"

namespace gufunc::broadcast {
namespace {

using base::kNone;

// Finds the first operand whose core dimensions do not permit keepdims=. As in NumPy, the
// dimensions of the signature are checked first, and then the dimensions that are present. Returns
// kNone if every operand permits keepdims=.
int32_t find_mismatch(const op::CallView &call, const LoopShape &loop) {
  const op::Signature &signature = call.ufunc->signature;
  for (int32_t i = 0; i < call.noperands; ++i) {
    const int32_t expected = i < signature.nin ? signature.core_ndim[0] : 0;
    if (signature.core_ndim[static_cast<size_t>(i)] != expected) return i;
  }
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (loop.core_ndim[i] != (i < signature.nin ? loop.core_ndim[0] : 0)) return i;
  }
  return kNone;
}

guf_status check_keepdims(const op::CallView &call, LoopShape *loop, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t expected = signature.nin > 0 ? loop->core_ndim[0] : 0;
  const int32_t mismatch = find_mismatch(call, *loop);
  if (mismatch != kNone) {
    const bool input = mismatch < signature.nin;
    return base::fail(
        error, GUF_E_ARG, mismatch, kNone,
        "%s does not support keepdims: its signature %s requires %s %d to have %d core dimensions, "
        "but keepdims can only be used when all inputs have the same number of core dimensions and "
        "all "
        "outputs have no core dimensions.",
        call.ufunc->name.c_str(), signature.text.c_str(), input ? "input" : "output",
        role_index(signature, mismatch), signature.core_ndim[static_cast<size_t>(mismatch)]);
  }
  for (int32_t i = signature.nin; i < call.noperands; ++i) {
    loop->core_ndim[i] = expected;
    if (is_missing(call, i) || call.operand[i].layout.ndim >= expected) continue;
    return base::fail(error, GUF_E_SHAPE, i, kNone,
                      "%s: Output operand %d does not have enough dimensions (has %d, gufunc core "
                      "with signature %s requires %d); with keepdims= it has %d",
                      call.ufunc->name.c_str(), role_index(signature, i),
                      call.operand[i].layout.ndim, signature.text.c_str(), expected, expected);
  }
  loop->keepdims = true;
  return GUF_OK;
}

int32_t loop_ndim(const op::CallView &call, const LoopShape &loop) {
  int32_t ndim = call.has_where ? call.where.layout.ndim : 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!is_missing(call, i))
      ndim = std::max(ndim, call.operand[i].layout.ndim - loop.core_ndim[i]);
  }
  return ndim;
}

// Writes the order of the operand's axes to loop->axis_permutation: first the axes that are not in
// `axes`, then the axes in `axes`.
guf_status order_axes(int32_t operand, int32_t ndim, const int64_t *axes, LoopShape *loop,
                      guf_error *error) {
  uint64_t taken = 0;
  const int32_t ncore = loop->core_ndim[operand];
  for (int32_t j = 0; j < ncore; ++j) {
    if (axes[j] < -ndim || axes[j] >= ndim) {
      return base::fail(error, GUF_E_AXIS, operand, j,
                        "axis %lld is out of bounds for array of dimension %d",
                        static_cast<long long>(axes[j]), ndim);
    }
    const auto axis = static_cast<int32_t>(axes[j] < 0 ? axes[j] + ndim : axes[j]);
    if ((taken >> axis & 1U) != 0) {
      return base::fail(error, GUF_E_AXIS, operand, axis, "axes item %d has value %d repeated",
                        operand, axis);
    }
    taken |= uint64_t{1} << axis;
    loop->axis_permutation[operand][ndim - ncore + j] = static_cast<int8_t>(axis);
  }
  int32_t place = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if ((taken >> axis & 1U) == 0)
      loop->axis_permutation[operand][place++] = static_cast<int8_t>(axis);
  }
  return GUF_OK;
}

void permute(op::CallView &call, int32_t operand, LoopShape *loop) {
  array::Layout &layout = call.operand[operand].layout;
  int64_t strides[GUF_MAX_NDIM];
  for (int32_t k = 0; k < layout.ndim; ++k) {
    loop->shape_buffer[operand][k] = layout.shape[loop->axis_permutation[operand][k]];
    strides[k] = layout.strides[loop->axis_permutation[operand][k]];
  }
  std::copy_n(strides, layout.ndim, call.stride_buffer[operand]);
  layout.shape = loop->shape_buffer[operand];
  layout.strides = call.stride_buffer[operand];
}

// Checks that axes= has an entry for each operand, or for each input if the signature has no core
// dimensions in outputs.
guf_status check_entries(const op::CallView &call, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t found = call.args->naxes;
  if (found == call.noperands) return GUF_OK;
  const auto outputs = signature.core_ndim.begin() + signature.nin;
  const bool optional =
      std::all_of(outputs, outputs + signature.nout, [](int32_t ncore) { return ncore == 0; });
  if (found == signature.nin && optional) return GUF_OK;
  return base::fail(
      error, GUF_E_ARG, kNone, kNone,
      "axes should be a list with an entry for all %d inputs and outputs; entries for outputs "
      "can only be omitted if none of them has core axes.; naxes: expected %d, got %d",
      call.noperands, call.noperands, found);
}

guf_status fail_entry(const op::CallView &call, const LoopShape &loop, int32_t operand,
                      guf_error *error) {
  return base::fail(error, GUF_E_AXIS, operand, kNone,
                    "%s: operand %d has %d core dimensions, but %d dimensions are specified by "
                    "axes tuple.",
                    call.ufunc->name.c_str(), operand, loop.core_ndim[operand],
                    call.args->axes[operand].naxis);
}

guf_status check_axis(const op::CallView &call, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  if (call.args->axes != nullptr) {
    return base::fail(error, GUF_E_ARG, kNone, kNone, "cannot specify both 'axis' and 'axes'");
  }
  bool single = signature.dims.size() == 1;
  for (int32_t i = 0; i < call.noperands; ++i) {
    single = single && signature.core_ndim[static_cast<size_t>(i)] <= 1;
  }
  if (single) return GUF_OK;
  return base::fail(error, GUF_E_ARG, kNone, kNone,
                    "%s: axis can only be used with a single shared core dimension, not with the "
                    "%d distinct ones "
                    "implied by signature %s.",
                    call.ufunc->name.c_str(), static_cast<int>(signature.dims.size()),
                    signature.text.c_str());
}

}  // namespace

guf_status permute_operands(op::CallView &call, LoopShape *loop, guf_error *error) {
  const guf_call_args &args = *call.args;
  if ((args.flags & GUF_CALL_KEEPDIMS) != 0) GUF_TRY(check_keepdims(call, loop, error));
  if (args.axes == nullptr && args.axis == nullptr) return GUF_OK;
  GUF_TRY(args.axis != nullptr ? check_axis(call, error) : check_entries(call, error));
  loop->permuted = true;
  const int32_t common = loop_ndim(call, *loop);
  for (int32_t i = 0; i < call.noperands; ++i) {
    const int32_t ncore = loop->core_ndim[i];
    const bool missing = is_missing(call, i);
    const int32_t ndim = missing ? common + ncore : call.operand[i].layout.ndim;
    if (ndim > GUF_MAX_NDIM) {
      return base::fail(error, GUF_E_SHAPE, i, kNone,
                        "argument %d would have %d dimensions, more than %d", i, ndim,
                        static_cast<int>(GUF_MAX_NDIM));
    }
    int64_t last[GUF_MAX_NDIM];  // the axes of an output without an entry in axes=
    for (int32_t j = 0; j < ncore; ++j) last[j] = j - ncore;
    const int64_t *axes = args.axis;
    if (axes == nullptr && i < args.naxes) {
      if (args.axes[i].naxis != ncore) return fail_entry(call, *loop, i, error);
      axes = args.axes[i].axis;
    }
    GUF_TRY(order_axes(i, ndim, axes != nullptr ? axes : last, loop, error));
    if (!missing) permute(call, i, loop);
  }
  return GUF_OK;
}

}  // namespace gufunc::broadcast
