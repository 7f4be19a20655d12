// SPDX-License-Identifier: Apache-2.0
// Views: slices, permutations, inserted, removed and broadcast axes, and sliding windows.
#include "core/array/views.h"

#include <algorithm>
#include <limits>

#include "core/array/axes.h"
#include "core/base/checked.h"

namespace gufunc::array {
namespace {

constexpr int64_t kOmitted = std::numeric_limits<int64_t>::min();

// Clamps a bound to low..high. Negative bounds count from the end.
int64_t clip(int64_t bound, int64_t extent, int64_t low, int64_t high) {
  if (bound < 0) bound += extent;
  return std::clamp(bound, low, high);
}

uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

guf_status fail_ndim(int64_t ndim, guf_error *error) {
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                    "maximum supported dimension for an ndarray is %d, found %lld", GUF_MAX_NDIM,
                    static_cast<long long>(ndim));
}

}  // namespace

guf_status Dimensions::check(guf_error *error) const {
  if (__builtin_expect(!overfull, 1)) return GUF_OK;
  return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                    "expected a view of at most %d axes, got more", static_cast<int>(GUF_MAX_NDIM));
}

guf_status make_view(const Array &array, const Dimensions &dimensions, uint64_t address,
                     bool read_only, base::Ref<Array> *out, guf_error *error) {
  GUF_TRY(dimensions.check(error));
  uint32_t flags = array.flags() & (GUF_ARRAY_READ_ONLY | GUF_ARRAY_SWAPPED);
  if (read_only) flags |= GUF_ARRAY_READ_ONLY;
  const Layout layout = {array.layout().dtype, dimensions.ndim, dimensions.shape,
                         dimensions.strides, address};
  *out = base::Ref<Array>::adopt(new Array(layout, flags, array.device(), array.storage()));
  return GUF_OK;
}

void slice_indices(int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *out_start,
                   int64_t *out_length) {
  const bool back = step < 0;
  const int64_t low = back ? -1 : 0;
  const int64_t high = back ? extent - 1 : extent;
  const int64_t first = start == kOmitted ? (back ? high : low) : clip(start, extent, low, high);
  const int64_t end = stop == kOmitted ? (back ? low : high) : clip(stop, extent, low, high);
  const int64_t distance = back ? first - end : end - first;
  if (distance <= 0) {
    *out_start = 0;
    *out_length = 0;
    return;
  }
  *out_start = first;
  *out_length = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / magnitude(step) + 1);
}

guf_status slice(const Array &array, int32_t naxes, const int64_t *starts, const int64_t *stops,
                 const int64_t *steps, base::Ref<Array> *out, guf_error *error) {
  const Layout &from = array.layout();
  if (naxes < 0 || naxes > from.ndim) {
    return base::fail(error, GUF_E_INDEX, base::kNone, base::kNone,
                      "too many indices for array: array is %d-dimensional, but %d were indexed",
                      from.ndim, naxes);
  }
  Dimensions to;
  uint64_t address = from.address;
  for (int32_t axis = 0; axis < from.ndim; ++axis) {
    if (axis >= naxes) {
      to.append(from.shape[axis], from.strides[axis]);
      continue;
    }
    if (steps[axis] == 0) {
      return base::fail(error, GUF_E_VALUE, base::kNone, axis, "slice step cannot be zero; axis %d",
                        axis);
    }
    int64_t start = 0;
    int64_t length = 0;
    slice_indices(from.shape[axis], starts[axis], stops[axis], steps[axis], &start, &length);
    // If the product overflows, the slice has at most one element, so any stride is valid.
    int64_t stride = 0;
    if (length < 2 || !base::checked_mul(from.strides[axis], steps[axis], &stride)) {
      stride = from.strides[axis];
    }
    address += static_cast<uint64_t>(start) * static_cast<uint64_t>(from.strides[axis]);
    to.append(length, stride);
  }
  return make_view(array, to, array.size() == 0 ? from.address : address, false, out, error);
}

guf_status transpose(const Array &array, int32_t naxes, const int64_t *axes, base::Ref<Array> *out,
                     guf_error *error) {
  const Layout &from = array.layout();
  Dimensions to;
  if (axes == nullptr) {
    for (int32_t i = from.ndim; i-- > 0;) to.append(from.shape[i], from.strides[i]);
  } else {
    if (naxes != from.ndim) {
      return base::fail(error, GUF_E_VALUE, base::kNone, base::kNone,
                        "axes don't match array; expected %d axes, got %d", from.ndim, naxes);
    }
    AxisSet seen;
    GUF_TRY(mark_axes(naxes, axes, from.ndim, "repeated axis in transpose", &seen, error));
    for (int32_t i = 0; i < naxes; ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + from.ndim : axes[i];
      to.append(from.shape[axis], from.strides[axis]);
    }
  }
  return make_view(array, to, from.address, false, out, error);
}

guf_status broadcast_to(const Array &array, int32_t ndim, const int64_t *shape,
                        base::Ref<Array> *out, guf_error *error) {
  const Layout &from = array.layout();
  uint64_t size = 0;
  GUF_TRY(count_elements(from.dtype, ndim, shape, &size, error));
  if (ndim == 0 && from.ndim > 0) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "cannot broadcast a non-scalar to a scalar array");
  }
  if (ndim < from.ndim) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "input operand has more dimensions than allowed by the axis remapping; "
                      "expected at most %d, got %d",
                      ndim, from.ndim);
  }
  Dimensions to;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const int32_t own = axis - (ndim - from.ndim);
    const int64_t extent = own < 0 ? 1 : from.shape[own];
    if (extent != 1 && extent != shape[axis]) {
      base::Text original;
      base::Text requested;
      original.add_shape(from.shape, from.ndim);
      requested.add_shape(shape, ndim);
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "operands could not be broadcast together with remapped shapes "
                        "[original->remapped]: %s  and requested shape %s",
                        original.c_str(), requested.c_str());
    }
    to.append(shape[axis], extent == 1 ? 0 : from.strides[own]);
  }
  return make_view(array, to, from.address, true, out, error);
}

guf_status squeeze(const Array &array, int32_t naxes, const int64_t *axes, base::Ref<Array> *out,
                   guf_error *error) {
  const Layout &from = array.layout();
  AxisSet drop;
  if (axes == nullptr) {
    for (int32_t axis = 0; axis < from.ndim; ++axis) {
      drop.set(static_cast<size_t>(axis), from.shape[axis] == 1);
    }
  } else {
    GUF_TRY(mark_axes(naxes, axes, from.ndim, "duplicate value in 'axis'", &drop, error));
  }
  Dimensions to;
  for (int32_t axis = 0; axis < from.ndim; ++axis) {
    if (!drop.test(static_cast<size_t>(axis))) {
      to.append(from.shape[axis], from.strides[axis]);
    } else if (from.shape[axis] != 1) {
      return base::fail(
          error, GUF_E_SHAPE, base::kNone, axis,
          "cannot select an axis to squeeze out which has size not equal to one; axis %d: got %lld",
          axis, static_cast<long long>(from.shape[axis]));
    }
  }
  return make_view(array, to, from.address, false, out, error);
}

guf_status expand_dims(const Array &array, int32_t naxes, const int64_t *axes,
                       base::Ref<Array> *out, guf_error *error) {
  const Layout &from = array.layout();
  if (naxes < 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "naxes is negative: %d", naxes);
  }
  if (naxes > GUF_MAX_NDIM - from.ndim) {
    return fail_ndim(int64_t{from.ndim} + naxes, error);
  }
  const int32_t ndim = from.ndim + naxes;
  AxisSet inserted;
  GUF_TRY(mark_axes(naxes, axes, ndim, "repeated axis", &inserted, error));
  Dimensions to;
  for (int32_t axis = 0, own = 0; axis < ndim; ++axis) {
    if (inserted.test(static_cast<size_t>(axis))) {
      to.append(1, 0);
    } else {
      to.append(from.shape[own], from.strides[own]);
      ++own;
    }
  }
  return make_view(array, to, from.address, false, out, error);
}

guf_status sliding_window(const Array &array, int32_t naxes, const int64_t *axes,
                          const int64_t *windows, base::Ref<Array> *out, guf_error *error) {
  const Layout &from = array.layout();
  if (naxes < 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "naxes is negative: %d", naxes);
  }
  if (naxes > GUF_MAX_NDIM - from.ndim) {
    return fail_ndim(int64_t{from.ndim} + naxes, error);
  }
  Dimensions to;
  for (int32_t axis = 0; axis < from.ndim; ++axis) to.append(from.shape[axis], from.strides[axis]);
  // As in NumPy, an axis may occur several times. Each window further shortens the axis.
  for (int32_t i = 0; i < naxes; ++i) {
    int32_t axis = 0;
    GUF_TRY(normalize_axis(axes[i], from.ndim, &axis, error));
    if (windows[i] < 1 || windows[i] > to.shape[axis]) {
      return base::fail(
          error, GUF_E_SHAPE, base::kNone, axis, "%s; axis %d: expected 1 to %lld, got %lld",
          windows[i] < 0 ? "`window_shape` cannot contain negative values"
                         : "window shape cannot be larger than input array shape",
          axis, static_cast<long long>(to.shape[axis]), static_cast<long long>(windows[i]));
    }
    to.shape[axis] -= windows[i] - 1;
    to.append(windows[i], from.strides[axis]);
  }
  uint64_t size = 0;
  GUF_TRY(count_elements(from.dtype, to.ndim, to.shape, &size, error));
  return make_view(array, to, from.address, true, out, error);
}

guf_status strides_like(const Layout &layout, int32_t order, guf_dtype dtype, int64_t *out_strides,
                        guf_error *error) {
  // The layout is valid for the dtype of its array, but with a larger `dtype` the result may be too
  // large.
  uint64_t size = 0;
  GUF_TRY(count_elements(dtype, layout.ndim, layout.shape, &size, error));
  if (order == GUF_ORDER_C || order == GUF_ORDER_F) {
    contiguous_strides(dtype, layout.ndim, layout.shape, order, out_strides);
    return GUF_OK;
  }
  // Axes are sorted from the outermost to the innermost. Axes with equal strides stay in C order.
  int32_t axes[GUF_MAX_NDIM];
  for (int32_t i = 0; i < layout.ndim; ++i) axes[i] = i;
  std::sort(axes, axes + layout.ndim, [&layout](int32_t a, int32_t b) {
    const uint64_t step_a = magnitude(layout.strides[a]);
    const uint64_t step_b = magnitude(layout.strides[b]);
    return step_a != step_b ? step_a > step_b : a < b;
  });
  auto stride = static_cast<int64_t>(dtype::itemsize(dtype));
  for (int32_t i = layout.ndim; i-- > 0;) {
    out_strides[axes[i]] = stride;
    stride *= std::max<int64_t>(layout.shape[axes[i]], 1);
  }
  return GUF_OK;
}

}  // namespace gufunc::array
