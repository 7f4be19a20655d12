// SPDX-License-Identifier: Apache-2.0
// Text of datetime64 elements (ISO 8601) and timedelta64 elements (integers), as NumPy prints them.
#ifndef GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H
#define GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H

#include <cstddef>
#include <string>

#include "core/array/array.h"

namespace gufunc::array {

// Returns the text of an element in an array. The text is in quotes unless it is a number.
std::string format_datetime(guf_dtype time, int64_t value);
// Returns the text of a scalar, such as "1970-01-01" or "5 seconds".
std::string format_datetime_scalar(guf_dtype time, int64_t value);

// Returns whether all values can be printed. A datetime64 without a unit can only be printed if it
// is NaT. `values` must be in native byte order.
bool has_text(guf_dtype dtype, const std::byte *values, uint64_t count);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H
