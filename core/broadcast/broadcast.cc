// SPDX-License-Identifier: Apache-2.0
// Computes the loop dimensions by NumPy's broadcasting of the inputs, the outputs that the caller
// passed, and the mask. Also computes the layout of outputs that the library allocates, with
// NumPy's meaning of order=.
#include "core/broadcast/broadcast.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/checked.h"
#include "core/broadcast/core_dims.h"

namespace gufunc::broadcast {
namespace {

using base::kNone;

struct Extents {
  int32_t ndim;
  const int64_t *shape;
};

// PERF. Writes whole groups of four elements, so that a short list needs one vector store,
// from which later loads can be forwarded. std::fill_n and memset with a variable or
// larger size cost 5 of the 105 ns of a call.
template <class T>
void fill_groups(T *to, int32_t count, T value) {
  const T group[4] = {value, value, value, value};
  for (int32_t k = 0; k < count; k += 4) std::memcpy(to + k, group, sizeof group);
}
static_assert(GUF_MAX_NDIM % 4 == 0 && GUF_MAX_OPERANDS % 4 == 0);

Extents loop_extents(const op::CallView &call, const LoopShape &loop, int32_t operand) {
  const array::Layout &layout = call.operand[operand].layout;
  return {layout.ndim - loop.core_ndim[operand], layout.shape};
}

// Writes a shape of `count` extents in the notation of nditer's messages: leading unknown extents
// (-1) are omitted, other unknown extents are "newaxis", and a comma follows the last extent only
// if it is the only one. The extents are written one by one, because with keepdims= the outputs
// together may have any number of them.
class ShapeText {
 public:
  ShapeText(int32_t count, base::Text *text) : text_(*text), count_(count) { text_.add("("); }
  ShapeText(const ShapeText &) = delete;
  ShapeText &operator=(const ShapeText &) = delete;
  ~ShapeText() { text_.add(")"); }

  void add(int64_t extent) {
    ++added_;
    if (extent < 0 && !begun_) return;
    begun_ = true;
    if (extent < 0) {
      text_.add("newaxis");
    } else {
      text_.add("%lld", static_cast<long long>(extent));
    }
    text_.add(added_ < count_ || count_ == 1 ? "," : "");
  }

 private:
  base::Text &text_;
  const int32_t count_;
  int32_t added_ = 0;
  bool begun_ = false;
};

// Appends the operand's shape in the caller's order of axes.
void add_shape_given(const op::CallView &call, const LoopShape &loop, int32_t operand,
                     base::Text *text) {
  const array::Layout &layout = call.operand[operand].layout;
  int64_t given[GUF_MAX_NDIM];
  for (int32_t k = 0; k < layout.ndim; ++k) {
    given[loop.permuted ? loop.axis_permutation[operand][k] : k] = layout.shape[k];
  }
  text->add_shape(given, layout.ndim);
}

// Appends an operand as in NumPy's gufunc messages: the operand's shape, "->", and the shape to
// which nditer remaps it.
void add_remapped(const op::CallView &call, const LoopShape &loop, int32_t operand, int32_t ncore,
                  base::Text *text) {
  const array::Layout &layout = call.operand[operand].layout;
  const int32_t own = loop_extents(call, loop, operand).ndim;
  const bool written = operand >= call.ufunc->nin();
  add_shape_given(call, loop, operand, text);
  text->add("->");
  {
    ShapeText shape(loop.ndim + ncore, text);
    for (int32_t k = 0; k < loop.ndim + ncore; ++k) {
      const int32_t axis = k - (loop.ndim - own);
      const bool has = axis >= 0 && axis < (written ? layout.ndim : own);
      shape.add(has ? layout.shape[axis] : -1);
    }
  }
  text->add(" ");
}

// Appends one unknown extent per loop dimension, then the core sizes of all outputs. `ncore` is the
// total number of core dimensions of the outputs.
void add_requested(const op::CallView &call, const LoopShape &loop, int32_t ncore,
                   base::Text *text) {
  const op::Signature &signature = call.ufunc->signature;
  text->add(" and requested shape ");
  ShapeText shape(loop.ndim + ncore, text);
  for (int32_t k = 0; k < loop.ndim; ++k) shape.add(-1);
  for (int32_t i = signature.nin; i < call.noperands; ++i) {
    const auto index = static_cast<size_t>(i);
    for (int32_t j = 0; j < signature.core_ndim[index]; ++j) {
      const auto at = static_cast<size_t>(signature.core_offset[index] + j);
      const int32_t dim = signature.operand_dims[at];
      if ((loop.missing >> dim & 1U) == 0) shape.add(loop.core_size[dim]);
    }
    for (int32_t j = 0; loop.keepdims && j < loop.core_ndim[i]; ++j) shape.add(1);
  }
}

[[gnu::cold, gnu::noinline]] guf_status fail_broadcast(const op::CallView &call,
                                                       const LoopShape &loop, int32_t operand,
                                                       int32_t axis, int64_t found,
                                                       int64_t expected, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  if (loop.permuted && operand < call.noperands) axis = loop.axis_permutation[operand][axis];
  base::Text text;
  int32_t ncore = 0;
  for (int32_t i = signature.nin; i < call.noperands; ++i) ncore += loop.core_ndim[i];
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (is_missing(call, i)) continue;
    const array::Layout &layout = call.operand[i].layout;
    if (signature.generalized) {
      add_remapped(call, loop, i, ncore, &text);
    } else {
      text.add_shape(layout.shape, layout.ndim).add(" ");
    }
  }
  if (call.has_where) text.add_shape(call.where.layout.shape, call.where.layout.ndim).add(" ");
  if (signature.generalized) add_requested(call, loop, ncore, &text);
  return base::fail(error, GUF_E_SHAPE, operand, axis,
                    "operands could not be broadcast together with %s%s; argument %d, axis %d: "
                    "expected %lld, got %lld",
                    signature.generalized ? "remapped shapes [original->remapped]: " : "shapes ",
                    text.c_str(), operand, axis, static_cast<long long>(expected),
                    static_cast<long long>(found));
}

// `axis` is kNone if the output has too few axes, because then no single axis is at fault.
[[gnu::cold, gnu::noinline]] guf_status fail_output(const op::CallView &call, const LoopShape &loop,
                                                    int32_t operand, int32_t axis,
                                                    guf_error *error) {
  int64_t shape[GUF_MAX_NDIM];
  int32_t ndim = 0;
  GUF_TRY(operand_shape(call, loop, operand, &ndim, shape, error));
  const array::Layout &layout = call.operand[operand].layout;
  base::Text text;
  text.add("non-broadcastable output operand with shape ");
  add_shape_given(call, loop, operand, &text);
  text.add(" doesn't match the broadcast shape ").add_shape(shape, ndim);
  if (axis == kNone) {
    return base::fail(error, GUF_E_SHAPE, operand, kNone,
                      "%s; argument %d: expected %d dimensions, got %d", text.c_str(), operand,
                      ndim, layout.ndim);
  }
  const int64_t found = layout.shape[axis];
  const int64_t expected = shape[ndim - layout.ndim + axis];
  if (loop.permuted) axis = loop.axis_permutation[operand][axis];
  return base::fail(error, GUF_E_SHAPE, operand, axis,
                    "%s; argument %d, axis %d: expected %lld, got %lld", text.c_str(), operand,
                    axis, static_cast<long long>(expected), static_cast<long long>(found));
}

// Broadcasts one operand against the common shape. Returns the axis that does not match, or kNone.
int32_t broadcast_operand(const Extents &own, LoopShape *loop) {
  const int32_t pad = loop->ndim - own.ndim;
  for (int32_t axis = 0; axis < own.ndim; ++axis) {
    int64_t &common = loop->extent[pad + axis];
    const int64_t extent = own.shape[axis];
    if (common == extent || extent == 1) continue;
    if (common != 1) return axis;
    common = extent;  // not max(), because 1 and 0 broadcast to 0
  }
  return kNone;
}

// PERF. Handles the most frequent kind of call: elementwise, without a mask, with all operands
// passed and of the same shape. Returns false for other calls.
bool broadcast_alike(const op::CallView &call, LoopShape *loop) {
  const array::Layout &first = call.operand[0].layout;
  for (int32_t i = 1; i < call.noperands; ++i) {
    const array::Layout &layout = call.operand[i].layout;
    if (layout.ndim != first.ndim || is_missing(call, i)) return false;
    for (int32_t axis = 0; axis < first.ndim; ++axis) {
      if (layout.shape[axis] != first.shape[axis]) return false;
    }
  }
  loop->ndim = first.ndim;
  for (int32_t axis = 0; axis < first.ndim; ++axis) loop->extent[axis] = first.shape[axis];
  return true;
}

// Checks that the outputs that the caller passed have extent 1 on the axes that keepdims= keeps.
guf_status check_kept(const op::CallView &call, const LoopShape &loop, guf_error *error) {
  for (int32_t i = call.ufunc->nin(); i < call.noperands; ++i) {
    if (is_missing(call, i)) continue;
    const array::Layout &layout = call.operand[i].layout;
    for (int32_t axis = layout.ndim - loop.core_ndim[i]; axis < layout.ndim; ++axis) {
      if (layout.shape[axis] != 1) {
        return fail_broadcast(call, loop, i, axis, layout.shape[axis], 1, error);
      }
    }
  }
  return GUF_OK;
}

// Returns whether an output has the full extent of loop dimension `axis`. `own` contains the
// output's extents in the loop dimensions.
bool has_axis(const op::CallView &call, const LoopShape &loop, const Extents &own, int32_t axis) {
  const int32_t pad = loop.ndim - own.ndim;
  if (axis >= pad) return own.shape[axis - pad] == loop.extent[axis];
  return call.ufunc->signature.generalized && loop.extent[axis] == 1;
}

// If several outputs do not match, NumPy reports the output whose mismatching axis is the last.
[[gnu::cold, gnu::noinline]] guf_status fail_written(const op::CallView &call,
                                                     const LoopShape &loop, guf_error *error) {
  for (int32_t axis = loop.ndim - 1; axis >= 0; --axis) {
    for (int32_t i = 0; i < call.noperands; ++i) {
      if (!call.ufunc->signature.writes(i) || is_missing(call, i)) continue;
      const Extents own = loop_extents(call, loop, i);
      if (has_axis(call, loop, own, axis)) continue;
      const int32_t pad = loop.ndim - own.ndim;
      return fail_output(call, loop, i, axis < pad ? kNone : axis - pad, error);
    }
  }
  return GUF_OK;
}

// Checks that outputs have the extents of the loop dimensions, because outputs are never broadcast.
// As in NumPy, the output of a gufunc may lack leading axes of extent 1.
guf_status check_written(const op::CallView &call, const LoopShape &loop, guf_error *error) {
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!call.ufunc->signature.writes(i) || is_missing(call, i)) continue;
    const Extents own = loop_extents(call, loop, i);
    for (int32_t axis = 0; axis < loop.ndim; ++axis) {
      if (__builtin_expect(!has_axis(call, loop, own, axis), 0))
        return fail_written(call, loop, error);
    }
  }
  return GUF_OK;
}

guf_status broadcast_all(const op::CallView &call, LoopShape *loop, guf_error *error) {
  int32_t ndim = call.has_where ? call.where.layout.ndim : 0;
  for (int32_t i = 0; i < call.noperands; ++i) {
    if (!is_missing(call, i)) ndim = std::max(ndim, loop_extents(call, *loop, i).ndim);
  }
  loop->ndim = ndim;
  fill_groups<int64_t>(loop->extent, ndim, 1);
  for (int32_t i = 0; i <= call.noperands; ++i) {
    const bool mask = i == call.noperands;
    if (mask ? !call.has_where : is_missing(call, i)) continue;
    const Extents own = mask ? Extents{call.where.layout.ndim, call.where.layout.shape}
                             : loop_extents(call, *loop, i);
    const int32_t axis = broadcast_operand(own, loop);
    if (__builtin_expect(axis != kNone, 0)) {
      return fail_broadcast(call, *loop, i, axis, own.shape[axis],
                            loop->extent[loop->ndim - own.ndim + axis], error);
    }
  }
  if (loop->keepdims) GUF_TRY(check_kept(call, *loop, error));
  return check_written(call, *loop, error);
}

guf_status count_items(LoopShape *loop, guf_error *error) {
  uint64_t items = 1;
  bool fits = true;
  bool empty = false;
  for (int32_t k = 0; k < loop->ndim; ++k) {
    if (loop->extent[k] == 0) {
      empty = true;
    } else {
      fits = base::checked_mul(items, static_cast<uint64_t>(loop->extent[k]), &items) && fits;
    }
  }
  fits = fits && items <= static_cast<uint64_t>(INT64_MAX);
  // As in NumPy, an overflow of the product of the nonzero extents is an error even if another
  // extent is 0.
  if (!fits)
    return base::fail(error, GUF_E_SHAPE, kNone, kNone,
                      "iterator is too large; the broadcast shape has more than 2^63 - 1 elements");
  loop->items = empty ? 0 : items;
  return GUF_OK;
}

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

guf_status broadcast_operands(op::CallView &call, LoopShape *out, guf_error *error) {
  out->keepdims = false;
  if (!call.ufunc->signature.generalized) {
    fill_groups<int32_t>(out->core_ndim, call.noperands, 0);
    const guf_call_args &args = *call.args;
    if (args.axes != nullptr || args.axis != nullptr || args.flags != 0 || args.ndims != 0) {
      return base::fail(error, GUF_E_ARG, kNone, kNone,
                        "%s() got an unexpected keyword argument '%s'; it has no core dimensions",
                        call.ufunc->name.c_str(),
                        args.axes != nullptr   ? "axes"
                        : args.axis != nullptr ? "axis"
                        : args.flags != 0      ? "keepdims"
                                               : "dims");
    }
  } else {
    GUF_TRY(count_core_axes(call, out, error));
    GUF_TRY(permute_operands(call, out, error));
    GUF_TRY(find_core_sizes(call, out, error));
  }
  const bool usual = !call.ufunc->signature.generalized && !call.has_where && !is_missing(call, 0);
  if (!usual || !broadcast_alike(call, out)) GUF_TRY(broadcast_all(call, out, error));
  return count_items(out, error);
}

guf_status operand_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                         int32_t *out_ndim, int64_t *out, guf_error *error) {
  const op::Signature &signature = call.ufunc->signature;
  const int32_t ndim = loop.ndim + loop.core_ndim[operand];
  if (ndim > GUF_MAX_NDIM) {
    return base::fail(error, GUF_E_SHAPE, operand, kNone,
                      "argument %d would have %d dimensions, more than %d", operand, ndim,
                      static_cast<int>(GUF_MAX_NDIM));
  }
  std::copy_n(loop.extent, loop.ndim, out);
  int32_t axis = loop.ndim;
  const auto index = static_cast<size_t>(operand);
  for (int32_t j = 0; j < signature.core_ndim[index]; ++j) {
    const int32_t dim =
        signature.operand_dims[static_cast<size_t>(signature.core_offset[index] + j)];
    if ((loop.missing >> dim & 1U) == 0) out[axis++] = loop.core_size[dim];
  }
  while (axis < ndim) out[axis++] = 1;  // axes that keepdims= keeps
  *out_ndim = ndim;
  return GUF_OK;
}

guf_status caller_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                        int32_t *out_ndim, int64_t *out, guf_error *error) {
  int64_t shape[GUF_MAX_NDIM];
  GUF_TRY(operand_shape(call, loop, operand, out_ndim, shape, error));
  for (int32_t k = 0; k < *out_ndim; ++k)
    out[loop.permuted ? loop.axis_permutation[operand][k] : k] = shape[k];
  return GUF_OK;
}

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
