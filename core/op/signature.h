// SPDX-License-Identifier: Apache-2.0
// Signatures: NumPy's gufunc grammar, extended by "|1", signatures without outputs, and rules such
// as "n=value(1); p=m+1".
#ifndef GUFUNC_CORE_OP_SIGNATURE_H
#define GUFUNC_CORE_OP_SIGNATURE_H

#include <gufunc/limits.h>
#include <gufunc/module_table.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace gufunc::op {

// One distinct core dimension. Dimensions are stored in the order of their first use.
struct CoreDim {
  std::string name;            // for a frozen size, its digits, such as "3"
  int64_t frozen = -1;         // the frozen size, or -1
  bool optional = false;       // marked with '?'
  bool broadcastable = false;  // marked with "|1"
  bool in_inputs = false;      // if false, `out`, `dims` or a rule determines the size
  int32_t rule = -1;           // index into Signature::rules, or -1
};

// A rule that computes the size of a dimension that only outputs contain.
struct DimRule {
  enum class Kind { kExpression, kValue };
  // One instruction of the postfix program of an expression.
  struct Step {
    enum class Op : uint8_t {
      kConstant,
      kDim,
      kAdd,
      kSubtract,
      kMultiply,
      kFloorDivide,
      kMin,
      kMax
    };
    Op op;
    int64_t constant;  // kConstant: the value; kDim: index into Signature::dims
  };
  Kind kind = Kind::kExpression;
  int32_t dim = 0;       // index into Signature::dims
  int32_t operand = -1;  // kValue: the input whose value is the size
  std::vector<Step> program;
  std::string text;  // for error messages, such as "p=n+1"
};

struct Signature {
  int32_t nin = 0;
  int32_t nout = 0;
  bool generalized = false;
  std::vector<CoreDim> dims;
  // Per operand: the offset of its core dimensions in `operand_dims`, and their number.
  std::array<int32_t, GUF_MAX_OPERANDS> core_offset = {};
  std::array<int32_t, GUF_MAX_OPERANDS> core_ndim = {};
  std::vector<int32_t> operand_dims;                // indices into `dims`
  std::array<int32_t, GUF_MAX_OPERANDS> role = {};  // values of guf_role
  std::vector<DimRule> rules;
  std::string text;        // the caller's text; "" for elementwise ufuncs
  std::string rules_text;  // the caller's text of the rules

  bool reads(int32_t operand) const { return role[static_cast<size_t>(operand)] != GUF_ROLE_OUT; }
  bool writes(int32_t operand) const { return role[static_cast<size_t>(operand)] != GUF_ROLE_IN; }
};

// Makes an elementwise signature.
// Errors  GUF_E_ARG <= a negative count, no operand, or more than GUF_MAX_OPERANDS operands
guf_status make_elementwise(int32_t nin, int32_t nout, const int32_t *roles, int32_t nroles,
                            Signature *out, guf_error *error);

// Parses a signature such as "(m,n),(n,p)->(m,p)" and its rules. The text is untrusted, so its
// length is checked before any allocation.
// Errors  GUF_E_SIGNATURE <= malformed text; NumPy's message, with the position
//         GUF_E_ARG <= invalid roles
guf_status parse_signature(std::string_view text, std::string_view rules, const int32_t *roles,
                           int32_t nroles, Signature *out, guf_error *error);

// Returns whether a kernel for one signature also works for the other, because operands, dimensions
// and roles are equal. The names of the dimensions may differ.
bool same_form(const Signature &a, const Signature &b);

// Evaluates the expression of `rule` for the given sizes of the dimensions of `signature`. `ufunc`
// is the name for error messages.
// Errors  GUF_E_SHAPE <= a negative or overflowing result; the message names the rule and the sizes
guf_status evaluate(const char *ufunc, const Signature &signature, const DimRule &rule,
                    const int64_t *sizes, int64_t *out, guf_error *error);

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

#endif  // GUFUNC_CORE_OP_SIGNATURE_H
