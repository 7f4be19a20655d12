// SPDX-License-Identifier: Apache-2.0
// The loops of a method: which dimensions are kept, which are folded, and with which steps.
#ifndef GUFUNC_CORE_METHOD_GEOMETRY_H
#define GUFUNC_CORE_METHOD_GEOMETRY_H

#include <gufunc/backend.h>

#include <string>

#include "core/backend/backend.h"
#include "core/op/call_view.h"

namespace gufunc::method {

// One dimension; steps of what does not have it are 0.
struct Axis {
  int64_t extent;
  int64_t input_step;
  int64_t output_step;
  int64_t mask_step;
};

// Not initialised as a whole: `begin` does what is not per method.
struct Geometry {
  int32_t nkept;
  int32_t nfold;
  bool overfull;            // whether more dimensions were added than fit
  Axis kept[GUF_MAX_NDIM];  // any order
  Axis fold[GUF_MAX_NDIM];  // in the order in which they are folded
  uint64_t input_bits;      // OR of what is added to the addresses besides steps, for alignment
  uint64_t output_bits;
  const void *record_initial;  // guf_backend_method.initial
  guf_method_block block;

  void keep(const Axis &axis) { append(axis, kept, &nkept); }
  void add_fold(const Axis &axis) { append(axis, fold, &nfold); }

 private:
  void append(const Axis &axis, Axis *places, int32_t *count) {
    if (__builtin_expect(*count == GUF_MAX_NDIM, 0)) {
      overfull = true;
    } else {
      places[(*count)++] = axis;
    }
  }
};

// How the loop is folded: guf_method_flag, but for GUF_METHOD_INITIAL.
uint32_t fold_flags(int32_t method, const op::CallView &call, const op::Loop &loop);

// Starts a geometry: method, flags, dtypes and addresses from the operands and the loop.
// `input` may be nullptr (at with a unary ufunc).
void begin(int32_t method, const op::CallView &call, const op::Loop &loop,
           const op::OperandView *input, const op::OperandView &output, Geometry *out);

// The kernels that a method runs with.
struct Code {
  void *kernel;
  void *fold;  // nullptr: none, or a unary loop's
};
// Errors  those of backend::kernel_of and fold_of;  GUF_E_UNSUPPORTED <= the loop has a record
//         among its types, and the backend's methods take none
guf_status find_code(const op::CallView &call, const op::Loop &loop, Code *out, guf_error *error);

// Drops, flips, sorts and merges dimensions, then launches, looping over what a block does not
// hold. At most GUF_MAX_LOOP_NDIM fold dimensions are left by `merge_folds` or by the caller.
// Errors  those of a launch;  GUF_E_INTERNAL <= more fold dimensions than that, or an overfull
//         geometry
guf_status run(const op::CallView &call, const op::Loop &loop, const Code &code, Geometry *geometry,
               guf_error *error);

// What is told where there is no element of a result.
guf_status describe_nothing(std::string *out);

// How the backend would run it, in lines behind `out`'s: nothing where it does not say.
// Errors  GUF_E_UNSUPPORTED <= the call asks for events, and the backend looks for none
guf_status describe(const op::CallView &call, const op::Loop &loop, const Code &code,
                    Geometry *geometry, std::string *out, guf_error *error);

// Removes fold dimensions of extent 1 and, where any order gives the same bits, walks them in the
// order of their strides and as few as possible; a mixed loop's order stays.
void merge_folds(Geometry *geometry);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_GEOMETRY_H
