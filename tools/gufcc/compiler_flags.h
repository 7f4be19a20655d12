// SPDX-License-Identifier: Apache-2.0
// Helpers for command lines.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H

#include <initializer_list>

#include "process.h"

namespace gufunc::gufcc {

// A type string such as "??->?" looks like a trigraph, which C++17 does not have, so the warning is
// disabled. The flag is not part of the cache key.
inline constexpr char kNoTrigraphs[] = "-Wno-trigraphs";

inline Command joined(std::initializer_list<Command> parts) {
  Command all;
  for (const Command &part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H
