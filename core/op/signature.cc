// SPDX-License-Identifier: Apache-2.0
// The parser of signatures: one pass over the text, with NumPy's order of checks and messages.
#include "core/op/signature.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/checked.h"
#include "core/op/dim_rules.h"
#include "core/op/text_scanner.h"

namespace gufunc::op {
namespace {

class SignatureParser {
 public:
  SignatureParser(std::string_view text, Signature *out, guf_error *error)
      : scan_(text, error), out_(out) {}

  guf_status parse() {
    scan_.skip_blanks();
    if (!scan_.at_arrow()) GUF_TRY(parse_arguments(&out_->nin));
    if (scan_.at_arrow()) {
      scan_.step(2);
      in_outputs_ = true;
      GUF_TRY(parse_arguments(&out_->nout));
    }
    if (!scan_.at_end()) return scan_.fail(out_->nout == 0 ? "expect '->'" : "expect ','");
    return GUF_OK;
  }

 private:
  int32_t noperands() const { return out_->nin + out_->nout; }
  bool after_arrow(int32_t count) const { return in_outputs_ && count == 0; }

  guf_status parse_arguments(int32_t *count) {
    for (;;) {
      if (scan_.at_end() && !after_arrow(*count)) {
        return scan_.fail("incomplete signature: not all arguments found");
      }
      if (scan_.peek() != '(') return scan_.fail("expect '('");
      if (noperands() == GUF_MAX_OPERANDS) return scan_.fail("more than 32 arguments");
      scan_.step(1);
      GUF_TRY(parse_argument(static_cast<size_t>(noperands())));
      ++*count;
      if (scan_.peek() != ',') return GUF_OK;
      scan_.step(1);
    }
  }

  guf_status parse_argument(size_t operand) {
    out_->core_offset[operand] = static_cast<int32_t>(out_->operand_dims.size());
    while (scan_.peek() != ')') {
      if (scan_.at_end()) return scan_.fail("unexpected end of signature string");
      GUF_TRY(parse_dim());
      ++out_->core_ndim[operand];
      if (scan_.peek() != ',' && scan_.peek() != ')') return scan_.fail("expect ',' or ')'");
      if (scan_.peek() == ',') {
        scan_.step(1);
        if (scan_.peek() == ')') return scan_.fail("',' must not be followed by ')'");
      }
    }
    scan_.step(1);
    return GUF_OK;
  }

  guf_status parse_dim() {
    const size_t start = scan_.position();
    const std::string_view word = scan_.take_word();
    CoreDim dim;
    if (!word.empty() && !is_digit(word[0])) {
      if (word.size() > GUF_MAX_NAME) {
        return scan_.fail_at(start, "dimension name longer than 63 characters");
      }
      dim.name = word;
    } else {
      int64_t size = 0;
      // NumPy rejects the largest int64 here, too.
      if (!read_integer(word, &size) || size == 0 || size == std::numeric_limits<int64_t>::max()) {
        return scan_.fail_at(start, "expect dimension name or non-zero frozen size");
      }
      dim.frozen = size;
      dim.name = std::to_string(size);
    }
    if (scan_.peek() == '?') {
      dim.optional = true;
      scan_.step_tight(1);
    }
    dim.in_inputs = !in_outputs_;
    GUF_TRY(parse_broadcast_mark(start, &dim));
    scan_.skip_blanks();
    return place(start, std::move(dim));
  }

  guf_status parse_broadcast_mark(size_t start, CoreDim *dim) {
    if (scan_.peek() != '|') return GUF_OK;
    scan_.step_tight(1);
    if (scan_.take_word() != "1") return scan_.fail("expect '1' after '|'");
    if (in_outputs_) return scan_.fail_at(start, "|1 cannot be used in outputs");
    if (dim->optional) return scan_.fail_at(start, "|1 cannot be used together with ?");
    if (dim->frozen > 0) return scan_.fail_at(start, "|1 cannot be used with a frozen size");
    dim->broadcastable = true;
    return GUF_OK;
  }

  // Adds a new dimension, or checks that a known dimension has the same modifiers as before.
  guf_status place(size_t start, CoreDim dim) {
    size_t index = 0;
    while (index < out_->dims.size() && out_->dims[index].name != dim.name) ++index;
    if (index == out_->dims.size()) {
      if (index == GUF_MAX_CORE_NAMES) return scan_.fail_at(start, "more than 16 core dimensions");
      out_->dims.push_back(std::move(dim));
    } else {
      const CoreDim &seen = out_->dims[index];
      if (dim.optional && !seen.optional) {
        return scan_.fail_at(start, "? cannot be used, name already seen without ?");
      }
      if (!dim.optional && seen.optional) {
        return scan_.fail_at(start, "? must be used, name already seen with ?");
      }
      if (dim.broadcastable && !seen.broadcastable) {
        return scan_.fail_at(start, "|1 cannot be used, name already seen without |1");
      }
      if (!in_outputs_ && !dim.broadcastable && seen.broadcastable) {
        return scan_.fail_at(start, "|1 must be used, name already seen with |1");
      }
    }
    if (out_->operand_dims.size() == GUF_MAX_CORE_STRIDES) {
      return scan_.fail_at(start, "more than 64 dimensions in all arguments together");
    }
    out_->operand_dims.push_back(static_cast<int32_t>(index));
    return GUF_OK;
  }

  Scanner scan_;
  Signature *out_;
  bool in_outputs_ = false;
};

// Sets the default roles by position, then replaces them by the caller's roles.
guf_status set_roles(const int32_t *roles, int32_t nroles, Signature *out, guf_error *error) {
  const int32_t noperands = out->nin + out->nout;
  for (int32_t i = 0; i < noperands; ++i) {
    out->role[static_cast<size_t>(i)] = i < out->nin ? GUF_ROLE_IN : GUF_ROLE_OUT;
  }
  if (roles == nullptr && nroles == 0) return GUF_OK;
  if (roles == nullptr || nroles != noperands) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "roles: expected one for each of the %d operands, got %d", noperands, nroles);
  }
  for (int32_t i = 0; i < noperands; ++i) {
    const int32_t role = roles[i];
    if (role < GUF_ROLE_IN || role > GUF_ROLE_INOUT) {
      return base::fail(error, GUF_E_ARG, i, base::kNone, "role %d of operand %d is not a guf_role",
                        role, i);
    }
    if (out->nout > 0 && i < out->nin && role != GUF_ROLE_IN) {
      return base::fail(error, GUF_E_ARG, i, base::kNone,
                        "operand %d is an input of a signature with outputs: its role must be in",
                        i);
    }
    // The value 0 (GUF_ROLE_IN) for an output means "not specified".
    if (i < out->nin || role != GUF_ROLE_IN) out->role[static_cast<size_t>(i)] = role;
  }
  return GUF_OK;
}

}  // namespace

guf_status make_elementwise(int32_t nin, int32_t nout, const int32_t *roles, int32_t nroles,
                            Signature *out, guf_error *error) {
  if (nin < 0 || nout < 0 || nin > GUF_MAX_OPERANDS || nout > GUF_MAX_OPERANDS - nin ||
      nin + nout == 0) {
    return base::fail(error, GUF_E_ARG, base::kNone, base::kNone,
                      "nin is %d and nout is %d; expected counts from 0, together 1 to %d", nin,
                      nout, static_cast<int>(GUF_MAX_OPERANDS));
  }
  Signature made;
  made.nin = nin;
  made.nout = nout;
  GUF_TRY(set_roles(roles, nroles, &made, error));
  *out = std::move(made);
  return GUF_OK;
}

guf_status parse_signature(std::string_view text, std::string_view rules, const int32_t *roles,
                           int32_t nroles, Signature *out, guf_error *error) {
  if (text.size() > GUF_MAX_SIGNATURE || rules.size() > GUF_MAX_SIGNATURE) {
    return base::fail(error, GUF_E_SIGNATURE, base::kNone, base::kNone,
                      "%s of %zu characters is too long; expected at most %d",
                      text.size() > GUF_MAX_SIGNATURE ? "a signature" : "a text of rules",
                      text.size() > GUF_MAX_SIGNATURE ? text.size() : rules.size(),
                      static_cast<int>(GUF_MAX_SIGNATURE));
  }
  Signature made;
  made.generalized = true;
  GUF_TRY(SignatureParser(text, &made, error).parse());
  GUF_TRY(set_roles(roles, nroles, &made, error));
  GUF_TRY(parse_rules(rules, &made, error));
  made.text = text;
  made.rules_text = rules;
  *out = std::move(made);
  return GUF_OK;
}

bool same_form(const Signature &a, const Signature &b) {
  const auto same_dim = [](const CoreDim &x, const CoreDim &y) {
    return x.frozen == y.frozen && x.optional == y.optional && x.broadcastable == y.broadcastable;
  };
  return a.nin == b.nin && a.nout == b.nout && a.generalized == b.generalized &&
         a.core_ndim == b.core_ndim && a.operand_dims == b.operand_dims && a.role == b.role &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), same_dim);
}

}  // namespace gufunc::op
