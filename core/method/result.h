// SPDX-License-Identifier: Apache-2.0
// The result of a method: its shape, and the output that the caller passes or the method allocates.
#ifndef GUFUNC_CORE_METHOD_RESULT_H
#define GUFUNC_CORE_METHOD_RESULT_H

#include "core/array/views.h"
#include "core/call/temporaries.h"
#include "core/method/method.h"

namespace gufunc::method {

// Collects the axes to reduce.
// Errors  GUF_E_AXIS <= out of range, or repeated
guf_status find_axes(const ReduceView &view, array::AxisSet *out, guf_error *error);

// Checks that the ufunc may reduce several axes.
// Errors  GUF_E_VALUE <= several axes, but the ufunc is not reorderable
guf_status check_order(const op::Ufunc &ufunc, const array::AxisSet &reduced, guf_error *error);

// Finds the axis of accumulate and reduceat.
// Errors  GUF_E_DTYPE <= a 0-d input;  GUF_E_AXIS
guf_status find_axis(const ReduceView &view, const char *name, int32_t *out, guf_error *error);

// Maps each axis of the input to an axis of the result, or to kNoAxis if there is none.
inline constexpr int32_t kNoAxis = -1;
struct ResultAxes {
  int32_t ndim;                    // number of dimensions of the result
  int32_t of_input[GUF_MAX_NDIM];  // indexed by axis of the input
};

// Maps the axes of a reduction. A reduced axis is in the result, with extent 1, if `keepdims` is
// true. Entries of `out->of_input` beyond `ndim` are not written.
void find_reduced_axes(int32_t ndim, const array::AxisSet &reduced, bool keepdims, ResultAxes *out);
// Maps each axis of the input to the same axis of the result, as in accumulate and reduceat.
ResultAxes same_axes(int32_t ndim);

// Checks reduce's output and mask against the input. `argument` is the output's argument number.
// Errors  GUF_E_SHAPE <= NumPy's messages
guf_status check_reduced(const ReduceView &view, const array::AxisSet &reduced,
                         const ResultAxes &axes, int32_t argument, guf_error *error);

// Checks the output of accumulate or reduceat, which has `extent` elements along `axis`.
// Errors  GUF_E_SHAPE
guf_status check_output(const ReduceView &view, const char *name, int32_t axis, int64_t extent,
                        guf_error *error);

// The shape and strides of a result.
struct ResultBuffer {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
};

// Sets the layout of a missing output to the layout that would be allocated for it. `extents` is
// indexed by axis of the input and contains 1 for a reduced axis. The input's stride along
// `ignored_axis` does not influence the order of the result's axes: reduceat passes its axis,
// because the indices determine the extent of the axis. If `ignored_axis` is kNoAxis, all strides
// influence the order.
// Errors  GUF_E_SHAPE
guf_status lay_out_result(ReduceView &view, const ResultAxes &axes, const int64_t *extents,
                          int32_t ignored_axis, ResultBuffer *buffer, guf_error *error);

// Allocates a missing output. `index` is its position among the caller's outputs.
// Errors  GUF_E_SHAPE, GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY
guf_status allocate_result(ReduceView &view, const ResultAxes &axes, const int64_t *extents,
                           int32_t ignored_axis, int32_t index, call::Temporaries *arrays,
                           guf_error *error);

bool is_empty(const array::Layout &layout);

// Returns whether the backend may read operands after the call returns, or reads only from its own
// memory. If so, scalars must be copied to memory of the device.
inline bool needs_device_scalars(const op::CallView &call) {
  return call.stream != nullptr || !call.device->host_memory;
}

// Prepares the operands for the launch: copies the output, the input and the mask to the device if
// the device cannot access them, and copies scalars to memory of the device if necessary.
// Errors  as Temporaries::transfer_output
guf_status transfer_reduction(op::CallView &call, call::Temporaries *arrays, guf_error *error);

// Finishes a method after its launches: copies staged outputs back and waits for the stream.
guf_status finish_fold(guf_status status, call::Temporaries *arrays, guf_error *error);

// Returns whether an operand overlaps the output, so that it must be copied first.
bool overlaps_output(const op::CallView &call, const op::OperandView &other);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_RESULT_H
