// SPDX-License-Identifier: Apache-2.0
// The rules of a signature: their translation to postfix programs, and the programs' evaluation.
#include "core/op/dim_rules.h"

#include <algorithm>

#include "core/base/checked.h"
#include "core/op/text_scanner.h"

namespace gufunc::op {
namespace {

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
