// SPDX-License-Identifier: Apache-2.0
// What broadcasting gives: the loop's extents, the sizes of the core dimensions, and where each
// operand has them.
#ifndef GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H
#define GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H

#include "core/op/call_view.h"

namespace gufunc::broadcast {

inline constexpr int64_t kUnknown = -1;  // a core dimension whose size nothing has given yet

// Not initialised as a whole: `arrange` sets what exists. Code that makes one without it sets all
// that it reads.
struct LoopShape {
  int32_t ndim;  // loop dimensions
  int64_t extent[GUF_MAX_NDIM];
  uint64_t items;  // product of the extents

  // Core axes that operand i really has, its last ones: optional dimensions that are missing do not
  // count, and keepdims= gives outputs axes of extent 1.
  int32_t core_ndim[GUF_MAX_OPERANDS];
  int64_t core_size[GUF_MAX_CORE_NAMES];  // per distinct dimension; 1 when missing
  uint32_t missing;                       // bit d: optional dimension d is missing
  bool keepdims;

  // With axes= or axis=: `arrange` has turned operands so that core axes are the last. Axis k of
  // the turned operand i is axis order[i][k] of the caller's.
  bool turned = false;
  int8_t order[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
  int64_t shape_room[GUF_MAX_OPERANDS][GUF_MAX_NDIM];
};

static_assert(GUF_MAX_CORE_NAMES <= 32, "`missing` has one bit for each");

}  // namespace gufunc::broadcast

#endif  // GUFUNC_CORE_BROADCAST_LOOP_SHAPE_H
