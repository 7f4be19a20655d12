// SPDX-License-Identifier: Apache-2.0
// A result's elements as JSON.
#ifndef GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H
#define GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H

#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>

namespace gufunc::cli {

// An array or tensor: lists nested as its shape is, a number for 0-d. Complex numbers are
// [real, imaginary]; what is not finite is "nan", "inf" or "-inf". Throws Failure.
nlohmann::ordered_json values_json(const guf_operand &operand);

// One value on stdout, indented. Bytes that are no UTF-8, as a path may have, become U+FFFD.
void print_json(const nlohmann::ordered_json &value);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H
