// SPDX-License-Identifier: Apache-2.0
// Dates typed on the command line, as datetime64 counts them.
#ifndef GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H
#define GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace gufunc::cli {

// The steps of `multiple` units (guf_time_unit) from 1970 to a date: "2020-02", "2020-02-29",
// "2020-02-29T12:30:15.25", rounded down as NumPy does. Returns nothing if the text is not a date,
// if the unit is generic, and if int64 cannot hold the steps, which sets *out_too_far.
std::optional<int64_t> steps_to_date(std::string_view text, int32_t unit, uint32_t multiple,
                                     bool *out_too_far);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_DATE_LITERAL_H
