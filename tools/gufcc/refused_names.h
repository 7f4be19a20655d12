// SPDX-License-Identifier: Apache-2.0
// Names that a kernel must not contain, and what to use instead: headers, the names of the C and
// C++ libraries, of CUDA and of HIP, and the builtin functions and attributes of compilers that are
// not available for every target.
#ifndef GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H
#define GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H

#include <string>
#include <string_view>
#include <vector>

namespace gufunc::gufcc {

// Names as in #include: math headers of the host, headers of the C and C++ libraries that
// freestanding C++ lacks, and headers with the intrinsics of one processor.
const std::vector<std::string> &refused_headers();

// Returns a message such as "<vector> is not for kernels: ...".
std::string why_refused(const std::string &header);

bool is_printing(const std::string &function);

// Whether a function of the host's libraries computes mathematics, prints or manages memory.
bool is_library_function(const std::string &name);

// Returns what to use instead of a function that only the host has.
std::string advice_for_function(const std::string &name);

// Returns what to use instead of the name of a function, macro, type or variable of a library. The
// name has no namespace. Returns "" for an unknown name.
std::string advice_for_name(const std::string &name);

// Returns what to use instead of a builtin function. Returns "" for an allowed builtin function,
// and for a name that is not a builtin function.
std::string why_builtin_refused(std::string_view name);

// Returns what to do instead of using an attribute; "" if it is allowed.
std::string why_attribute_refused(std::string_view name);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REFUSED_NAMES_H
