// SPDX-License-Identifier: Apache-2.0
// Elements of datetime64 (ISO 8601) and timedelta64 (numbers) as text, as NumPy prints them.
#ifndef GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H
#define GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H

#include <cstddef>
#include <string>

#include "core/array/array.h"

namespace gufunc::array {

// Within an array: quoted unless it is a number.
std::string format_datetime(guf_dtype time, int64_t value);
// Alone: "1970-01-01", "5 seconds".
std::string format_datetime_scalar(guf_dtype time, int64_t value);

// False for datetimes without a unit, of which only not-a-time has one. `values` in native order.
bool has_text(guf_dtype dtype, const std::byte *values, uint64_t count);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_DATETIME_FORMAT_H
