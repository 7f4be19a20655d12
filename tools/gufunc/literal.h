// SPDX-License-Identifier: Apache-2.0
// Scalars typed on the command line: `2`, `2.5`, `1+2j` are weak, `f4:2` and `True` are strong.
#ifndef GUFUNC_TOOLS_GUFUNC_LITERAL_H
#define GUFUNC_TOOLS_GUFUNC_LITERAL_H

#include <gufunc/gufunc.h>

#include <optional>
#include <string>

namespace gufunc::cli {

// The operand that a text spells, or nothing when it is no literal at all.
// Throws Failure(kUsage) for a literal that cannot be held, such as "u1:300" or "f9:1".
std::optional<guf_operand> parse_literal(const std::string &text);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_LITERAL_H
