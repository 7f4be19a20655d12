// SPDX-License-Identifier: Apache-2.0
// Parts of command lines.
#ifndef GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H
#define GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H

#include <initializer_list>

#include "process.h"

namespace gufunc::gufcc {

// "??->?" is a type string, and in C++17 no trigraph. Not a part of an object's name.
inline constexpr char kNoTrigraphs[] = "-Wno-trigraphs";

inline Command joined(std::initializer_list<Command> parts) {
  Command all;
  for (const Command &part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_COMPILER_FLAGS_H
