// SPDX-License-Identifier: Apache-2.0
// Reductions over more axes than a block holds: the first of them count as one axis.
#ifndef GUFUNC_CORE_METHOD_MANY_FOLDS_H
#define GUFUNC_CORE_METHOD_MANY_FOLDS_H

#include "core/array/axes.h"
#include "core/method/method.h"
#include "core/temporaries.h"

namespace gufunc::method {

// Whether more axes longer than 1 are folded than a block holds; false where there are no elements.
bool has_many_folds(const array::Layout &input, const array::AxisSet &folded);

// Copies the input and the mask so that the folded axes, in their order, lie within the others: any
// neighbours of them are then one axis.
// Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_SHAPE
guf_status gather_folds(op::CallView &call, const array::AxisSet &folded,
                        pipeline::Temporaries *arrays, guf_error *error);

// The same for a question: the operands lie as their copies would.
struct GatherRoom {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  int64_t mask_strides[GUF_MAX_NDIM];
};
void lay_out_gathered(op::CallView &call, const array::AxisSet &folded, GatherRoom *room);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_MANY_FOLDS_H
