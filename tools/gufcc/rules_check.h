// SPDX-License-Identifier: Apache-2.0
// Checks sources against the rules of all backends, independent of the targets, and prints the
// compiler's warnings, which the compilations for targets do not repeat. The check runs no
// optimizer and needs no vendor toolkit.
#ifndef GUFUNC_TOOLS_GUFCC_RULES_CHECK_H
#define GUFUNC_TOOLS_GUFCC_RULES_CHECK_H

#include "compiler.h"
#include "generate.h"

namespace gufunc::gufcc {

// The parts of one source that are compiled with the same flags.
struct CheckedUnit {
  std::string stem;  // stem of the intermediate files
  std::string source;
  std::vector<LoopRef> loops;
  std::vector<const RawKernel *> kernels;
};

// Returns false if the source breaks a rule.
bool check_rules(const CheckedUnit &unit, Compiler *compiler);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_RULES_CHECK_H
