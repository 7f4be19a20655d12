// SPDX-License-Identifier: Apache-2.0
// The value that a reduction starts from: the initial value given, or the ufunc's identity.
#ifndef GUFUNC_CORE_METHOD_INITIAL_VALUE_H
#define GUFUNC_CORE_METHOD_INITIAL_VALUE_H

#include "core/method/method.h"

namespace gufunc::method {

// Of the longest element.
inline constexpr size_t kInitialValueBytes = GUF_MAX_RECORD_ITEMSIZE + 1;

// That a result cannot begin with an element of another type. `what`: where it comes from.
// Errors  GUF_E_CASTING
[[gnu::cold]] guf_status refuse_start(guf_dtype from, guf_dtype to, int32_t argument,
                                      const char *what, guf_error *error);

// Writes the value in `type` to `out`, kInitialValueBytes long. `*out_has` stays false when there
// is none. Waits for the view's stream when the initial value lies in an array. With
// Elements::kLeftAlone such a value is not read: `*out_has` is true and `out` unspecified. Errors
// GUF_E_OVERFLOW <= a Python integer outside the type;  GUF_E_VALUE <= several values
//         GUF_E_CASTING <= complex to real;  GUF_E_DEVICE_MISMATCH <= it lies in device memory
guf_status find_initial_value(FoldView &view, guf_dtype type, Elements elements, unsigned char *out,
                              bool *out_has, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INITIAL_VALUE_H
