// SPDX-License-Identifier: Apache-2.0
// Validation of axis numbers.
#include "core/array/axes.h"

namespace gufunc::array {

guf_status normalize_axis(int64_t axis, int32_t ndim, int32_t *out, guf_error *error) {
  if (axis < -ndim || axis >= ndim) {
    return base::fail(error, GUF_E_AXIS, base::kNone,
                      axis == static_cast<int32_t>(axis) ? static_cast<int32_t>(axis) : base::kNone,
                      "axis %lld is out of bounds for array of dimension %d",
                      static_cast<long long>(axis), ndim);
  }
  *out = static_cast<int32_t>(axis < 0 ? axis + ndim : axis);
  return GUF_OK;
}

guf_status mark_axes(int32_t naxes, const int64_t *axes, int32_t ndim, const char *repeated,
                     AxisSet *out, guf_error *error) {
  for (int32_t i = 0; i < naxes; ++i) {
    int32_t axis = 0;
    GUF_TRY(normalize_axis(axes[i], ndim, &axis, error));
    if (out->test(static_cast<size_t>(axis))) {
      return base::fail(error, GUF_E_AXIS, base::kNone, axis, "%s; axis %d is named twice",
                        repeated, axis);
    }
    out->set(static_cast<size_t>(axis));
  }
  return GUF_OK;
}

}  // namespace gufunc::array
