// SPDX-License-Identifier: Apache-2.0
// C API layer of arrays: creation, reference counts, description, copies, printing, and views.
#include <gufunc/array.h>

#include <algorithm>

#include "abi/src/handles.h"
#include "core/array/views.h"
#include "core/base/struct_size.h"
#include "core/memory/array_ops.h"
#include "core/plugin/find_device.h"

using namespace gufunc;
using array::Array;

namespace {

// Finds the device of a handle. NULL selects the cpu.
guf_status find_device(guf_device device, backend::Device **out, guf_error *error) {
  if (device == nullptr) return plugin::cpu_device(out, error);
  return capi::need_device(device, "device", out, error);
}

// The common part of functions that copy an array. make(array, queue, &made) creates the copy on
// the stream `queue`.
template <class Make>
guf_status make_copy(guf_array array, guf_stream stream, guf_array *out_array, guf_error *error,
                     Make make) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_array, "out_array", error));
    Array *found = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    GUF_TRY(capi::find_stream(stream, &queue, error));
    GUF_TRY(capi::check_running(error));
    capi::run_deferred_callbacks();
    base::Ref<Array> made;
    GUF_TRY(make(*found, queue, &made));
    *out_array = capi::publish<guf_array>(made);
    return GUF_OK;
  });
}

// The common part of functions that make a view. `view` creates the view of the array.
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

// Checks that a list is not NULL if it has values.
guf_status need_list(const int64_t *list, int32_t count, const char *parameter, guf_error *error) {
  return count > 0 ? capi::need(list, parameter, error) : GUF_OK;
}

// Rejects a negative number of axes. The core checks the upper limit and the axes themselves.
guf_status check_count(int32_t naxes, guf_error *error) {
  if (naxes >= 0) return GUF_OK;
  return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "naxes: expected 0 or more, got %d",
                    naxes);
}

}  // namespace

guf_status guf_array_alloc(guf_device device, guf_dtype dtype, int32_t ndim, const int64_t *shape,
                           const int64_t *strides, int32_t order, guf_array *out_array,
                           guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_array, "out_array", error));
    GUF_TRY(capi::check_alloc(ndim, shape, strides, order, error));
    GUF_TRY(capi::check_running(error));
    backend::Device *where = nullptr;
    GUF_TRY(find_device(device, &where, error));
    capi::run_deferred_callbacks();
    base::Ref<Array> made;
    GUF_TRY(memory::allocate(*where, dtype, ndim, shape, strides, order, &made, error));
    *out_array = capi::publish<guf_array>(made);
    return GUF_OK;
  });
}

guf_status guf_array_wrap(const guf_tensor *tensor, guf_release_fn release, void *user,
                          uint32_t flags, guf_array *out_array, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(tensor, "tensor", error));
    GUF_TRY(capi::need(out_array, "out_array", error));
    guf_tensor buffer;
    GUF_TRY(base::read_struct(tensor, "tensor", &buffer, &tensor, error));
    backend::Device *device = nullptr;
    if (tensor->device != nullptr) {
      GUF_TRY(capi::need_device(tensor->device, "tensor->device", &device, error));
    }
    base::collect();
    capi::run_deferred_callbacks();
    base::Ref<Array> made;
    GUF_TRY(memory::wrap(*tensor, device, release, user, flags, &made, error));
    *out_array = capi::publish<guf_array>(made);
    memory::arm_release(*made);
    return GUF_OK;
  });
}

guf_status guf_array_retain(guf_array array, guf_error *error) {
  return capi::retain(array, base::Kind::kArray, "array", error);
}

guf_status guf_array_release(guf_array array, guf_error *error) {
  return capi::release(array, base::Kind::kArray, "array", error);
}

guf_status guf_array_get_info(guf_array array, guf_array_info *out_info, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(out_info, "out_info", error));
    Array *found = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    const array::Layout &layout = found->layout();
    guf_array_info info = {};
    info.struct_size = sizeof info;
    info.dtype = layout.dtype;
    info.ndim = layout.ndim;
    info.flags = found->flags();
    info.address = layout.address;
    info.size = found->size();
    info.nbytes = found->nbytes();
    if (found->device() != nullptr) {
      info.device = reinterpret_cast<guf_device>(found->device()->handle);
    }
    std::copy_n(layout.shape, layout.ndim, info.shape);
    std::copy_n(layout.strides, layout.ndim, info.strides);
    return base::write_struct(out_info, "out_info", info, error);
  });
}

guf_status guf_array_fill(guf_array array, const guf_operand *value, guf_stream stream,
                          guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(value, "value", error));
    Array *found = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    GUF_TRY(capi::find_stream(stream, &queue, error));
    GUF_TRY(capi::check_running(error));
    return memory::fill(*found, *value, queue, error);
  });
}

guf_status guf_array_copy(guf_array array, int32_t order, guf_stream stream, guf_array *out_array,
                          guf_error *error) {
  return make_copy(array, stream, out_array, error,
                   [&](Array &found, backend::Stream *queue, base::Ref<Array> *made) {
                     return memory::copy(found, order, queue, made, error);
                   });
}

guf_status guf_array_assign(guf_array destination, guf_array source, int32_t casting,
                            guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Array *to = nullptr;
    Array *from = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(base::find_object(destination, "destination", &to, error));
    GUF_TRY(base::find_object(source, "source", &from, error));
    GUF_TRY(capi::find_stream(stream, &queue, error));
    GUF_TRY(capi::check_running(error));
    return memory::assign(*to, *from, casting, queue, error);
  });
}

guf_status guf_array_astype(guf_array array, guf_dtype dtype, int32_t casting, int32_t order,
                            guf_stream stream, guf_array *out_array, guf_error *error) {
  return make_copy(array, stream, out_array, error,
                   [&](Array &found, backend::Stream *queue, base::Ref<Array> *made) {
                     return memory::astype(found, dtype, casting, order, queue, made, error);
                   });
}

guf_status guf_array_to_device(guf_array array, guf_device device, guf_stream stream,
                               guf_array *inout_array, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_array, "inout_array", error));
    Array *found = nullptr;
    backend::Stream *queue = nullptr;
    backend::Device *where = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    GUF_TRY(capi::find_stream(stream, &queue, error));
    GUF_TRY(capi::check_running(error));
    GUF_TRY(find_device(device, &where, error));
    base::Ref<Array> to;
    if (*inout_array != nullptr) {
      Array *given = nullptr;
      GUF_TRY(base::find_object(*inout_array, "*inout_array", &given, error));
      to = base::Ref<Array>::share(given);
    }
    capi::run_deferred_callbacks();
    GUF_TRY(memory::to_device(*found, *where, queue, &to, error));
    if (*inout_array == nullptr) *inout_array = capi::publish<guf_array>(to);
    return GUF_OK;
  });
}

guf_status guf_array_synchronize(guf_array array, uint64_t timeout_ns, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Array *found = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    GUF_TRY(capi::check_running(error));
    const guf_status status = memory::synchronize(*found, timeout_ns, error);
    if (status != GUF_TIMEOUT) memory::run_callbacks(0);
    return status;
  });
}

guf_status guf_array_copy_to_host(guf_array array, void *destination, uint64_t nbytes,
                                  int32_t order, guf_stream stream, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    Array *found = nullptr;
    backend::Stream *queue = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    GUF_TRY(capi::find_stream(stream, &queue, error));
    GUF_TRY(capi::check_running(error));
    return memory::copy_to_host(*found, destination, nbytes, order, queue, error);
  });
}

guf_status guf_array_print(guf_array array, char *text, uint64_t *inout_length, guf_error *error) {
  return capi::guard(error, [&]() -> guf_status {
    GUF_TRY(capi::need(inout_length, "inout_length", error));
    if (*inout_length > 0) GUF_TRY(capi::need(text, "text", error));
    Array *found = nullptr;
    GUF_TRY(base::find_object(array, "array", &found, error));
    return memory::print(*found, text, inout_length, error);
  });
}

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
