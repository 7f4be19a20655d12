// SPDX-License-Identifier: Apache-2.0
// C API layer of array views: each function checks pointers and handles, then calls the core once.
#include "abi/src/handles.h"
#include "core/array/views.h"

using namespace gufunc;
using array::Array;

namespace {

// The common part of all functions in this file. `view` creates the view of the array.
template <class View>
guf_status make(guf_array array, guf_array *out_array, guf_error *error, View view) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_array, "out_array", error));
    Array *found = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    base::collect();  // Otherwise, a program that only creates views would never free arrays.
    base::Ref<Array> made;
    GUF_TRY(view(*found, &made));
    *out_array = capi::publish<guf_array>(made);
    return GUF_OK;
  });
}

// Checks that the list of `count` values is not NULL unless `count` is 0.
guf_status need_list(const int64_t *list, int32_t count, const char *parameter, guf_error *error) {
  return count > 0 ? capi::need(list, parameter, error) : GUF_OK;
}

// Rejects a negative number of axes. The core checks the upper limit and the axes themselves.
guf_status check_count(int32_t naxes, guf_error *error) {
  if (naxes >= 0) return GUF_OK;
  return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "naxes is negative: %d", naxes);
}

}  // namespace

guf_status guf_array_slice(guf_array array, int32_t naxes, const int64_t *starts,
                           const int64_t *stops, const int64_t *steps, guf_array *out_array,
                           guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(check_count(naxes, error));
    GUF_TRY(need_list(starts, naxes, "starts", error));
    GUF_TRY(need_list(stops, naxes, "stops", error));
    GUF_TRY(need_list(steps, naxes, "steps", error));
    return array::slice(from, naxes, starts, stops, steps, out, error);
  });
}

guf_status guf_array_reshape(guf_array array, int32_t ndim, const int64_t *shape, int32_t order,
                             guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(need_list(shape, ndim, "shape", error));
    return array::reshape(from, ndim, shape, order, out, error);
  });
}

guf_status guf_array_ravel(guf_array array, int32_t order, guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    return array::ravel(from, order, out, error);
  });
}

guf_status guf_array_transpose(guf_array array, int32_t naxes, const int64_t *axes,
                               guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    return array::transpose(from, naxes, axes, out, error);
  });
}

guf_status guf_array_broadcast_to(guf_array array, int32_t ndim, const int64_t *shape,
                                  guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(need_list(shape, ndim, "shape", error));
    return array::broadcast_to(from, ndim, shape, out, error);
  });
}

guf_status guf_array_squeeze(guf_array array, int32_t naxes, const int64_t *axes,
                             guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(check_count(naxes, error));
    return array::squeeze(from, naxes, axes, out, error);
  });
}

guf_status guf_array_expand_dims(guf_array array, int32_t naxes, const int64_t *axes,
                                 guf_array *out_array, guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(check_count(naxes, error));
    GUF_TRY(need_list(axes, naxes, "axes", error));
    return array::expand_dims(from, naxes, axes, out, error);
  });
}

guf_status guf_array_sliding_window(guf_array array, int32_t naxes, const int64_t *axes,
                                    const int64_t *windows, guf_array *out_array,
                                    guf_error *error) {
  return make(array, out_array, error, [&](const Array &from, base::Ref<Array> *out) {
    GUF_TRY(check_count(naxes, error));
    GUF_TRY(need_list(axes, naxes, "axes", error));
    GUF_TRY(need_list(windows, naxes, "windows", error));
    return array::sliding_window(from, naxes, axes, windows, out, error);
  });
}
