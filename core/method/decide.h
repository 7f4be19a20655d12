// SPDX-License-Identifier: Apache-2.0
// What each method decides before anything is allocated, launched or written: what a call and a
// question about one have in common.
#ifndef GUFUNC_CORE_METHOD_DECIDE_H
#define GUFUNC_CORE_METHOD_DECIDE_H

#include <string>
#include <vector>

#include "core/method/index_offsets.h"
#include "core/method/initial_value.h"
#include "core/method/result.h"
#include "core/resolve/resolve.h"

namespace gufunc::method {

// What was decided about one reduction.
struct Reduction {
  resolve::Choice choice;
  array::AxisSet folded;
  ResultAxes axes;
  alignas(64) unsigned char initial_value[kInitialValueBytes];
  bool has_initial_value;
};

// About accumulate and reduceat.
struct Folding {
  int32_t method;
  const char *name;
  resolve::Choice choice;
  int32_t axis;
  const int64_t *indices;  // reduceat, when they were read
  int64_t length;          // of the result along the axis
};

// Each fails as methods.h says of what is found before a launch; with Elements::kLeftAlone no value
// in memory is read, so none is refused.
guf_status decide_reduce(FoldView &view, Elements elements, Reduction *out, guf_error *error);
guf_status decide_accumulate(FoldView &view, Folding *out, guf_error *error);
// Indices that cannot be used where they lie go to `room`.
guf_status decide_reduceat(FoldView &view, Elements elements, std::vector<int64_t> *room,
                           Folding *out, guf_error *error);
guf_status decide_at(AtView &view, Elements elements, resolve::Choice *choice,
                     IndexOffsets *offsets, guf_error *error);

// The answer to a question about a fold.
void describe_reduction(const op::CallView &call, const Reduction &reduction, guf_resolution *out);
// Dimensions and shape of result `index` of a reduction.
void describe_result(const array::Layout &input, const array::AxisSet &folded,
                     const ResultAxes &axes, int32_t index, guf_resolution *out);
void describe_folding(const op::CallView &call, const Folding &folding, guf_resolution *out);

// How the backend would run it, behind `out`'s lines. A result that is missing lies as it would be
// allocated.  Errors  GUF_E_SHAPE, GUF_E_NO_IMAGE, GUF_E_UNSUPPORTED <= events are asked for
guf_status describe_reduce(FoldView &view, const Reduction &reduction, std::string *out,
                           guf_error *error);
guf_status describe_fold(FoldView &view, const Folding &folding, std::string *out,
                         guf_error *error);
guf_status describe_offsets(AtView &view, const resolve::Choice &choice,
                            const IndexOffsets &offsets, std::string *out, guf_error *error);

// Whether a method of the backend runs at's loop: all its types are one.
bool is_uniform(const op::CallView &call, const op::Loop &loop);

// Gives the first input of outer as many axes of extent 1 behind its own as the second has.
struct OuterRoom {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
};
guf_status spread_outer(op::CallView &call, OuterRoom *room, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_DECIDE_H
