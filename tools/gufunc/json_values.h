// SPDX-License-Identifier: Apache-2.0
// JSON output of results.
#ifndef GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H
#define GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H

#include <gufunc/gufunc.h>

#include <nlohmann/json.hpp>

namespace gufunc::cli {

// Converts an array or a tensor to lists nested like its shape, or to a single value if it has no
// dimensions.
// Complex numbers become [real, imaginary]; non-finite numbers become "nan", "inf" or "-inf".
// Throws Failure.
nlohmann::ordered_json values_json(const guf_operand &operand);

// Prints one value on stdout, indented and in ASCII: a terminal could interpret other characters of
// a string. Bytes that are not UTF-8, for example in a path, become U+FFFD.
void print_json(const nlohmann::ordered_json &value);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_JSON_VALUES_H
