// SPDX-License-Identifier: Apache-2.0
// NumPy's signature= and axes= as command line options.
#ifndef GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H
#define GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gufunc::cli {

// Parses "dd->d", or one name per operand: "f4,None,f8". None becomes 0. Returns an empty list
// without a signature. Throws Failure(kUsage) for an invalid signature, and if both `signature` and
// `dtype` have values.
std::vector<guf_dtype> loop_types_of(const std::optional<std::string> &signature,
                                     const std::optional<std::string> &dtype,
                                     const guf_ufunc_info &info);

// Parses "(0,1),(1,2),(0,1)", which has one entry per operand. An entry may be a number without
// parentheses, which is one axis. Throws Failure(kUsage).
std::vector<std::vector<int64_t>> axes_by_operand(const std::string &text);

// Returns the named core dimensions of a signature, or of a part of a signature, without
// duplicates: m and n for "(m?,3),(n)".
std::vector<std::string> core_dimensions(const std::string &signature);
// Returns the named core dimensions of the inputs. The sizes of other dimensions follow from rules
// or must be given.
std::vector<std::string> core_dimensions_of_inputs(const std::string &signature);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H
