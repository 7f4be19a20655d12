// SPDX-License-Identifier: Apache-2.0
// Headers that kernels cannot include, and why.
#ifndef GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H
#define GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H

#include <string>
#include <vector>

namespace gufunc::gufcc {

// As #include spells them: mathematics of the host, everything of the C and C++ libraries that
// freestanding C++ lacks, and instructions of one processor.
const std::vector<std::string> &refused_headers();

// "<vector> is not for kernels: ..."
std::string why_refused(const std::string &header);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_REFUSED_HEADERS_H
