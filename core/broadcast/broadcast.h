// SPDX-License-Identifier: Apache-2.0
// Broadcasting: NumPy's rules for loop and core dimensions, and the rules of signatures. The result
// consists of the extents of the loop dimensions, the sizes of the core dimensions, and the
// positions of the operands' core axes.
#ifndef GUFUNC_CORE_BROADCAST_BROADCAST_H
#define GUFUNC_CORE_BROADCAST_BROADCAST_H

#include "core/op/call_view.h"

namespace gufunc::broadcast {

inline constexpr int64_t kUnknown = -1;  // the size of a core dimension that is not determined yet

// The fields are uninitialised: `broadcast_operands` writes the entries that are used. Other code
// that fills a LoopShape must write every entry that is read.
struct LoopShape {
  int32_t ndim;  // number of loop dimensions
  int64_t extent[GUF_MAX_NDIM];
  uint64_t items;  // product of the extents

  // The number of core axes of operand i, which are the operand's last axes. Missing optional
  // dimensions do not count. With keepdims=, the kept axes of an output count.
  int32_t core_ndim[GUF_MAX_OPERANDS];
  int64_t core_size[GUF_MAX_CORE_NAMES];  // per distinct dimension; 1 if the dimension is missing
  uint32_t missing;                       // bit d: optional dimension d is missing
  bool keepdims;

  // With axes= or axis=, `broadcast_operands` permutes the operands so that their core axes come
  // last. Axis k of the permuted operand i is axis axis_permutation[i][k] of the caller's operand.
  bool permuted = false;
  int8_t axis_permutation[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
  int64_t shape_buffer[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
};

static_assert(GUF_MAX_CORE_NAMES <= 32, "`missing` has one bit for each");

// Computes the loop dimensions and the core sizes of a call whose dtypes are resolved. With axes=
// or axis=, the layouts of the operands are replaced by permuted layouts, which point into `out`
// and `call.stride_buffer`. Reads elements only to evaluate value rules such as "n=value(1)".
// Errors  GUF_E_SHAPE <= shapes do not broadcast (NumPy's messages), or a rule contradicts a size
//         GUF_E_AXIS, GUF_E_ARG <= invalid axes=, axis=, keepdims= or dims=
//         GUF_E_VALUE <= the operand of a value rule has several values, or its value is not a size
//         GUF_E_DEVICE_MISMATCH <= the operand of a value rule is in device memory
guf_status broadcast_operands(op::CallView &call, LoopShape *out, guf_error *error);

// Computes the shape of an operand in the kernel's order: the loop extents, then the core sizes.
// `out` has GUF_MAX_NDIM entries.
// Errors  GUF_E_SHAPE <= more than GUF_MAX_NDIM dimensions
guf_status operand_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                         int32_t *out_ndim, int64_t *out, guf_error *error);

// Like operand_shape, but with the axes in the order that the caller requested with axes=.
guf_status caller_shape(const op::CallView &call, const LoopShape &loop, int32_t operand,
                        int32_t *out_ndim, int64_t *out, guf_error *error);

// Computes the strides of an output that the library allocates, for the shape from operand_shape.
// order= has NumPy's meaning. With K, the loop dimensions follow the strides of the operands that
// the caller passed, and the core dimensions are last, in C order. With F, the whole output is
// F-contiguous.
// Errors  GUF_E_SHAPE <= the size overflows
guf_status result_strides(const op::CallView &call, const LoopShape &loop, int32_t operand,
                          int32_t ndim, const int64_t *shape, int64_t *out, guf_error *error);

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_BROADCAST_H
