// SPDX-License-Identifier: Apache-2.0
// Layout arithmetic: sizes, strides, bounds, and the array flags that are computed from them.
#include "core/array/array.h"

#include <algorithm>
#include <limits>

#include "core/base/checked.h"

namespace gufunc::array {
namespace {

constexpr uint32_t kGivenFlags = GUF_ARRAY_READ_ONLY | GUF_ARRAY_SWAPPED | GUF_ARRAY_OWNS_DATA;

bool is_empty(const Layout &layout) {
  return std::find(layout.shape, layout.shape + layout.ndim, 0) != layout.shape + layout.ndim;
}

uint32_t computed_flags(const Layout &layout) {
  uint32_t flags = 0;
  if (is_contiguous(layout, false)) flags |= GUF_ARRAY_C_CONTIGUOUS;
  if (is_contiguous(layout, true)) flags |= GUF_ARRAY_F_CONTIGUOUS;
  if (is_aligned(layout)) flags |= GUF_ARRAY_ALIGNED;
  return flags;
}

}  // namespace

bool is_contiguous(const Layout &layout, bool fortran) {
  auto expected = static_cast<int64_t>(dtype::itemsize(layout.dtype));
  bool follows = true;
  for (int32_t i = 0; i < layout.ndim; ++i) {
    const int32_t axis = fortran ? i : layout.ndim - 1 - i;
    if (layout.shape[axis] == 0) return true;
    if (layout.shape[axis] == 1) continue;
    follows = follows && layout.strides[axis] == expected;
    expected *= layout.shape[axis];
  }
  return follows;
}

bool is_aligned(const Layout &layout) {
  uint64_t bits = layout.address;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    if (layout.shape[axis] == 0) return true;
    if (layout.shape[axis] > 1) bits |= static_cast<uint64_t>(layout.strides[axis]);
  }
  return bits % dtype::alignment(layout.dtype) == 0;
}

Array::Array(const Layout &layout, uint32_t flags, backend::Device *device,
             base::Ref<Storage> storage)
    : Object(kKind), layout_(layout), device_(device), storage_(std::move(storage)) {
  int64_t *dimensions = inline_;
  if (layout.ndim > kInlineNdim) {
    heap_.reset(new int64_t[2 * static_cast<size_t>(layout.ndim)]);
    dimensions = heap_.get();
  }
  std::copy_n(layout.shape, layout.ndim, dimensions);
  std::copy_n(layout.strides, layout.ndim, dimensions + layout.ndim);
  layout_.shape = dimensions;
  layout_.strides = dimensions + layout.ndim;
  span_ = span_of(layout_);
  flags_ = (flags & kGivenFlags) | computed_flags(layout_);
  size_ = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    size_ *= static_cast<uint64_t>(layout.shape[axis]);
  }
}

// If `ndim` is too large, the message is NumPy's.
guf_status check_ndim(int64_t ndim, guf_error *error) {
  if (ndim >= 0 && ndim <= GUF_MAX_NDIM) return GUF_OK;
  const auto found = static_cast<long long>(ndim);
  if (ndim < 0) {
    return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                      "ndim: expected 0..%d, got %lld", GUF_MAX_NDIM, found);
  }
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone,
                    "maximum supported dimension for an ndarray is %d, found %lld", GUF_MAX_NDIM,
                    found);
}

guf_status count_elements(guf_dtype dtype, int32_t ndim, const int64_t *shape, uint64_t *out_size,
                          guf_error *error) {
  GUF_TRY(check_ndim(ndim, error));
  // All extents of an empty array are checked, because views and copies of the array compute sizes
  // from them.
  auto bytes = static_cast<int64_t>(dtype::itemsize(dtype));
  bool empty = false;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    const int64_t extent = shape[axis];
    if (extent < 0) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "negative dimensions are not allowed; axis %d: got %lld", axis,
                        static_cast<long long>(extent));
    }
    if (extent == 0) {
      empty = true;
    } else if (!base::checked_mul(bytes, extent, &bytes)) {
      return base::fail(error, GUF_E_SHAPE, base::kNone, axis,
                        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                        "maximum possible size.");
    }
  }
  *out_size = empty ? 0 : static_cast<uint64_t>(bytes) / dtype::itemsize(dtype);
  return GUF_OK;
}

void contiguous_strides(guf_dtype dtype, int32_t ndim, const int64_t *shape, int32_t order,
                        int64_t *out_strides) {
  // As in NumPy, an extent of 0 is treated as 1, so that no stride becomes 0.
  auto stride = static_cast<int64_t>(dtype::itemsize(dtype));
  for (int32_t i = 0; i < ndim; ++i) {
    const int32_t axis = order == GUF_ORDER_F ? i : ndim - 1 - i;
    out_strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
}

void bound_strides(const Layout &layout, int64_t *out_strides) {
  constexpr int64_t kFurthest = std::numeric_limits<int64_t>::max() / GUF_MAX_NDIM;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t stride = layout.strides[axis];
    int64_t reach = 0;
    const bool fits = base::checked_mul(stride, std::max<int64_t>(layout.shape[axis], 1), &reach) &&
                      reach >= -kFurthest && reach <= kFurthest;
    out_strides[axis] = fits ? stride : 0;
  }
}

bool byte_bounds(const Layout &layout, int64_t *out_low, int64_t *out_high) {
  *out_low = 0;
  *out_high = 0;
  if (is_empty(layout)) return true;
  int64_t low = 0;
  auto high = static_cast<int64_t>(dtype::itemsize(layout.dtype));
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    int64_t reach = 0;
    if (!base::checked_mul(layout.shape[axis] - 1, layout.strides[axis], &reach)) return false;
    int64_t &end = reach < 0 ? low : high;
    if (!base::checked_add(end, reach, &end)) return false;
  }
  // high - low must fit as well, because callers subtract the bounds.
  int64_t span = 0;
  if (!base::checked_sub(high, low, &span)) return false;
  *out_low = low;
  *out_high = high;
  return true;
}

}  // namespace gufunc::array
