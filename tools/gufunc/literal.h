// SPDX-License-Identifier: Apache-2.0
// Scalars typed on the command line: `2`, `2.5` and `1+2j` are weak, `f4:2` and `True` have a
// dtype.
#ifndef GUFUNC_TOOLS_GUFUNC_LITERAL_H
#define GUFUNC_TOOLS_GUFUNC_LITERAL_H

#include <gufunc/gufunc.h>

#include <optional>
#include <string>

namespace gufunc::cli {

// Parses a text into an operand. Returns nothing if the text is not a literal. Throws
// Failure(kUsage) for a literal without a valid value, such as "u1:300" or "f9:1".
std::optional<guf_operand> parse_literal(const std::string &text);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_LITERAL_H
