// SPDX-License-Identifier: Apache-2.0
// The layout of outputs that the library allocates, with NumPy's meaning of order=.
#include <numeric>
#include <utility>

#include "core/base/checked.h"
#include "core/broadcast/broadcast.h"

namespace gufunc::broadcast {
namespace {

// Returns the stride along a loop dimension, or 0 if the operand is broadcast or has no such axis.
int64_t loop_stride(const array::Layout &layout, int32_t core_ndim, const LoopShape &loop,
                    int32_t k) {
  const int32_t axis = k - (loop.ndim - (layout.ndim - core_ndim));
  return axis < 0 || layout.shape[axis] == 1 ? 0 : layout.strides[axis];
}

// Returns whether nditer would swap dimension `inner` and the enclosing dimension `outer`. One
// operand that requires the present order overrides all operands that prefer a swap. Writes to
// `*out_known` whether any operand has nonzero strides in both dimensions.
bool should_swap(const op::CallView &call, const LoopShape &loop, int32_t outer, int32_t inner,
                 bool *out_known) {
  bool swap = false;
  *out_known = false;
  for (int32_t i = 0; i <= call.noperands; ++i) {
    const bool mask = i == call.noperands;
    if (mask ? !call.has_where : op::is_missing(call.operand[i])) continue;
    const array::Layout &layout = mask ? call.where.layout : call.operand[i].layout;
    const int32_t core_ndim = mask ? 0 : loop.core_ndim[i];
    const uint64_t a = base::magnitude(loop_stride(layout, core_ndim, loop, outer));
    const uint64_t b = base::magnitude(loop_stride(layout, core_ndim, loop, inner));
    if (a == 0 || b == 0) continue;
    *out_known = true;
    if (b <= a) return false;
    swap = true;
  }
  return swap;
}

// Sorts the dimensions with NumPy's insertion sort. `rank` lists the dimensions, innermost first.
void sort_by_inputs(const op::CallView &call, const LoopShape &loop, int32_t *rank) {
  for (int32_t k = 1; k < loop.ndim; ++k) {
    const int32_t moving = rank[k];
    int32_t place = k;
    for (int32_t below = k - 1; below >= 0; --below) {
      bool known = false;
      const bool swap = should_swap(call, loop, moving, rank[below], &known);
      if (!known) continue;
      if (!swap) break;
      place = below;
    }
    for (int32_t j = k; j > place; --j) rank[j] = rank[j - 1];
    rank[place] = moving;
  }
}

// Returns whether an operand is F-contiguous in the caller's order of axes. `permutation` is the
// operand's row of LoopShape::axis_permutation if axes= or axis= permuted the operand, otherwise
// nullptr.
bool is_fortran(const array::Layout &layout, const int8_t *permutation) {
  int32_t place[GUF_MAX_NDIM];
  for (int32_t k = 0; k < layout.ndim; ++k) place[permutation != nullptr ? permutation[k] : k] = k;
  int64_t expected = static_cast<int64_t>(dtype::itemsize(layout.dtype));
  bool holds = true;
  for (int32_t k = 0; k < layout.ndim; ++k) {
    const int32_t axis = place[k];
    if (layout.shape[axis] == 0) return true;
    if (layout.shape[axis] == 1) continue;
    holds = holds && layout.strides[axis] == expected;
    expected *= layout.shape[axis];
  }
  return holds;
}

// order='A' selects F if all operands that the caller passed are F-contiguous.
bool any_means_fortran(const op::CallView &call, const LoopShape &loop) {
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (op::is_missing(call.operand[i])) continue;
    if (!is_fortran(call.operand[i].layout, loop.permuted ? loop.axis_permutation[i] : nullptr))
      return false;
  }
  return !call.has_where || is_fortran(call.where.layout, nullptr);
}

}  // namespace

guf_status result_strides(const op::CallView &call, const LoopShape &loop, int32_t operand,
                          int32_t ndim, const int64_t *shape, int64_t *out, guf_error *error) {
  int32_t rank[GUF_MAX_NDIM];  // the axes, innermost first
  const int32_t order = call.args->order;
  if (order == GUF_ORDER_F || (order == GUF_ORDER_ANY && any_means_fortran(call, loop))) {
    std::iota(rank, rank + ndim, 0);
  } else {
    const int32_t ncore = ndim - loop.ndim;
    for (int32_t k = 0; k < ndim; ++k) rank[k] = ndim - 1 - k;
    if (order == GUF_ORDER_KEEP) sort_by_inputs(call, loop, rank + ncore);
  }
  int64_t stride = static_cast<int64_t>(dtype::itemsize(call.operand[operand].layout.dtype));
  for (int32_t k = 0; k < ndim; ++k) {
    out[rank[k]] = stride;
    const int64_t extent = shape[rank[k]];
    if (extent > 1 && !base::checked_mul(stride, extent, &stride)) {
      return base::fail(error, GUF_E_SHAPE, operand, rank[k],
                        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                        "maximum possible size.; argument %d",
                        operand);
    }
  }
  return GUF_OK;
}

}  // namespace gufunc::broadcast
