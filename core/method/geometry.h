// SPDX-License-Identifier: Apache-2.0
// The dimensions of a method's launch: the kept dimensions (those that are not reduced), the
// reduced dimensions, and their strides. For reductions over more axes than a block can store, the
// leading axes are merged into one axis.
#ifndef GUFUNC_CORE_METHOD_GEOMETRY_H
#define GUFUNC_CORE_METHOD_GEOMETRY_H

#include <gufunc/backend.h>

#include <string>

#include "core/array/views.h"
#include "core/backend/backend.h"
#include "core/call/temporaries.h"
#include "core/method/method.h"
#include "core/op/call_view.h"

namespace gufunc::method {

// One dimension. The step of an operand without this dimension is 0.
struct Axis {
  int64_t extent;
  int64_t input_step;
  int64_t output_step;
  int64_t mask_step;
};

// The dimensions and the block of a launch. A new object is uninitialised; `begin` sets all fields
// that do not depend on the method.
struct Geometry {
  int32_t nkept;
  int32_t nreduced;
  bool overfull;               // whether too many dimensions were added
  Axis kept[GUF_MAX_NDIM];     // kept dimensions, in any order
  Axis reduced[GUF_MAX_NDIM];  // reduced dimensions, in the order of the reduction
  uint64_t input_bits;         // at: OR of the index offsets, for the alignment check
  uint64_t output_bits;
  const void *structured_initial;  // becomes guf_backend_method.initial
  guf_method_block block;

  void keep(const Axis &axis) { append(axis, kept, &nkept); }
  void reduce(const Axis &axis) { append(axis, reduced, &nreduced); }

 private:
  void append(const Axis &axis, Axis *axes, int32_t *count) {
    if (__builtin_expect(*count == GUF_MAX_NDIM, 0)) {
      overfull = true;
    } else {
      axes[(*count)++] = axis;
    }
  }
};

// Returns the guf_method_flag bits of a reduction with this loop, without GUF_METHOD_INITIAL.
uint32_t method_flags(int32_t method, const op::CallView &call, const op::Loop &loop);

// Fills in the first part of a geometry: the method, the flags, the dtypes and the addresses, from
// the operands and the loop. `input` is nullptr for `at` with a unary ufunc.
void begin(int32_t method, const op::CallView &call, const op::Loop &loop,
           const op::OperandView *input, const op::OperandView &output, Geometry *out);

// The kernels of a method.
struct MethodKernels {
  void *kernel;
  void *fold;  // fold entry (enum guf_fold); nullptr if the loop has none or the ufunc is unary
};
// Finds the kernels of a method.
// Errors  as backend::load_kernel and load_fold
//         GUF_E_UNSUPPORTED <= the loop has a structured dtype, which the backend's methods do
//         not support
guf_status find_kernels(const op::CallView &call, const op::Loop &loop, MethodKernels *out,
                        guf_error *error);

// Simplifies the kept dimensions, then launches: drops extents of 1, makes negative steps positive,
// sorts and merges. If kept dimensions do not fit into a block, launches once per index of these
// dimensions. The caller or `merge_folds` must ensure that at most GUF_MAX_LOOP_NDIM reduced
// dimensions remain.
// Errors  as a launch
//         GUF_E_INTERNAL <= too many reduced dimensions, or an overfull geometry
guf_status run(const op::CallView &call, const op::Loop &loop, const MethodKernels &kernels,
               Geometry *geometry, guf_error *error);

// Appends the description of a method call that launches nothing, because there are no elements to
// compute.
guf_status describe_nothing(std::string *out);

// Appends to `out` how the backend would run the method, or nothing if the backend provides no
// description.
// Errors  GUF_E_UNSUPPORTED <= floating-point flags are requested, but the backend reports none
guf_status describe(const op::CallView &call, const op::Loop &loop, const MethodKernels &kernels,
                    Geometry *geometry, std::string *out, guf_error *error);

// Removes reduced dimensions of extent 1. If the loop is exact, so that every order
// produces the same bits, also sorts the reduced dimensions by stride and merges them where
// possible. For a mixed loop, (X, Y) -> X, keeps the order and merges contiguous dimensions. For
// all other loops, merges only the outermost dimensions, and only if there are more dimensions than
// a block can store.
void merge_folds(Geometry *geometry);

// Returns whether the number of reduced axes of extent > 1 exceeds the limit of a block. Returns
// false if the input has no elements.
bool exceeds_reduced_axis_limit(const array::Layout &input, const array::AxisSet &reduced);

// Copies the input and the mask so that the reduced axes are the innermost axes in memory, in
// unchanged order. Adjacent reduced axes can then be merged into one axis.
// Errors  GUF_E_NO_MEMORY, GUF_E_DEVICE_MEMORY, GUF_E_SHAPE
guf_status make_reduced_axes_contiguous(op::CallView &call, const array::AxisSet &reduced,
                                        call::Temporaries *arrays, guf_error *error);

// Buffer for the layouts that `set_contiguous_layout` sets.
struct ContiguousBuffer {
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];
  int64_t mask_strides[GUF_MAX_NDIM];
};
// Sets the operands to the layout that `make_reduced_axes_contiguous` would produce, to describe a
// reduction.
void set_contiguous_layout(op::CallView &call, const array::AxisSet &reduced,
                           ContiguousBuffer *buffer);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_GEOMETRY_H
