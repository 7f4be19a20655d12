// SPDX-License-Identifier: Apache-2.0
// Headers that kernels cannot include, with the reasons.
#ifndef GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H
#define GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H

#include <string>
#include <vector>

namespace gufunc::gufcc {

// Names as in #include: math headers of the host, headers of the C and C++ libraries that
// freestanding C++ lacks, and intrinsics of one processor.
const std::vector<std::string> &refused_headers();

// Returns a message such as "<vector> is not for kernels: ...".
std::string why_refused(const std::string &header);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H
