// SPDX-License-Identifier: Apache-2.0
// The decisions that a method makes before it allocates, launches or writes anything. A method and
// its resolve_ and explain_ functions share this code.
#ifndef GUFUNC_CORE_METHOD_DECIDE_H
#define GUFUNC_CORE_METHOD_DECIDE_H

#include <string>
#include <vector>

#include "core/method/indices.h"
#include "core/method/initial_value.h"
#include "core/method/method.h"
#include "core/method/result.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// The decisions about a reduce.
struct ReduceDecision {
  resolve::Choice choice;
  array::AxisSet reduced;
  ResultAxes axes;
  alignas(64) unsigned char initial_value[kInitialValueBytes];
  bool has_initial_value;
};

// The decisions about an accumulate or a reduceat.
struct AccumulateDecision {
  int32_t method;
  const char *name;
  resolve::Choice choice;
  int32_t axis;
  const int64_t *indices;  // reduceat: the indices; nullptr if they were not read
  int64_t length;          // extent of the result along `axis`
};

// Each function reports the errors that gufunc/methods.h lists for the steps before a launch. With
// Elements::kNotRead, the function neither reads nor checks indices and initial values that are in
// memory.
guf_status decide_reduce(ReduceView &view, Elements elements, ReduceDecision *out,
                         guf_error *error);
guf_status decide_accumulate(ReduceView &view, AccumulateDecision *out, guf_error *error);
// Indices that cannot be used in place are converted and stored in `buffer`.
guf_status decide_reduceat(ReduceView &view, Elements elements, std::vector<int64_t> *buffer,
                           AccumulateDecision *out, guf_error *error);
guf_status decide_at(AtView &view, Elements elements, resolve::Choice *choice,
                     IndexOffsets *offsets, guf_error *error);

// Writes the dtypes and the result shape of a reduction to `out`.
void describe_reduce_result(const op::CallView &call, const ReduceDecision &decision,
                            guf_resolution *out);
// Writes the number of dimensions and the shape of result `index` of a reduction to `out`.
void describe_result(const array::Layout &input, const array::AxisSet &reduced,
                     const ResultAxes &axes, int32_t index, guf_resolution *out);
void describe_accumulate_result(const op::CallView &call, const AccumulateDecision &decision,
                                guf_resolution *out);

// Appends to `out` a description of how the backend would run the method. A missing result is
// described with the layout that would be allocated for it.
// Errors  GUF_E_SHAPE, GUF_E_NO_IMAGE
//         GUF_E_UNSUPPORTED <= floating-point flags are requested, but the backend reports none
guf_status describe_reduce(ReduceView &view, const ReduceDecision &decision, std::string *out,
                           guf_error *error);
guf_status describe_accumulate(ReduceView &view, const AccumulateDecision &decision,
                               std::string *out, guf_error *error);
guf_status describe_at(AtView &view, const resolve::Choice &choice, const IndexOffsets &offsets,
                       std::string *out, guf_error *error);

// Returns whether the backend can run `at` as a method with this loop. This requires that all
// dtypes of the loop are equal.
bool is_uniform(const op::CallView &call, const op::Loop &loop);

// Buffer for the shape and strides that spread_outer sets.
struct OuterBuffer {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
};
// Appends an axis of extent 1 to the first input of `outer` for each axis of the second input. The
// new shape and strides are stored in `buffer`.
guf_status spread_outer(op::CallView &call, OuterBuffer *buffer, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_DECIDE_H
