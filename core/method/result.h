// SPDX-License-Identifier: Apache-2.0
// The result of a method: the shape it has, the output that was given, or one that is allocated.
#ifndef GUFUNC_CORE_METHOD_RESULT_H
#define GUFUNC_CORE_METHOD_RESULT_H

#include "core/array/axes.h"
#include "core/method/method.h"
#include "core/temporaries.h"

namespace gufunc::method {

// The axes to fold.  Errors  GUF_E_AXIS <= out of range, or twice
guf_status find_axes(const FoldView &view, array::AxisSet *out, guf_error *error);

// Errors  GUF_E_VALUE <= several axes, and their order matters
guf_status check_order(const op::Ufunc &ufunc, const array::AxisSet &folded, guf_error *error);

// The one axis of accumulate and reduceat.  Errors  GUF_E_DTYPE <= a 0-d input;  GUF_E_AXIS
guf_status find_axis(const FoldView &view, const char *name, int32_t *out, guf_error *error);

// A result's own axes by the input's: kNoAxis where it lacks one.
inline constexpr int32_t kNoAxis = -1;
struct ResultAxes {
  int32_t ndim;                    // of the result
  int32_t of_input[GUF_MAX_NDIM];  // by axis of the input
};

ResultAxes reduced_axes(int32_t ndim, const array::AxisSet &folded, bool keepdims);
ResultAxes same_axes(int32_t ndim);

// Checks reduce's output, argument `place` of messages, and mask against the input.
// Errors  GUF_E_SHAPE <= NumPy's texts
guf_status check_reduced(const FoldView &view, const array::AxisSet &folded, const ResultAxes &axes,
                         int32_t place, guf_error *error);

// Checks the output of accumulate and reduceat, which has `extent` elements along `axis`.
// Errors  GUF_E_SHAPE
guf_status check_output(const FoldView &view, const char *name, int32_t axis, int64_t extent,
                        guf_error *error);

// Shape and strides of what is not allocated, and an address that nothing follows.
struct ResultRoom {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
};
inline constexpr uint64_t kSomewhere = uint64_t{1} << 40;  // aligned

// Gives the missing output the layout that it would be allocated with: `extents` by axis of the
// input, 1 where it is folded. An axis other than kNoAxis has no say in the order, as indices take
// its place (reduceat).
// Errors  GUF_E_SHAPE
guf_status lay_out_result(FoldView &view, const ResultAxes &axes, const int64_t *extents,
                          int32_t silent_axis, ResultRoom *room, guf_error *error);

// Allocates it. `index`: among the caller's outputs.
// Errors  GUF_E_SHAPE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
guf_status allocate_result(FoldView &view, const ResultAxes &axes, const int64_t *extents,
                           int32_t silent_axis, int32_t index, pipeline::Temporaries *arrays,
                           guf_error *error);

bool is_empty(const array::Layout &layout);

// Whether the backend reads operands later, or in memory of its own: scalars are lifted for it.
inline bool reads_elsewhere(const op::CallView &call) {
  return call.stream != nullptr || !call.device->host_memory;
}

// What a method needs beside its result: the output's copy on the device, the input's, the mask's.
// Errors  those of Temporaries::bring_output
guf_status bring_fold(op::CallView &call, pipeline::Temporaries *arrays, guf_error *error);

// The end of a method's launches: what was brought goes home, the stream is waited for.
guf_status finish_fold(guf_status status, pipeline::Temporaries *arrays, guf_error *error);

// Whether an operand must be copied before the output is written.
bool meets_output(const op::CallView &call, const op::OperandView &other);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_RESULT_H
