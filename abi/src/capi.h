// SPDX-License-Identifier: Apache-2.0
// The wrapper of every exported function: it stops exceptions, sets the default floating-point
// control, defers thread cancellation and reports NULL arguments by name.
#ifndef GUFUNC_ABI_CAPI_H
#define GUFUNC_ABI_CAPI_H

#include <cxxabi.h>
#include <gufunc/array.h>
#include <gufunc/float_control.hpp>

#include <new>

#include "core/base/caller_state.h"
#include "core/base/error.h"

namespace gufunc::capi {

// Makes the message in `error` valid UTF-8, because plugins and hooks may write arbitrary bytes. If
// `error` contains a status other than `status`, the failed call wrote no message, and `error`
// stays unchanged.
[[gnu::cold]] inline void make_harmless(guf_status status, guf_error *error) {
  if (error == nullptr || error->struct_size != sizeof(guf_error)) return;
  if (error->status == status) base::make_harmless(error);
}

// Runs the body of an exported function without deferring thread cancellation. The body may reach
// cancellation points only while a base::CallerState exists. When a thread is cancelled, its stack
// is unwound without an exception object (a forced unwind), so the reference in the handler is
// null. The handler does not use the reference, so the null check of UBSan is disabled.
// PERF  Reading the floating-point control takes 7 ns, and deferring cancellation takes 7 ns more
//       (AMD EPYC).
// Errors  as guard
template <class Body>
__attribute__((no_sanitize("null", "alignment"))) guf_status guard_hot(guf_error *error,
                                                                       Body &&body) {
  const DefaultFloatControl control;
  try {
    const guf_status status = body();
    if (__builtin_expect(status >= GUF_E_ARG, 0)) make_harmless(status, error);
    return status;
  } catch (const abi::__forced_unwind &) {
    throw;  // A callback of the program ended its thread.
  } catch (const std::bad_alloc &) {
    return base::fail(error, GUF_E_NO_MEMORY, base::kNone, base::kNone, "a host allocation failed");
  } catch (...) {
    return base::fail(error, GUF_E_INTERNAL, base::kNone, base::kNone,
                      "an unexpected exception reached the C API");
  }
}

// Runs the body of an exported function: `return capi::guard(error, [&] { ...; return GUF_OK; });`.
// Converts every exception to a status.
// Errors  GUF_E_NO_MEMORY <= std::bad_alloc;  GUF_E_INTERNAL <= any other exception
template <class Body>
guf_status guard(guf_error *error, Body &&body) {
  const base::CallerState kept;
  return guard_hot(error, [&]() -> guf_status {
    const guf_status status = body();
    ensure_default_float_control();  // Callbacks and drivers may change the control.
    return status;
  });
}

// Errors  GUF_E_ARG <= pointer is NULL
inline guf_status need(const void *pointer, const char *parameter, guf_error *error) {
  if (__builtin_expect(pointer != nullptr, 1)) return GUF_OK;
  return base::fail(error, GUF_E_ARG, base::kNone, base::kNone, "%s is NULL", parameter);
}

// Checks the layout arguments of the functions that allocate arrays.
// Errors  GUF_E_ARG <= shape is NULL with ndim > 0; order is invalid;
//         order is not GUF_ORDER_C although strides are given
inline guf_status check_alloc(int32_t ndim, const int64_t *shape, const int64_t *strides,
                              int32_t order, guf_error *error) {
  if (shape == nullptr && ndim > 0) return need(shape, "shape", error);
  if (order < GUF_ORDER_KEEP || order > GUF_ORDER_ANY ||
      (strides != nullptr && order != GUF_ORDER_C)) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      strides != nullptr ? "order must be C when strides are given; got %d"
                                         : "order is %d, which is not a guf_order",
                      order);
  }
  return GUF_OK;
}

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_CAPI_H
