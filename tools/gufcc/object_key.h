// SPDX-License-Identifier: Apache-2.0
// The cache key of an object: everything that the object depends on.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H

#include "compiler.h"

namespace gufunc::gufcc {

// Returns the flags that an object depends on besides its preprocessed text. -I and -D are left
// out, because preprocessing has applied them. Warning flags are left out, too. With debug
// information, the object depends on all flags.
std::string flags_of_the_key(const Compiler::Unit &unit);

// Whether a preprocessed text uses builtins that the compiler replaces by source locations, such as
// __builtin_LINE. Without debug information, only such a text is preprocessed with line markers.
bool uses_source_locations(const std::string &text);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
