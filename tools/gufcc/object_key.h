// SPDX-License-Identifier: Apache-2.0
// What an object depends on, and so what names it in the cache.
#ifndef GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
#define GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H

#include "compiler.h"

namespace gufunc::gufcc {

// The flags that an object depends on beside its text: neither folders and definitions, which
// preprocessing has used, nor what is said about the code. Debugging information has all places.
std::string flags_of_the_key(const Compiler::Unit &unit);

// Preprocessed text without line markers has no places, unless the compiler is to supply them.
bool asks_for_places(const std::string &text);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_OBJECT_KEY_H
