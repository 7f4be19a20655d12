// SPDX-License-Identifier: Apache-2.0
// The cache key of an object: everything that the object depends on.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H

#include "compiler.h"

namespace gufunc::gufcc {

// Flags that an object depends on besides its preprocessed text. Preprocessing has used up folders
// and definitions, and warnings do not change the object. With debug information all flags count.
std::string flags_of_the_key(const Compiler::Unit &unit);

// Whether a text contains source locations that the compiler fills in. Preprocessed text has no
// line markers otherwise.
bool requests_stack_check(const std::string &text);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
