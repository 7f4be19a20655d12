// SPDX-License-Identifier: Apache-2.0
// Tests the sizes that dimension rules compute, and the errors of these rules, for handwritten and
// generated expressions.
#include "core/op/signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "core/base/checked.h"

namespace gufunc::op {
namespace {

struct Parsed {
  guf_status status;
  Signature signature;
  std::string message;
};

Parsed parse(std::string_view text, std::string_view rules) {
  Parsed parsed;
  guf_error error = {};
  error.struct_size = sizeof error;
  parsed.status = parse_signature(text, rules, nullptr, 0, &parsed.signature, &error);
  parsed.message = error.message;
  return parsed;
}

// Returns the size of p in "(m),(n)->(p)" under the rule, or nothing if the rule rejects the sizes.
std::optional<int64_t> size_of(const std::string &rule, int64_t m, int64_t n) {
  const Parsed parsed = parse("(m),(n)->(p)", rule);
  EXPECT_EQ(parsed.status, GUF_OK) << parsed.message;
  const int64_t sizes[] = {m, n, -1};
  int64_t size = 0;
  guf_error error = {};
  error.struct_size = sizeof error;
  const guf_status status =
      evaluate("pairs", parsed.signature, parsed.signature.rules.at(0), sizes, &size, &error);
  if (status == GUF_OK) return size;
  EXPECT_EQ(status, GUF_E_SHAPE);
  EXPECT_EQ(std::string(error.message).find("pairs: the rule " + rule), 0U) << error.message;
  return std::nullopt;
}

TEST(DimRules, Compute) {
  EXPECT_EQ(size_of("p=n+1", 5, 7), 8);
  EXPECT_EQ(size_of("p=m*n", 5, 7), 35);
  EXPECT_EQ(size_of("p=min(m,n)", 5, 7), 5);
  EXPECT_EQ(size_of("p=max(m, n, 9)", 5, 7), 9);
  EXPECT_EQ(size_of("p=m-n-1", 9, 7), 1);
  EXPECT_EQ(size_of("p=m-(n-1)", 9, 7), 3);
  EXPECT_EQ(size_of("p=m+n*2", 5, 7), 19);
  EXPECT_EQ(size_of("p=(m+n)*2", 5, 7), 24);
  EXPECT_EQ(size_of("p=n//2*m", 5, 7), 15);
  EXPECT_EQ(size_of("p=(m-n)//2+5", 5, 8), 3);  // -1.5 is rounded down to -2
  EXPECT_EQ(size_of("p = 4 ", 5, 7), 4);
  EXPECT_EQ(size_of("p=0", 5, 7), 0);
}

TEST(DimRules, RefuseSizes) {
  EXPECT_EQ(size_of("p=m-n", 5, 7), std::nullopt);
  EXPECT_EQ(size_of("p=m*n", INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(size_of("p=m+1", INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(size_of("p=m//n", 5, 0), std::nullopt);
  EXPECT_EQ(size_of("p=9223372036854775807", 5, 0), INT64_MAX);
}

TEST(DimRules, TakeAValue) {
  const Parsed parsed = parse("(),()->(n),(m)", "n=value(1); m = value( 0 );");
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
  ASSERT_EQ(parsed.signature.rules.size(), 2U);
  EXPECT_EQ(parsed.signature.rules[0].kind, DimRule::Kind::kValue);
  EXPECT_EQ(parsed.signature.rules[0].operand, 1);
  EXPECT_EQ(parsed.signature.rules[0].text, "n=value(1)");
  EXPECT_EQ(parsed.signature.rules[1].text, "m = value( 0 )");
  EXPECT_EQ(parsed.signature.dims[1].rule, 1);
}

TEST(DimRules, FunctionNamesAreFreeAsDimensions) {
  const Parsed parsed = parse("(min),(value)->(p),(q)", "p=min+value; q=min(min,value)");
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
}

TEST(DimRules, RefuseTexts) {
  const struct {
    const char *signature;
    const char *rules;
    const char *message;
  } refusals[] = {
      {"(m)->(p)", "p", "expect '=' at position 1 in \"p\""},
      {"(m)->(p)", "p=", "expect an integer, a dimension name or '(' at position 2 in \"p=\""},
      {"(m)->(p)", "q=1",
       "'q' is not a dimension of the signature, which has m, p at position 0 in \"q=1\""},
      {"(m)->(p)", "m=1",
       "a dimension of an input cannot have a rule at position 0 in "
       "\"m=1\""},
      {"(m)->(3)", "3=1",
       "expect the name of a dimension of the signature at position 0 in \"3=1\""},
      {"(m)->(p)", "p=1;p=2", "the dimension has a rule already at position 4 in \"p=1;p=2\""},
      {"(m)->(p)", "p=m/2", "expect '//' at position 4 in \"p=m/2\""},
      {"(m)->(p)", "p=(m", "expect ')' at position 4 in \"p=(m\""},
      {"(m)->(p)", "p=m m", "expect ';' at position 4 in \"p=m m\""},
      {"(m)->(p)", "p=-1", "expect an integer, a dimension name or '(' at position 2 in \"p=-1\""},
      {"(m)->(p),(q)", "p=q", "the dimension is in no input at position 2 in \"p=q\""},
      {"(m)->(p)", "p=value(0)",
       "value() expects the number of an input without core dimensions at "
       "position 8 in \"p=value(0)\""},
      {"()->(p)", "p=value(1)",
       "value() expects the number of an input without core dimensions at "
       "position 8 in \"p=value(1)\""},
      {"()->(p)", "p=value(x)", "expect the number of an input at position 8 in \"p=value(x)\""},
      {"(m)->(p)", "p=99999999999999999999",
       "expect an integer, a dimension name or '(' at position 2 in \"p=99999999999999999999\""}};
  for (const auto &refusal : refusals) {
    const Parsed parsed = parse(refusal.signature, refusal.rules);
    EXPECT_EQ(parsed.status, GUF_E_SIGNATURE) << refusal.rules;
    EXPECT_EQ(parsed.message, refusal.message);
  }
}

TEST(DimRules, BoundNesting) {
  const auto nested = [](size_t depth) {
    return "p=" + std::string(depth, '(') + "m" + std::string(depth, ')');
  };
  EXPECT_EQ(parse("(m)->(p)", nested(32)).status, GUF_OK);
  EXPECT_EQ(parse("(m)->(p)", nested(33)).status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(m)->(p)", nested(4000)).status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(m)->(p)", "p=1" + std::string(4095, ' ')).status, GUF_E_SIGNATURE);
  // This rule needs the deepest evaluation stack. At every level of nesting, a maximum, a sum and a
  // product wait for the value of the next level.
  std::string deep = "m";
  for (int i = 0; i < 32; ++i) deep = "max(1,1+1*" + deep + ")";
  const int64_t sizes[] = {2, -1};
  int64_t size = 0;
  const Parsed parsed = parse("(m)->(p)", "p=1+1*" + deep);
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
  const DimRule &rule = parsed.signature.rules[0];
  EXPECT_EQ(evaluate("deep", parsed.signature, rule, sizes, &size, nullptr), GUF_OK);
  EXPECT_EQ(size, 35);
}

TEST(DimRules, FailuresNameTheSizes) {
  const struct {
    const char *rule, *text;
  } rows[] = {
      {"p=m-n*2-m", "pairs: the rule p=m-n*2-m evaluates to the negative size -14; got m=5, n=7"},
      {"p=m//(n-7)", "pairs: the rule p=m//(n-7) overflows or divides by zero; got m=5, n=7"},
      {"p=1//0", "pairs: the rule p=1//0 overflows or divides by zero"},
  };
  for (const auto &row : rows) {
    const Parsed parsed = parse("(m),(n)->(p)", row.rule);
    const int64_t sizes[] = {5, 7, -1};
    int64_t size = 0;
    guf_error error = {};
    error.struct_size = sizeof error;
    const DimRule &rule = parsed.signature.rules.at(0);
    EXPECT_EQ(evaluate("pairs", parsed.signature, rule, sizes, &size, &error), GUF_E_SHAPE);
    EXPECT_STREQ(error.message, row.text);
  }
}

// A random expression as text, with the value that its direct evaluation returns.
struct Expression {
  std::string text;
  std::optional<int64_t> value;
};

std::optional<int64_t> combine(char op, std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result = 0;
  if (!a || !b) return std::nullopt;
  switch (op) {
    case '+':
      return base::checked_add(*a, *b, &result) ? std::optional(result) : std::nullopt;
    case '-':
      return base::checked_sub(*a, *b, &result) ? std::optional(result) : std::nullopt;
    case '*':
      return base::checked_mul(*a, *b, &result) ? std::optional(result) : std::nullopt;
    case '/':
      if (*b == 0 || (*b == -1 && *a == INT64_MIN)) return std::nullopt;
      return *a / *b - ((*a % *b != 0 && (*a < 0) != (*b < 0)) ? 1 : 0);
    case 'm':
      return std::min(*a, *b);
    default:
      return std::max(*a, *b);
  }
}

Expression make(std::mt19937 &random, int depth, int64_t m, int64_t n) {
  const auto pick = [&](uint32_t count) { return random() % count; };
  if (depth == 0 || pick(4) == 0) {
    switch (pick(3)) {
      case 0:
        return {"m", m};
      case 1:
        return {"n", n};
      default: {
        const int64_t constant = pick(2) == 0 ? pick(20) : INT64_MAX >> pick(62);
        return {std::to_string(constant), constant};
      }
    }
  }
  const char op = "+-*/mM"[pick(6)];
  const Expression a = make(random, depth - 1, m, n);
  const Expression b = make(random, depth - 1, m, n);
  const std::optional<int64_t> value = combine(op, a.value, b.value);
  if (op == 'm') return {"min(" + a.text + "," + b.text + ")", value};
  if (op == 'M') return {"max(" + a.text + " , " + b.text + ")", value};
  const std::string sign = op == '/' ? "//" : std::string(1, op);
  return {"(" + a.text + sign + b.text + ")", value};
}

TEST(DimRules, GeneratedExpressionsAgreeWithPlainEvaluation) {
  std::mt19937 random(1);
  size_t nvalues = 0;
  constexpr size_t kCases = 4000;
  for (size_t i = 0; i < kCases; ++i) {
    const auto m = static_cast<int64_t>(random() % 100);
    const auto n = static_cast<int64_t>(random() % 5);
    Expression expression = make(random, 4, m, n);
    if (expression.value && *expression.value < 0) expression.value = std::nullopt;
    nvalues += expression.value ? 1 : 0;
    EXPECT_EQ(size_of("p=" + expression.text, m, n), expression.value) << expression.text;
  }
  EXPECT_GT(nvalues, kCases / 4);
  EXPECT_LT(nvalues, kCases);
}

TEST(DimRules, BrokenTextsNeverDoHarm) {
  std::mt19937 random(2);
  const std::string alphabet = "pmnq=+-*/(),;123 valuemx\x80\t";
  size_t nrefused = 0;
  constexpr size_t kCases = 20000;
  for (size_t i = 0; i < kCases; ++i) {
    std::string rules = i % 2 == 0 ? "p=min(m,n)*2; q=value(2)" : "q=m//(n-1)+3;p=max(1,2,m)";
    for (uint32_t k = random() % 4; k > 0; --k) {
      const size_t at = random() % rules.size();
      if (random() % 3 == 0) {
        rules.erase(at, 1);
      } else {
        rules[at] = alphabet[random() % alphabet.size()];
      }
    }
    const Parsed parsed = parse("(m),(n),()->(p),(q)", rules);
    if (parsed.status != GUF_OK) {
      EXPECT_EQ(parsed.status, GUF_E_SIGNATURE) << rules;
      ++nrefused;
      continue;
    }
    const int64_t sizes[] = {5, 2, -1, -1};
    int64_t size = 0;
    for (const DimRule &rule : parsed.signature.rules) {
      if (rule.kind == DimRule::Kind::kValue) continue;
      const guf_status status = evaluate("any", parsed.signature, rule, sizes, &size, nullptr);
      EXPECT_TRUE(status == GUF_OK || status == GUF_E_SHAPE);
    }
  }
  EXPECT_GT(nrefused, kCases / 4);
  EXPECT_LT(nrefused, kCases);
}

}  // namespace
}  // namespace gufunc::op
