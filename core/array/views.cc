// SPDX-License-Identifier: Apache-2.0
// Views: slices, permutations, inserted, removed and broadcast axes, sliding windows, and other
// shapes, if the strides permit them without a copy.
#include "core/array/views.h"

#include <algorithm>
#include <limits>

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

guf_status fail_reshape(const Array &array, int32_t ndim, const int64_t *shape, guf_error *error) {
  // NumPy's message omits unknown extents at the front.
  int32_t first = 0;
  while (first < ndim && shape[first] < 0) ++first;
  base::Text text;
  text.add("(");
  for (int32_t axis = first; axis < ndim; ++axis) {
    if (axis > first) text.add(",");
    if (shape[axis] < 0) {
      text.add("newaxis");
    } else {
      text.add("%lld", static_cast<long long>(shape[axis]));
    }
  }
  text.add(ndim == 1 ? ",)" : ")");
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                    "cannot reshape array of size %llu into shape %s",
                    static_cast<unsigned long long>(array.size()), text.c_str());
}

// Copies the shape, computes the extent passed as -1, and checks the sizes.
guf_status complete_shape(const Array &array, int32_t ndim, const int64_t *shape, Dimensions *out,
                          guf_error *error) {
  GUF_TRY(check_ndim(ndim, error));
  int32_t unknown = -1;
  int64_t known = 1;
  bool overflow = false;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if (shape[axis] < -1) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "negative dimensions are not allowed; axis %d: got %lld", axis,
                        static_cast<long long>(shape[axis]));
    }
    if (shape[axis] == -1) {
      if (unknown >= 0) {
        return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                          "can only specify one unknown dimension");
      }
      unknown = axis;
    } else {
      overflow |= !base::checked_mul(known, shape[axis], &known);
    }
    out->append(shape[axis], 0);
  }
  const auto size = static_cast<int64_t>(array.size());
  if (overflow) return fail_reshape(array, ndim, shape, error);
  if (unknown >= 0) {
    if (known == 0 || size % known != 0) return fail_reshape(array, ndim, shape, error);
    out->shape[unknown] = size / known;
  } else if (known != size) {
    return fail_reshape(array, ndim, shape, error);
  }
  return GUF_OK;
}

// Enumerates the axes, innermost first. The caller omits source axes of extent 1.
struct Walk {
  int32_t ndim;
  bool fortran;
  int32_t axis(int32_t i) const { return fortran ? i : ndim - 1 - i; }
};

// Returns the stride of the next outer axis, which is stride * extent. The product can overflow
// only if the next axis has at most one element or the array is empty. Any stride is then valid.
int64_t after(int64_t stride, int64_t extent) {
  return static_cast<int64_t>(base::offset_of(stride, extent));
}

// Computes the strides with which `to` visits the elements of the source in order. Returns false if
// no such strides exist. Both shapes are split, from the innermost axis on, into groups with the
// same number of elements. The source axes of a group must be contiguous with each other.
bool fit_strides(const Dimensions &source, bool fortran, Dimensions *to) {
  const Walk from_walk{source.ndim, fortran};
  const Walk to_walk{to->ndim, fortran};
  int32_t i = 0;
  int32_t j = 0;
  while (i < source.ndim) {
    int64_t run = source.shape[from_walk.axis(i)];
    const int64_t step = source.strides[from_walk.axis(i)];
    ++i;
    int64_t covered = 1;
    const int32_t first = j;
    while (covered != run) {
      if (covered < run) {
        covered *= to->shape[to_walk.axis(j++)];
        continue;
      }
      if (!base::is_product(source.strides[from_walk.axis(i)], step, run)) return false;
      run *= source.shape[from_walk.axis(i++)];
    }
    int64_t stride = step;
    for (int32_t k = first; k < j; ++k) {
      to->strides[to_walk.axis(k)] = stride;
      stride = after(stride, to->shape[to_walk.axis(k)]);
    }
  }
  // The remaining axes of `to` have extent 1.
  for (; j < to->ndim; ++j) {
    const int32_t before = j == 0 ? 0 : to_walk.axis(j - 1);
    to->strides[to_walk.axis(j)] = j == 0 ? 0 : after(to->strides[before], to->shape[before]);
  }
  return true;
}

bool is_contiguous(const Array &array, bool fortran) {
  return (array.flags() & (fortran ? GUF_ARRAY_F_CONTIGUOUS : GUF_ARRAY_C_CONTIGUOUS)) != 0;
}

}  // namespace

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
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "naxes: expected 0 or more, got %d", naxes);
  }
  GUF_TRY(check_ndim(int64_t{from.ndim} + naxes, error));
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
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "naxes: expected 0 or more, got %d", naxes);
  }
  GUF_TRY(check_ndim(int64_t{from.ndim} + naxes, error));
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

guf_status reshape(const Array &array, int32_t ndim, const int64_t *shape, int32_t order,
                   base::Ref<Array> *out, guf_error *error) {
  if (order != GUF_ORDER_C && order != GUF_ORDER_F && order != GUF_ORDER_ANY) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "order: expected GUF_ORDER_C, GUF_ORDER_F or GUF_ORDER_ANY, got %d", order);
  }
  Dimensions to;
  GUF_TRY(complete_shape(array, ndim, shape, &to, error));
  const Layout &from = array.layout();
  uint64_t size = 0;  // complete_shape does not check the extents of an empty array
  GUF_TRY(count_elements(from.dtype, to.ndim, to.shape, &size, error));
  const bool fortran = resolve_order(array, order) == GUF_ORDER_F;
  if (is_contiguous(array, fortran)) {
    contiguous_strides(from.dtype, to.ndim, to.shape, fortran ? GUF_ORDER_F : GUF_ORDER_C,
                       to.strides);
  } else {
    Dimensions source;
    for (int32_t axis = 0; axis < from.ndim; ++axis) {
      if (from.shape[axis] != 1) source.append(from.shape[axis], from.strides[axis]);
    }
    GUF_TRY(source.check(error));
    if (!fit_strides(source, fortran, &to)) {
      return base::fail(
          error, GUF_E_UNSUPPORTED, base::kNone, base::kNone,
          "incompatible shape for a non-contiguous array: no strides can express this "
          "view; copy the array first");
    }
  }
  return make_view(array, to, from.address, false, out, error);
}

guf_status ravel(const Array &array, int32_t order, base::Ref<Array> *out, guf_error *error) {
  const auto size = static_cast<int64_t>(array.size());
  return reshape(array, 1, &size, order, out, error);
}

}  // namespace gufunc::array
