// SPDX-License-Identifier: Apache-2.0
// NumPy's signature= and axes= in the spelling of the command line.
#ifndef GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H
#define GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gufunc::cli {

// "dd->d", or a name for each operand: "f4,None,f8". 0 for None; nothing for "".
// Throws Failure(kUsage), also where `dtype` is given besides.
std::vector<guf_dtype> loop_types_of(const std::string &text, const std::string &dtype,
                                     const guf_ufunc_info &info);

// "(0,1),(1,2),(0,1)": an entry per operand, a bare number for one axis; entries of outputs without
// core dimensions may be left out. One axis after the other, as guf_call_args.axes takes them.
// Throws Failure(kUsage).
std::vector<int64_t> axes_by_operand(const std::string &text, const guf_ufunc_info &info);

// The named core dimensions in a signature, or in a part of one, each once: "(m?,3),(n)" has m, n.
std::vector<std::string> core_dimensions(const std::string &signature);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_TYPE_KEYWORDS_H
