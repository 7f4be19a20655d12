// SPDX-License-Identifier: Apache-2.0
// Views: other shapes and strides over the same storage, with NumPy's rules and messages. Also
// validates axis numbers. Negative numbers count from the end.
#ifndef GUFUNC_CORE_ARRAY_VIEWS_H
#define GUFUNC_CORE_ARRAY_VIEWS_H

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

// The shape and strides of a view under construction. append() drops dimensions beyond
// GUF_MAX_NDIM, which check() then reports.
struct Dimensions {
  int32_t ndim = 0;
  bool overfull = false;  // whether a dimension was dropped
  int64_t shape[GUF_MAX_NDIM];
  int64_t strides[GUF_MAX_NDIM];

  void append(int64_t extent, int64_t stride) {
    if (__builtin_expect(ndim == GUF_MAX_NDIM, 0)) {
      overfull = true;
      return;
    }
    shape[ndim] = extent;
    strides[ndim] = stride;
    ++ndim;
  }
  // Errors  GUF_E_INTERNAL <= overfull
  guf_status check(guf_error *error) const;
};

// Creates an array that shares the storage, byte order and read-only flag of `array`.
// Errors  GUF_E_INTERNAL <= more than GUF_MAX_NDIM dimensions. Throws std::bad_alloc
guf_status make_view(const Array &array, const Dimensions &dimensions, uint64_t address,
                     bool read_only, base::Ref<Array> *out, guf_error *error);

// The functions below have the parameters and errors of the public functions of the same name, such
// as guf_array_slice. The C API layer has already checked the pointers.

// Computes the start and the length of a slice of `extent` elements, like Python's slice.indices.
// INT64_MIN represents an omitted bound.
void slice_indices(int64_t extent, int64_t start, int64_t stop, int64_t step, int64_t *out_start,
                   int64_t *out_length);

guf_status slice(const Array &array, int32_t naxes, const int64_t *starts, const int64_t *stops,
                 const int64_t *steps, base::Ref<Array> *out, guf_error *error);
guf_status reshape(const Array &array, int32_t ndim, const int64_t *shape, int32_t order,
                   base::Ref<Array> *out, guf_error *error);
guf_status ravel(const Array &array, int32_t order, base::Ref<Array> *out, guf_error *error);
guf_status transpose(const Array &array, int32_t naxes, const int64_t *axes, base::Ref<Array> *out,
                     guf_error *error);
guf_status broadcast_to(const Array &array, int32_t ndim, const int64_t *shape,
                        base::Ref<Array> *out, guf_error *error);
guf_status squeeze(const Array &array, int32_t naxes, const int64_t *axes, base::Ref<Array> *out,
                   guf_error *error);
guf_status expand_dims(const Array &array, int32_t naxes, const int64_t *axes,
                       base::Ref<Array> *out, guf_error *error);
guf_status sliding_window(const Array &array, int32_t naxes, const int64_t *axes,
                          const int64_t *windows, base::Ref<Array> *out, guf_error *error);

// Returns `order`, unless it is ANY. ANY becomes F if the array is F- but not C-contiguous, else C.
inline int32_t resolve_order(const Array &array, int32_t order) {
  if (order != GUF_ORDER_ANY) return order;
  const uint32_t both = GUF_ARRAY_C_CONTIGUOUS | GUF_ARRAY_F_CONTIGUOUS;
  return (array.flags() & both) == GUF_ARRAY_F_CONTIGUOUS ? GUF_ORDER_F : GUF_ORDER_C;
}

// Computes the strides of a new array with the layout's shape, in order C, F or
// KEEP (the order of the axes in the layout).
// Errors  GUF_E_SHAPE <= the array's size in bytes overflows
guf_status strides_like(const Layout &layout, int32_t order, guf_dtype dtype, int64_t *out_strides,
                        guf_error *error);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_VIEWS_H
