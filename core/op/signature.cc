// SPDX-License-Identifier: Apache-2.0
// The parser of signatures: one pass over the text, with NumPy's order of checks and messages. The
// rules of a signature are translated to postfix programs, which this file also evaluates.
#include "core/op/signature.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/checked.h"
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
      // NumPy also rejects the largest int64 here.
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

using Step = DimRule::Step;

// The limit on nested parentheses bounds the parser's recursion and the evaluation stack: each
// level has at most one sum, one term and one factor with a pending operand.
constexpr int kMaxNesting = 32;
constexpr size_t kStackSize = 3 * (kMaxNesting + 1);

class RuleParser {
 public:
  RuleParser(std::string_view text, Signature *signature, guf_error *error)
      : text_(text), scan_(text, error), signature_(signature) {}

  guf_status parse() {
    scan_.skip_blanks();
    while (!scan_.at_end()) {
      GUF_TRY(parse_rule());
      if (scan_.at_end()) break;
      if (scan_.peek() != ';') return scan_.fail("expect ';'");
      scan_.step(1);
    }
    return GUF_OK;
  }

 private:
  guf_status parse_rule() {
    const size_t start = scan_.position();
    DimRule rule;
    GUF_TRY(parse_target(&rule.dim));
    if (scan_.peek() != '=') return scan_.fail("expect '='");
    scan_.step(1);
    if (!take_value(&rule)) {
      GUF_TRY(parse_sum(0, &rule));
    } else {
      GUF_TRY(parse_value(&rule));
    }
    rule.text = trimmed(text_.substr(start, scan_.position() - start));
    signature_->dims[static_cast<size_t>(rule.dim)].rule =
        static_cast<int32_t>(signature_->rules.size());
    signature_->rules.push_back(std::move(rule));
    return GUF_OK;
  }

  guf_status parse_target(int32_t *out_dim) {
    const size_t start = scan_.position();
    const std::string_view word = scan_.take_word();
    const int32_t index = find_dim(word);
    if (index < 0)
      return fail_unknown(start, word, "expect the name of a dimension of the signature");
    const CoreDim &dim = signature_->dims[static_cast<size_t>(index)];
    if (dim.in_inputs) {
      return scan_.fail_at(start, "a dimension of an input cannot have a rule");
    }
    if (dim.rule >= 0) return scan_.fail_at(start, "the dimension has a rule already");
    scan_.skip_blanks();
    *out_dim = index;
    return GUF_OK;
  }

  // Consumes "value" and "(" if both follow. Returns whether both followed.
  bool take_value(DimRule *rule) {
    const Scanner before = scan_;
    if (scan_.take_word() == "value") {
      scan_.skip_blanks();
      if (scan_.peek() == '(') {
        scan_.step(1);
        rule->kind = DimRule::Kind::kValue;
        return true;
      }
    }
    scan_ = before;
    return false;
  }

  guf_status parse_value(DimRule *rule) {
    const size_t start = scan_.position();
    int64_t operand = 0;
    if (!read_integer(scan_.take_word(), &operand)) {
      return scan_.fail_at(start, "expect the number of an input");
    }
    if (operand >= signature_->nin || signature_->core_ndim[static_cast<size_t>(operand)] != 0 ||
        signature_->writes(static_cast<int32_t>(operand))) {
      return scan_.fail_at(start, "value() expects the number of an input without core dimensions");
    }
    rule->operand = static_cast<int32_t>(operand);
    scan_.skip_blanks();
    return close();
  }

  guf_status parse_sum(int depth, DimRule *rule) {
    GUF_TRY(parse_term(depth, rule));
    while (scan_.peek() == '+' || scan_.peek() == '-') {
      const Step::Op op = scan_.peek() == '+' ? Step::Op::kAdd : Step::Op::kSubtract;
      scan_.step(1);
      GUF_TRY(parse_term(depth, rule));
      rule->program.push_back({op, 0});
    }
    return GUF_OK;
  }

  guf_status parse_term(int depth, DimRule *rule) {
    GUF_TRY(parse_factor(depth, rule));
    for (;;) {
      if (scan_.peek() != '*' && scan_.peek() != '/') return GUF_OK;
      const bool multiply = scan_.peek() == '*';
      scan_.step_tight(1);
      if (!multiply) {
        if (scan_.peek() != '/') return scan_.fail("expect '//'");
        scan_.step_tight(1);
      }
      scan_.skip_blanks();
      GUF_TRY(parse_factor(depth, rule));
      rule->program.push_back({multiply ? Step::Op::kMultiply : Step::Op::kFloorDivide, 0});
    }
  }

  guf_status parse_factor(int depth, DimRule *rule) {
    if (depth > kMaxNesting) return scan_.fail("more than 32 nested parentheses");
    if (scan_.peek() == '(') {
      scan_.step(1);
      GUF_TRY(parse_sum(depth + 1, rule));
      return close();
    }
    const size_t start = scan_.position();
    const std::string_view word = scan_.take_word();
    scan_.skip_blanks();
    if (scan_.peek() == '(' && (word == "min" || word == "max")) {
      scan_.step(1);
      return parse_extremum(depth, word == "min" ? Step::Op::kMin : Step::Op::kMax, rule);
    }
    int64_t constant = 0;
    if (read_integer(word, &constant)) {
      rule->program.push_back({Step::Op::kConstant, constant});
      return GUF_OK;
    }
    const int32_t dim = find_dim(word);
    if (dim < 0) return fail_unknown(start, word, "expect an integer, a dimension name or '('");
    if (!signature_->dims[static_cast<size_t>(dim)].in_inputs) {
      return scan_.fail_at(start, "the dimension is in no input");
    }
    rule->program.push_back({Step::Op::kDim, dim});
    return GUF_OK;
  }

  guf_status parse_extremum(int depth, Step::Op op, DimRule *rule) {
    GUF_TRY(parse_sum(depth + 1, rule));
    while (scan_.peek() == ',') {
      scan_.step(1);
      GUF_TRY(parse_sum(depth + 1, rule));
      rule->program.push_back({op, 0});
    }
    return close();
  }

  guf_status close() {
    if (scan_.peek() != ')') return scan_.fail("expect ')'");
    scan_.step(1);
    return GUF_OK;
  }

  // Finds a dimension by name. A frozen size is not a name: "3" in a rule is a number.
  int32_t find_dim(std::string_view name) const {
    for (size_t i = 0; i < signature_->dims.size(); ++i) {
      const CoreDim &dim = signature_->dims[i];
      if (dim.name == name && dim.frozen < 0) return static_cast<int32_t>(i);
    }
    return -1;
  }

  // For an unknown name, the message lists the names of the signature.
  guf_status fail_unknown(size_t start, std::string_view word, const char *expectation) const {
    if (word.empty() || is_digit(word[0])) return scan_.fail_at(start, expectation);
    std::string names;
    for (const CoreDim &dim : signature_->dims) {
      if (dim.frozen < 0) names += (names.empty() ? "" : ", ") + dim.name;
    }
    const std::string text = "'" + std::string(word) +
                             "' is not a dimension of the signature, which has " +
                             (names.empty() ? "none" : names);
    return scan_.fail_at(start, text.c_str());
  }

  static std::string trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
  }

  std::string_view text_;
  Scanner scan_;
  Signature *signature_;
};

// Divides, rounding toward minus infinity. Returns false for b == 0 and for INT64_MIN / -1.
bool floor_divide(int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  const int64_t quotient = a / b;
  *out = quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
  return true;
}

bool apply(Step::Op op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
    case Step::Op::kAdd:
      return base::checked_add(a, b, out);
    case Step::Op::kSubtract:
      return base::checked_sub(a, b, out);
    case Step::Op::kMultiply:
      return base::checked_mul(a, b, out);
    case Step::Op::kFloorDivide:
      return floor_divide(a, b, out);
    case Step::Op::kMin:
      *out = a < b ? a : b;
      return true;
    default:
      *out = a > b ? a : b;
      return true;
  }
}

[[gnu::cold, gnu::noinline]] guf_status fail_rule(const char *ufunc, const Signature &signature,
                                                  const DimRule &rule, const int64_t *sizes,
                                                  const char *what, guf_error *error) {
  base::Text found;
  const char *before = "; got ";
  for (size_t k = 0; k < rule.program.size(); ++k) {
    const Step &step = rule.program[k];
    const auto names_it = [&](const Step &other) {
      return other.op == Step::Op::kDim && other.constant == step.constant;
    };
    const auto here = rule.program.begin() + static_cast<ptrdiff_t>(k);
    if (step.op != Step::Op::kDim || std::any_of(rule.program.begin(), here, names_it)) continue;
    found.add("%s%s=%lld", before, signature.dims[static_cast<size_t>(step.constant)].name.c_str(),
              static_cast<long long>(sizes[step.constant]));
    before = ", ";
  }
  return base::fail(error, GUF_E_SHAPE, base::kNone, base::kNone, "%s: the rule %s %s%s", ufunc,
                    rule.text.c_str(), what, found.c_str());
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

guf_status parse_rules(std::string_view text, Signature *signature, guf_error *error) {
  return RuleParser(text, signature, error).parse();
}

guf_status evaluate(const char *ufunc, const Signature &signature, const DimRule &rule,
                    const int64_t *sizes, int64_t *out, guf_error *error) {
  int64_t stack[kStackSize];
  size_t depth = 0;
  for (const Step &step : rule.program) {
    if (step.op == Step::Op::kConstant) {
      stack[depth++] = step.constant;
    } else if (step.op == Step::Op::kDim) {
      stack[depth++] = sizes[step.constant];
    } else {
      --depth;
      if (!apply(step.op, stack[depth - 1], stack[depth], &stack[depth - 1]))
        return fail_rule(ufunc, signature, rule, sizes, "overflows or divides by zero", error);
    }
  }
  if (stack[0] < 0) {
    base::Text what;
    what.add("evaluates to the negative size %lld", static_cast<long long>(stack[0]));
    return fail_rule(ufunc, signature, rule, sizes, what.c_str(), error);
  }
  *out = stack[0];
  return GUF_OK;
}

}  // namespace gufunc::op
