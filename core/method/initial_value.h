// SPDX-License-Identifier: Apache-2.0
// The initial value of a reduction: the value that the caller passed, or the identity of the ufunc.
#ifndef GUFUNC_CORE_METHOD_INITIAL_VALUE_H
#define GUFUNC_CORE_METHOD_INITIAL_VALUE_H

#include "core/method/method.h"

namespace gufunc::method {

// Size of the buffer for an initial value. The largest elements have a structured dtype.
inline constexpr size_t kInitialValueBytes = GUF_MAX_STRUCTURED_ITEMSIZE + 1;

// Reports that an initial value of dtype `from`, described by `what`, does not convert to `to`.
// Errors  GUF_E_CASTING
[[gnu::cold]] guf_status fail_initial_cast(guf_dtype from, guf_dtype to, int32_t argument,
                                           const char *what, guf_error *error);

// Converts the initial value to `type` and writes it to `out`, which has kInitialValueBytes
// bytes. Sets `*out_has` to whether there is an initial value. Waits for the view's stream if the
// initial value is in an array. With Elements::kNotRead, a value in an array is not read:
// `*out_has` is true and `out` is unspecified.
// Errors  GUF_E_OVERFLOW <= a Python int outside the range of the type
//         GUF_E_VALUE <= the value has dimensions, or is an integer and the type a datetime
//         without a unit
//         GUF_E_CASTING <= the value does not convert to the type
//         GUF_E_DEVICE_MISMATCH <= the value is in device memory
guf_status find_initial_value(ReduceView &view, guf_dtype type, Elements elements,
                              unsigned char *out, bool *out_has, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INITIAL_VALUE_H
