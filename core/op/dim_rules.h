// SPDX-License-Identifier: Apache-2.0
// Parser of the rules that extend a signature, such as "n=value(1); p=m+1".
#ifndef GUFUNC_CORE_OP_DIM_RULES_H
#define GUFUNC_CORE_OP_DIM_RULES_H

#include <string_view>

#include "core/op/signature.h"

namespace gufunc::op {

// Parses the rules and adds them to a parsed signature whose roles are set.
//   rules  ::= [rule {";" rule} [";"]]
//   rule   ::= name "=" ("value" "(" integer ")" | sum)
//   sum    ::= term {("+" | "-") term}
//   term   ::= factor {("*" | "//") factor}
//   factor ::= integer | name | "(" sum ")" | ("min" | "max") "(" sum {"," sum} ")"
// The left side of a rule is a dimension that only outputs contain. The names
// in an expression are dimensions of inputs.
// Errors  GUF_E_SIGNATURE <= malformed rules; the message contains the position
guf_status parse_rules(std::string_view text, Signature *signature, guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_DIM_RULES_H
