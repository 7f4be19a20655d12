// SPDX-License-Identifier: Apache-2.0
// Tests features of the signature parser that NumPy's parser lacks: `|1`, roles, limits, and exact
// error messages.
#include "core/op/signature.h"

#include <gtest/gtest.h>

namespace gufunc::op {
namespace {

struct Parsed {
  guf_status status;
  Signature signature;
  std::string message;
};

Parsed parse(std::string_view text, std::string_view rules = "", std::vector<int32_t> roles = {}) {
  Parsed parsed;
  guf_error error = {};
  error.struct_size = sizeof error;
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

}  // namespace
}  // namespace gufunc::op
