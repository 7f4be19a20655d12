// SPDX-License-Identifier: Apache-2.0
// Parses dates from the command line into datetime64 values.
#ifndef GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H
#define GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace gufunc::cli {

// Returns the number of steps from 1970 to a date, rounded down as in NumPy. One step is `multiple`
// units (guf_time_unit). Dates are spelled "2020-02", "2020-02-29" or "2020-02-29T12:30:15.25".
// Returns nothing if the text is not a date, if the unit is generic, or if int64 cannot hold the
// number; only the last case sets *out_too_far.
std::optional<int64_t> steps_to_date(std::string_view text, int32_t unit, uint32_t multiple,
                                     bool *out_too_far);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H
