// SPDX-License-Identifier: Apache-2.0
// The result of broadcasting: the extents of the loop dimensions, the sizes of the core dimensions,
// and the positions of the operands' core axes.
#ifndef GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H
#define GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H

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

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H
