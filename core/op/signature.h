// SPDX-License-Identifier: Apache-2.0
// Core dimensions: NumPy's gufunc grammar, "|1", signatures without outputs, and the rules beside
// them.
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

// One distinct core dimension, in order of first use.
struct CoreDim {
  std::string name;            // "3" for a frozen size
  int64_t frozen = -1;         // the size, or -1
  bool optional = false;       // '?'
  bool broadcastable = false;  // "|1"
  bool in_inputs = false;      // some input has it: else its size comes from out, dims= or a rule
  int32_t rule = -1;           // index into Signature::rules, or -1
};

// A rule beside the signature: the size of an output-only dimension.
struct DimRule {
  enum class Kind { kExpression, kValue };
  // Postfix program of an expression.
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
  int32_t operand = -1;  // kValue: the input whose one value is the size
  std::vector<Step> program;
  std::string text;  // "p=n+1", for messages
};

struct Signature {
  int32_t nin = 0;
  int32_t nout = 0;
  bool generalized = false;
  std::vector<CoreDim> dims;
  // Per operand: where its core dimensions start in `operand_dims` and how many it has.
  std::array<int32_t, GUF_MAX_OPERANDS> core_offset = {};
  std::array<int32_t, GUF_MAX_OPERANDS> core_ndim = {};
  std::vector<int32_t> operand_dims;                // indices into `dims`
  std::array<int32_t, GUF_MAX_OPERANDS> role = {};  // guf_role
  std::vector<DimRule> rules;
  std::string text;        // as given; "" when elementwise
  std::string rules_text;  // as given

  bool reads(int32_t operand) const { return role[static_cast<size_t>(operand)] != GUF_ROLE_OUT; }
  bool writes(int32_t operand) const { return role[static_cast<size_t>(operand)] != GUF_ROLE_IN; }
};

// An elementwise signature.  Errors  GUF_E_ARG <= counts negative or together above
// GUF_MAX_OPERANDS, or both 0
guf_status make_elementwise(int32_t nin, int32_t nout, const int32_t *roles, int32_t nroles,
                            Signature *out, guf_error *error);

// Parses "(m,n),(n,p)->(m,p)" and the rules. The text is untrusted: length is checked before
// anything is allocated.  Errors  GUF_E_SIGNATURE <= NumPy's texts, with the position;  GUF_E_ARG
// <= roles
guf_status parse_signature(std::string_view text, std::string_view rules, const int32_t *roles,
                           int32_t nroles, Signature *out, guf_error *error);

// Whether kernels of one signature serve the other: operands, dimensions and roles agree; names
// are free.
bool same_form(const Signature &a, const Signature &b);

// Runs an expression of `signature` over the sizes of its dimensions. `ufunc`: for messages.
// Errors  GUF_E_SHAPE <= negative or overflowing, naming the rule and the sizes
guf_status evaluate(const char *ufunc, const Signature &signature, const DimRule &rule,
                    const int64_t *sizes, int64_t *out, guf_error *error);

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_SIGNATURE_H
