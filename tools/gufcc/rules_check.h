// SPDX-License-Identifier: Apache-2.0
// Checks sources against the rules of all backends at once, whatever the targets, and gives the
// compiler's warnings: compilations for targets repeat none of them. Nothing is optimized, and no
// vendor's toolkit is needed.
#ifndef GUFUNC_TOOLS_GUFCC_RULES_CHECK_H
#define GUFUNC_TOOLS_GUFCC_RULES_CHECK_H

#include "compiler.h"
#include "generate.h"

namespace gufunc::gufcc {

// What is compiled of one source with the same flags.
struct CheckedUnit {
  std::string stem;  // of intermediate files
  std::string source;
  std::vector<LoopRef> loops;
  std::vector<const RawKernel *> kernels;
};

// False when the source breaks a rule.
bool check_rules(const CheckedUnit &unit, Compiler *compiler);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_RULES_CHECK_H
