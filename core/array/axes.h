// SPDX-License-Identifier: Apache-2.0
// Axis numbers as callers give them: negative from the end, checked, with NumPy's texts.
#ifndef GUFUNC_CORE_ARRAY_AXES_H
#define GUFUNC_CORE_ARRAY_AXES_H

#include <bitset>

#include "core/array/array.h"

namespace gufunc::array {

using AxisSet = std::bitset<GUF_MAX_NDIM>;

// Errors  GUF_E_AXIS <= outside -ndim..ndim-1
guf_status normalize_axis(int64_t axis, int32_t ndim, int32_t *out, guf_error *error);

// Marks the named axes.  Errors  GUF_E_AXIS <= out of range, or repeated (with the text `repeated`)
guf_status mark_axes(int32_t naxes, const int64_t *axes, int32_t ndim, const char *repeated,
                     AxisSet *out, guf_error *error);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_AXES_H
