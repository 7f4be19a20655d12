// SPDX-License-Identifier: Apache-2.0
// Reductions over more axes than a block can store. The leading axes are merged into one axis.
#ifndef GUFUNC_CORE_METHOD_MANY_REDUCED_AXES_H
#define GUFUNC_CORE_METHOD_MANY_REDUCED_AXES_H

#include "core/array/views.h"
#include "core/call/temporaries.h"
#include "core/method/method.h"

namespace gufunc::method {

// Returns whether the number of reduced axes of extent > 1 exceeds the limit of a block. Returns
// false if the input has no elements.
bool exceeds_reduced_axis_limit(const array::Layout &input, const array::AxisSet &folded);

// Copies the input and the mask so that the reduced axes are the innermost axes in memory, in
// unchanged order. Adjacent reduced axes can then be merged into one axis.
// Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_SHAPE
guf_status make_reduced_axes_contiguous(op::CallView &call, const array::AxisSet &folded,
                                        call::Temporaries *arrays, guf_error *error);

// Sets the operands to the layout that `make_reduced_axes_contiguous` would produce, to describe a
// reduction.
struct ContiguousBuffer {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  int64_t mask_strides[GUF_MAX_NDIM];
};
void set_contiguous_layout(op::CallView &call, const array::AxisSet &folded,
                           ContiguousBuffer *buffer);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_MANY_REDUCED_AXES_H
