// SPDX-License-Identifier: Apache-2.0
// Compares the parser of signatures with NumPy's parser on the texts of
// tests/data/make_signatures.py. Tests features that NumPy's parser lacks: `|1`, roles, limits,
// exact error messages, and the sizes that dimension rules compute.
#include "core/op/signature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <random>
#include <string>

#include "core/base/checked.h"
#include "tests/support/fresh_error.h"

namespace gufunc::op {
namespace {

struct Parsed {
  guf_status status;
  Signature signature;
  std::string message;
};

Parsed parse(std::string_view text, std::string_view rules = "", std::vector<int32_t> roles = {}) {
  Parsed parsed;
  guf_error error = fresh_error();
  parsed.status = parse_signature(text, rules, roles.empty() ? nullptr : roles.data(),
                                  static_cast<int32_t>(roles.size()), &parsed.signature, &error);
  parsed.message = error.message;
  return parsed;
}

std::string dims_of(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i > 0 ? ",d" : "d") + std::to_string(i);
  return text;
}

std::string repeat(std::string_view part, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::string(part);
  return text;
}

TEST(Signature, KeepsDimensionsInOrderOfFirstUse) {
  const Parsed parsed = parse("(m,n),(n,3)->(3,m,p)");
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
  const Signature &s = parsed.signature;
  EXPECT_EQ(s.nin, 2);
  EXPECT_EQ(s.nout, 1);
  EXPECT_TRUE(s.generalized);
  ASSERT_EQ(s.dims.size(), 4U);
  EXPECT_EQ(s.dims[2].name, "3");
  EXPECT_EQ(s.dims[2].frozen, 3);
  EXPECT_FALSE(s.dims[3].in_inputs);
  EXPECT_EQ(s.operand_dims, (std::vector<int32_t>{0, 1, 1, 2, 2, 0, 3}));
  EXPECT_EQ(s.core_offset[2], 4);
  EXPECT_EQ(s.core_ndim[2], 3);
  EXPECT_EQ(s.role[1], GUF_ROLE_IN);
  EXPECT_EQ(s.role[2], GUF_ROLE_OUT);
}

TEST(Signature, WithoutArrowHasInputsOnly) {
  const Parsed parsed = parse("(n),(n)", "", {GUF_ROLE_IN, GUF_ROLE_INOUT});
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
  EXPECT_EQ(parsed.signature.nout, 0);
  EXPECT_FALSE(parsed.signature.writes(0));
  EXPECT_TRUE(parsed.signature.reads(1) && parsed.signature.writes(1));
  EXPECT_TRUE(parsed.signature.dims[0].in_inputs);
}

TEST(Signature, MarksBroadcastableDimensions) {
  const Parsed parsed = parse("(n|1,k),(n|1)->(n,k)");
  ASSERT_EQ(parsed.status, GUF_OK) << parsed.message;
  EXPECT_TRUE(parsed.signature.dims[0].broadcastable);
  EXPECT_FALSE(parsed.signature.dims[1].broadcastable);
}

struct Refusal {
  const char *text;
  const char *message;
};

TEST(Signature, RefusesInNumPysWords) {
  const Refusal refusals[] = {
      {"(n)->", "expect '(' at position 5 in \"(n)->\""},
      {"(n", "expect ',' or ')' at position 2 in \"(n\""},
      {"(", "unexpected end of signature string at position 1 in \"(\""},
      {"", "incomplete signature: not all arguments found at position 0 in \"\""},
      {"(n,)->()", "',' must not be followed by ')' at position 3 in \"(n,)->()\""},
      {"(0)->()", "expect dimension name or non-zero frozen size at position 1 in \"(0)->()\""},
      {"(n),(n?)->()",
       "? cannot be used, name already seen without ? at position 5 in "
       "\"(n),(n?)->()\""},
      {"(n?),(n)->()",
       "? must be used, name already seen with ? at position 6 in "
       "\"(n?),(n)->()\""},
      {"(n) (n)", "expect '->' at position 4 in \"(n) (n)\""},
      {"(n|2)->()", "expect '1' after '|' at position 4 in \"(n|2)->()\""},
      {"(n|1)->(n|1)", "|1 cannot be used in outputs at position 8 in \"(n|1)->(n|1)\""},
      {"(n?|1)->()", "|1 cannot be used together with ? at position 1 in \"(n?|1)->()\""},
      {"(3|1)->()", "|1 cannot be used with a frozen size at position 1 in \"(3|1)->()\""},
      {"(n),(n|1)->()",
       "|1 cannot be used, name already seen without |1 at position 5 in "
       "\"(n),(n|1)->()\""},
      {"(n|1),(n)->()",
       "|1 must be used, name already seen with |1 at position 7 in "
       "\"(n|1),(n)->()\""},
      {"(n\n)->()", "expect ',' or ')' at position 2 in \"(n\n)->()\""}};
  for (const Refusal &refusal : refusals) {
    const Parsed parsed = parse(refusal.text);
    EXPECT_EQ(parsed.status, GUF_E_SIGNATURE) << refusal.text;
    EXPECT_EQ(parsed.message, refusal.message);
  }
}

TEST(Signature, HasCaps) {
  EXPECT_EQ(parse("(" + dims_of(16) + ")->()").status, GUF_OK);
  EXPECT_EQ(parse("(" + dims_of(17) + ")->()").status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse(repeat("()", 31) + "->()").status, GUF_OK);
  EXPECT_EQ(parse(repeat("()", 32) + "->()").status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(" + repeat("n", 64) + ")").status, GUF_OK);
  EXPECT_EQ(parse("(" + repeat("n", 65) + ")").status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(" + std::string(63, 'n') + ")").status, GUF_OK);
  EXPECT_EQ(parse("(" + std::string(64, 'n') + ")").status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(n)" + std::string(4093, ' ')).status, GUF_OK);
  EXPECT_EQ(parse("(n)" + std::string(4094, ' ')).status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(9223372036854775806)").status, GUF_OK);
  EXPECT_EQ(parse("(9223372036854775807)").status, GUF_E_SIGNATURE);
  EXPECT_EQ(parse("(99999999999999999999)").status, GUF_E_SIGNATURE);
}

TEST(Signature, ChecksRoles) {
  EXPECT_EQ(parse("(n)->(n)", "", {GUF_ROLE_IN, GUF_ROLE_INOUT}).status, GUF_OK);
  EXPECT_EQ(parse("(n)->(n)", "", {GUF_ROLE_IN, 0}).signature.role[1], GUF_ROLE_OUT);
  EXPECT_EQ(parse("(n)->(n)", "", {GUF_ROLE_OUT, GUF_ROLE_OUT}).status, GUF_E_ARG);
  EXPECT_EQ(parse("(n)->(n)", "", {GUF_ROLE_IN}).status, GUF_E_ARG);
  EXPECT_EQ(parse("(n)->(n)", "", {GUF_ROLE_IN, 3}).status, GUF_E_ARG);
  EXPECT_EQ(parse("(n)->(n)", "", {-1, GUF_ROLE_OUT}).status, GUF_E_ARG);
  Signature made;
  EXPECT_EQ(make_elementwise(0, 0, nullptr, 0, &made, nullptr), GUF_E_ARG);
  EXPECT_EQ(make_elementwise(-1, 2, nullptr, 0, &made, nullptr), GUF_E_ARG);
  EXPECT_EQ(make_elementwise(32, 1, nullptr, 0, &made, nullptr), GUF_E_ARG);
  EXPECT_EQ(make_elementwise(INT32_MAX, INT32_MAX, nullptr, 0, &made, nullptr), GUF_E_ARG);
  EXPECT_EQ(make_elementwise(31, 1, nullptr, 0, &made, nullptr), GUF_OK);
}

TEST(Signature, LeavesTheResultAloneOnFailure) {
  Signature signature = parse("(m,n)->(n)").signature;
  EXPECT_EQ(parse_signature("(m", "", nullptr, 0, &signature, nullptr), GUF_E_SIGNATURE);
  EXPECT_EQ(signature.text, "(m,n)->(n)");
  EXPECT_EQ(signature.dims.size(), 2U);
}

TEST(Signature, FormIgnoresNames) {
  const auto same = [](std::string_view a, std::string_view b) {
    return same_form(parse(a).signature, parse(b).signature);
  };
  EXPECT_TRUE(same("(m,n),(n)->(m)", "(i,j),(j)->(i)"));
  EXPECT_FALSE(same("(m,n),(n)->(m)", "(i,j),(i)->(j)"));
  EXPECT_FALSE(same("(n)->()", "(n?)->()"));
  EXPECT_FALSE(same("(n|1),(n|1)->()", "(n),(n)->()"));
  EXPECT_FALSE(same("(3)->()", "(4)->()"));
  EXPECT_FALSE(same("(n),()", "(n)->()"));
}

void join(std::string *text, const std::vector<int64_t> &numbers) {
  *text += ' ';
  if (numbers.empty()) *text += '-';
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) *text += ',';
    *text += std::to_string(numbers[i]);
  }
}

// Formats a parsed signature in the notation of signatures.txt.
std::string describe(const Signature &signature) {
  std::vector<int64_t> ndims;
  std::vector<int64_t> indices(signature.operand_dims.begin(), signature.operand_dims.end());
  std::vector<int64_t> flags;
  std::vector<int64_t> sizes;
  for (int i = 0; i < signature.nin + signature.nout; ++i) {
    ndims.push_back(signature.core_ndim[static_cast<size_t>(i)]);
  }
  for (const CoreDim &dim : signature.dims) {
    flags.push_back(dim.optional ? 4 : 0);
    sizes.push_back(dim.frozen);
  }
  std::string text = std::to_string(signature.nin) + " " + std::to_string(signature.nout);
  for (const auto *part : {&ndims, &indices, &flags, &sizes}) join(&text, *part);
  return text;
}

std::string outcome(const std::string &text) {
  Signature signature;
  guf_error error = fresh_error();
  const guf_status status = parse_signature(text, "", nullptr, 0, &signature, &error);
  if (status == GUF_OK) return describe(signature);
  EXPECT_EQ(status, GUF_E_SIGNATURE) << text;
  const std::string message = error.message;
  return "E " + message.substr(0, message.find(" in \""));
}

std::string unescape(std::string text) {
  for (size_t at; (at = text.find("\\t")) != std::string::npos;) text.replace(at, 2, "\t");
  return text;
}

// Returns whether the error concerns the separator between two arguments. NumPy's parser knows the
// number of arguments, so NumPy may reject a comma where this parser accepts the comma and rejects
// the text after it.
bool is_about_arguments(const std::string &refusal) {
  for (const char *what :
       {"E expect ',' at", "E expect '->' at", "E expect '(' at", "E incomplete signature"}) {
    if (refusal.compare(0, std::string(what).size(), what) == 0) return true;
  }
  return false;
}

size_t position_of(const std::string &refusal) {
  return std::stoul(refusal.substr(refusal.rfind(' ') + 1));
}

bool same_refusal(const std::string &text, const std::string &found, const std::string &expected) {
  if (found == expected) return true;
  if (!is_about_arguments(found) || !is_about_arguments(expected)) return false;
  const size_t from = position_of(expected);
  const size_t to = position_of(found);
  if (from == to) return true;
  if (from > to || text[from] != ',') return false;
  return std::min(text.find_first_not_of(" \t", from + 1), text.size()) == to;
}

TEST(NumpySignatures, AreReadAndRefusedAlike) {
  std::ifstream file(GUFUNC_TEST_DATA "/signatures.txt");
  ASSERT_TRUE(file.is_open());
  size_t nread = 0;
  size_t nrefused = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    const size_t tab = line.rfind('\t');
    const std::string expected = line.substr(tab + 1);
    const std::string text = unescape(line.substr(0, tab));
    const std::string found = outcome(text);
    (expected[0] == 'E' ? nrefused : nread) += 1;
    EXPECT_TRUE(same_refusal(text, found, expected))
        << "\"" << text << "\"\n  found " << found << "\n  NumPy " << expected;
  }
  EXPECT_GT(nread, 1000U);
  EXPECT_GT(nrefused, 1000U);
}

// Returns the size of p in "(m),(n)->(p)" under the rule, or nothing if the rule rejects the sizes.
std::optional<int64_t> size_of(const std::string &rule, int64_t m, int64_t n) {
  const Parsed parsed = parse("(m),(n)->(p)", rule);
  EXPECT_EQ(parsed.status, GUF_OK) << parsed.message;
  const int64_t sizes[] = {m, n, -1};
  int64_t size = 0;
  guf_error error = fresh_error();
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
    guf_error error = fresh_error();
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
