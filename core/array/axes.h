// SPDX-License-Identifier: Apache-2.0
// Validation of axis numbers, with NumPy's messages. Negative numbers count from the end.
#ifndef GUFUNC_CORE_ARRAY_AXES_H
#define GUFUNC_CORE_ARRAY_AXES_H

#include <bitset>

#include "core/array/array.h"

namespace gufunc::array {

using AxisSet = std::bitset<GUF_MAX_NDIM>;

// Converts a negative axis number to the equivalent number in 0..ndim-1.
// Errors  GUF_E_AXIS <= not in -ndim..ndim-1
guf_status normalize_axis(int64_t axis, int32_t ndim, int32_t *out, guf_error *error);

// Adds the given axes to the set.
// Errors  GUF_E_AXIS <= out of range, or repeated; `repeated` is the message for repeated axes
guf_status mark_axes(int32_t naxes, const int64_t *axes, int32_t ndim, const char *repeated,
                     AxisSet *out, guf_error *error);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_AXES_H
