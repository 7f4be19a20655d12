// SPDX-License-Identifier: Apache-2.0
// The value that a reduction starts with: the given initial value, or the identity of the ufunc.
#ifndef GUFUNC_CORE_METHOD_INITIAL_VALUE_H
#define GUFUNC_CORE_METHOD_INITIAL_VALUE_H

#include "core/method/method.h"

namespace gufunc::method {

// Size of the longest element.
inline constexpr size_t kInitialValueBytes = GUF_MAX_STRUCTURED_ITEMSIZE + 1;

// Reports that a result cannot start with a value of type `from`. `what` names the source of the
// value.
// Errors  GUF_E_CASTING
[[gnu::cold]] guf_status refuse_start(guf_dtype from, guf_dtype to, int32_t argument,
                                      const char *what, guf_error *error);

// Writes the initial value, converted to `type`, to `out`, which has kInitialValueBytes bytes. Sets
// `*out_has` to whether there is an initial value. Waits for the view's stream if the initial value
// is in an array. With Elements::kLeftAlone a value in an array is not read: `*out_has` is true and
// `out` is unspecified.
// Errors  GUF_E_OVERFLOW <= a Python integer outside the type;  GUF_E_VALUE <= several values
//         GUF_E_CASTING <= complex to real
//         GUF_E_DEVICE_MISMATCH <= the value is in device memory
guf_status find_initial_value(FoldView &view, guf_dtype type, Elements elements, unsigned char *out,
                              bool *out_has, guf_error *error);

}  // namespace gufunc::method

#endif  // GUFUNC_CORE_METHOD_INITIAL_VALUE_H
