// SPDX-License-Identifier: Apache-2.0
// Tests how registrations become functions: dtypes, signatures, options, merged loops, and every
// error message.
#include "registration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "files.h"

namespace gufunc::gufcc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RawRegistration raw(const std::string &kind, const std::string &function,
                    const std::vector<std::string> &arguments, int line = 5, int depth = 0) {
  return {{"k.cpp", line}, kind, function, arguments, depth, 0};
}

RawRegistration rule(const std::string &text) {
  return raw("gufunc", "f", {"(n)->(m)", "f->f", "rule=" + text});
}

struct Refused {
  const char *name;
  RawRegistration registration;
  const char *message;
};
void PrintTo(const Refused &row, std::ostream *os) {
  *os << row.name;
}

const Refused kRefused[] = {
    {"InNamespace", raw("ufunc", "f", {"f->f"}, 5, 1), "must be outside of namespaces and braces"},
    {"NoTypes", raw("ufunc", "f", {}), "GUF_UFUNC(f) lacks its types"},
    {"EmptyTypes", raw("ufunc", "f", {" "}), "has no types"},
    {"NoSignature", raw("gufunc", "f", {}), "GUF_GUFUNC(f) lacks its signature"},
    {"UnknownLetter", raw("ufunc", "f", {"fz->f"}), "'z' is not a type; valid are ? b B"},
    {"NoOutput", raw("ufunc", "f", {"ff"}), "has inputs and one to three outputs"},
    {"FourOutputs", raw("ufunc", "f", {"f->ffff"}), "has inputs and one to three outputs"},
    {"NoInput", raw("ufunc", "f", {"->f"}), "has inputs and one to three outputs"},
    {"OtherCount", raw("ufunc", "f", {"ff->f f->f"}),
     "expected 2 inputs and 1 outputs, got 1 and 1"},
    {"CountOfSignature", raw("gufunc", "f", {"(n),(n)->()", "f->f"}),
     "expected 2 inputs and 1 outputs"},
    {"TwiceTheSame", raw("ufunc", "f", {"f->f d->d f->f"}), "has the loop f->f already"},
    {"LIsQ", raw("ufunc", "f", {"l->l q->q"}), "has the loop q->q already"},
    {"UnknownOption", raw("ufunc", "f", {"f->f", "inplace"}),
     "'inplace' is not an option; valid are name="},
    {"FlagWithValue", raw("ufunc", "f", {"f->f", "commutative=1"}), "does not accept a value"},
    {"BadIdentity", raw("ufunc", "f", {"f->f", "identity=2"}), "expected none, reorderable, zero"},
    {"BadFp", raw("ufunc", "f", {"f->f", "fp=quick"}),
     "expected fast, strict or vendor, got 'quick'"},
    {"LongDoc", raw("ufunc", "f", {"f->f", "doc=" + std::string(5000, 'x')}),
     "doc: expected at most 4096 characters, got 5000"},
    {"BadName", raw("ufunc", "f", {"f->f", "name=a-b"}), "'a-b' is not a name"},
    {"BatchOfUfunc", raw("ufunc", "f", {"f->f", "batch=g"}), "belong to GUF_GUFUNC"},
    {"BatchMayFail", raw("gufunc", "f", {"(n)->()", "f->f", "batch=g", "failure=text"}),
     "batch= and failure= cannot be combined"},
    {"BatchWithoutLoops", raw("gufunc", "f", {"(n)->()", "D->D f->d", "batch=g"}),
     "no loop has operands that are all f32 or all f64"},
    {"OverwritesElements", raw("ufunc", "f", {"f->f", "overwrites"}), "operand 0 must be an input"},
    {"OverwritesScalar", raw("gufunc", "f", {"()->(n)", "f->f", "overwrites"}),
     "operand 0 must be an input with core dimensions"},
    {"OverwritesInout", raw("gufunc", "f", {"(n)", "f", "roles=inout", "overwrites"}),
     "operand 0 must be an input with core dimensions and the role in"},
    {"RuleOfUfunc", raw("ufunc", "f", {"f->f", "rule=n=3"}), "belong to GUF_GUFUNC"},
    {"MergeOfUfunc", raw("ufunc", "f", {"f->f", "merge=f"}),
     "the block function must have the signature"},
    {"MergeUnknown", raw("gufunc", "f", {"(n)->()", "f->f", "merge=g"}),
     "merge=g: the sources register no such function"},
    {"MergeNoBlockFunction", raw("gufunc", "f", {"(n)->(n)", "f->f", "merge=f"}),
     "the block function must have the signature (n)->()"},
    {"MergeFrozenBlockFunction", raw("gufunc", "f", {"(3)->()", "f->f", "merge=f"}),
     "the block function must have the signature (n)->()"},
    {"MergeInoutBlockFunction",
     raw("gufunc", "f", {"(n)->()", "f->f", "merge=f", "roles=in,inout"}),
     "without sizes, rules or roles"},
    {"MergeItself", raw("gufunc", "f", {"(n)->()", "f->f", "merge=f"}),
     "merge must be elementwise, with 2 inputs and 1 outputs; got 1 inputs and 1 outputs, and a "
     "signature"},
    {"FinishAlone", raw("gufunc", "f", {"(n)->()", "f->f", "finish=f"}), "finish= needs merge="},
    {"BadRole", raw("gufunc", "f", {"(n)", "f", "roles=rw"}),
     "expected in, out or inout, got 'rw'"},
    {"RoleCount", raw("gufunc", "f", {"(n)", "f", "roles=in,out"}),
     "roles: expected one for each of the 1 operands, got 2"},
    {"NothingWritten", raw("gufunc", "f", {"(n)", "f"}), "name the operands that it writes"},
    {"RolesOfInputs", raw("gufunc", "f", {"(n)->(n)", "ff->f", "roles=out,out"}),
     "operand 0 is an input of a signature with outputs: its role must be in"},
    {"RoleOfOutput", raw("gufunc", "f", {"(n)->(n)", "ff->f", "roles=in,in"}),
     "operand 1 is an output: expected out or inout, got in"},
    {"NoRoleWrites", raw("gufunc", "f", {"(n)", "f", "roles=in"}),
     "name the operands that it writes"},
    {"TooManyOperands", raw("ufunc", "f", {std::string(32, 'f') + "->f"}), "together 1 to 32"},
    {"SignatureOpen", raw("gufunc", "f", {"(n),(n->()", "ff->f"}),
     "signature: expect ',' or ')' at position 6 in \"(n),(n->()\""},
    {"SignatureEnds", raw("gufunc", "f", {"(n)->", "f->f"}), "expect '(' at position 5"},
    {"SignatureName", raw("gufunc", "f", {"(3n)->()", "f->f"}),
     "expect dimension name or non-zero frozen size at position 1"},
    {"SignatureTail", raw("gufunc", "f", {"(n)->()x", "f->f"}), "expect ',' at position 7"},
    {"SignatureMark", raw("gufunc", "f", {"(n)->(n|1)", "f->f"}), "|1 cannot be used in outputs"},
    {"RuleOfOtherDimension", rule("m=n+q"),
     "rule: 'q' is not a dimension of the signature, which has n, m at position 4 in \"m=n+q\""},
    {"RuleForNoDimension", rule("zz=1"),
     "'zz' is not a dimension of the signature, which has n, m"},
    {"RuleWithoutValue", rule("m"), "expect '=' at position 1 in \"m\""},
    {"RuleOfOneSlash", rule("m=n/0"), "expect '//' at position 4"},
    {"RuleOfNoOperand", rule("m=value(5)"), "value() expects the number of an input"},
    {"RuleForInput", rule("n=3"), "a dimension of an input cannot have a rule"},
    {"TwoRules", raw("gufunc", "f", {"(n)->(m)", "f->f", "rule=m=n", "rule=m=3"}),
     "the dimension has a rule already at position 5 in \"m=n; m=3\""},
};

class RegistrationRefused : public testing::TestWithParam<Refused> {};

TEST_P(RegistrationRefused, NamesLineAndFault) {
  Module module;
  Diagnostics diagnostics;
  EXPECT_FALSE(build_module({GetParam().registration}, &module, &diagnostics));
  EXPECT_THAT(diagnostics.text(), HasSubstr("k.cpp:5: error: "));
  EXPECT_THAT(diagnostics.text(), HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(Rows, RegistrationRefused, testing::ValuesIn(kRefused),
                         [](const auto &row) { return row.param.name; });

TEST(Registration, MergesLoopsOfOneNameInOrder) {
  Module module;
  Diagnostics diagnostics;
  ASSERT_TRUE(build_module(
      {raw("ufunc", "ns::integer<2>",
           {"bb->b ?"
            "?->?",
            "name=add", "commutative", "fp=fast", "identity=zero"}),
       raw("ufunc", "real_add", {"ff->f", "name=add", "identity=zero", "fp=fast", "commutative"})},
      &module, &diagnostics))
      << diagnostics.text();
  ASSERT_EQ(module.functions.size(), 1u);
  const Function &add = module.functions[0];
  ASSERT_EQ(add.loops.size(), 3u);
  EXPECT_EQ(add.loops[0].stem, "guf_ew_add_bb_b");
  EXPECT_EQ(add.loops[1].stem, "guf_ew_add_oo_o");
  EXPECT_EQ(add.loops[1].callee, "ns::integer<2>");
  EXPECT_EQ(add.loops[2].callee, "real_add");
  EXPECT_EQ(add.loops[0].fp, FpMode::kFast);
  EXPECT_EQ(add.loops[2].fp, FpMode::kFast);
  EXPECT_TRUE(add.commutative);
  EXPECT_EQ(add.identity, "zero");
}

TEST(Registration, LoopsAreChosenByTheirInputs) {
  const auto diagnostics_of = [](const std::string &kind,
                                 const std::vector<std::string> &arguments) {
    Module module;
    Diagnostics diagnostics;
    EXPECT_TRUE(build_module({raw(kind, "f", arguments)}, &module, &diagnostics));
    const bool good = check_choice(module, &diagnostics);
    EXPECT_EQ(good, !diagnostics.failed());
    return diagnostics.text();
  };
  EXPECT_EQ(diagnostics_of("ufunc", {"f->f d->d"}), "");
  EXPECT_EQ(diagnostics_of("gufunc", {"->(n)", "->f ->d"}), "");
  EXPECT_THAT(diagnostics_of("ufunc", {"q->f l->d"}),
              HasSubstr("k.cpp:5: error: f: loops q->f and l->d have the same inputs"));
}

TEST(Registration, MergingNeedsTheSameShape) {
  Module module;
  Diagnostics diagnostics;
  EXPECT_FALSE(build_module({raw("ufunc", "f", {"f->f"}, 5), raw("ufunc", "f", {"dd->d"}, 9)},
                            &module, &diagnostics));
  EXPECT_THAT(diagnostics.text(),
              HasSubstr("k.cpp:9: error: f is registered at k.cpp:5 with another"));
}

// Returns the messages for three registrations of one name, at lines 5, 9 and 13, whose options are
// `first`, `second` and `third`.
std::string messages_of_three(const std::string &first, const std::string &second,
                              const std::string &third, Module *module) {
  const std::string options[] = {first, second, third};
  const char *types[] = {"ff->f", "dd->d", "qq->q"};
  std::vector<RawRegistration> registrations;
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> arguments = {"(n),(n)->()", types[i]};
    if (!options[i].empty()) arguments.push_back(options[i]);
    registrations.push_back(raw("gufunc", "f", arguments, 5 + 4 * i));
  }
  Diagnostics diagnostics;
  const bool good = build_module(registrations, module, &diagnostics);
  EXPECT_EQ(good, diagnostics.text().empty());
  return diagnostics.text();
}

TEST(Registration, OptionsOfOneNameContradict) {
  const char *end = "; registrations with the same name must have the same value\n";
  Module module;
  for (const char *flag : {"inplace_safe", "commutative", "associative", "underflows", "divides",
                           "accepts_empty", "overwrites", "keeps_precision"}) {
    const std::string quoted = fmt::format("'{}'", flag);
    EXPECT_EQ(
        messages_of_three("", "", flag, &(module = {})),
        fmt::format("k.cpp:13: error: f: expected no {0} as at k.cpp:5, got {0}{1}", quoted, end));
    EXPECT_EQ(
        messages_of_three(flag, flag, "", &(module = {})),
        fmt::format("k.cpp:13: error: f: expected {0} as at k.cpp:5, got no {0}{1}", quoted, end));
  }
  const char *rows[][5] = {
      {"identity=zero", "identity=zero", "identity=one", "identity=one", "identity=zero"},
      {"identity=zero", "identity=zero", "", "identity=none", "identity=zero"},
      {"", "", "merge=f", "merge=f", "no merge="},
      {"merge=f", "merge=f", "merge=g", "merge=g", "merge=f"},
      {"finish=f", "finish=f", "", "no finish=", "finish=f"},
      {"", "fp=strict", "fp=fast", "fp=fast", "fp=strict"},
      {"fp=vendor", "fp=vendor", "fp=fast", "fp=fast", "fp=vendor"}};
  for (const auto &[first, second, third, found, expected] : rows) {
    EXPECT_EQ(messages_of_three(first, second, third, &(module = {})),
              fmt::format("k.cpp:13: error: f: expected {} as at k.cpp:5, got {}{}", expected,
                          found, end));
  }
}

// Each option in the list of the error message is in the table of the documentation and in the
// header.
TEST(Registration, EveryOptionIsDocumented) {
  Module module;
  Diagnostics diagnostics;
  EXPECT_FALSE(build_module({raw("ufunc", "f", {"f->f", "?"})}, &module, &diagnostics));
  constexpr std::string_view kBefore = "valid are ";
  std::istringstream valid(
      diagnostics.text().substr(diagnostics.text().find(kBefore) + kBefore.size()));
  std::string page, header;
  ASSERT_TRUE(read_file(GUFUNC_SOURCE "/docs/kernels.md", &page, &diagnostics));
  ASSERT_TRUE(read_file(GUFUNC_SOURCE "/kernels/include/gufunc/kernel.hpp", &header, &diagnostics));
  int count = 0;
  for (std::string option; valid >> option; ++count) {
    const std::string end = option.back() == '=' ? "" : "`";
    EXPECT_THAT(page, testing::ContainsRegex("\n\\| [^|]*`" + option + end)) << option;
    EXPECT_THAT(header, HasSubstr("\"" + option + (end.empty() ? "" : "\""))) << option;
  }
  EXPECT_EQ(count, 19);
}

// A registration without the option `failure` declares a loop that cannot fail. It is enough that
// one registration of a function has the option `doc`.
TEST(Registration, DocAndFailureMayBeLeftOutButNotContradict) {
  Module module;
  for (const char *key : {"doc", "failure"}) {
    const auto option = [&](const char *text) { return fmt::format("{}={}", key, text); };
    EXPECT_EQ(messages_of_three("", option("one"), "", &(module = {})), "");
    EXPECT_EQ(messages_of_three(option("one"), "", option("one"), &(module = {})), "");
    EXPECT_EQ(messages_of_three("", option("one"), option("two"), &(module = {})),
              fmt::format("k.cpp:13: error: f: expected {0}=one as at k.cpp:9, got {0}=two; "
                          "registrations with the same name must have the same value\n",
                          key));
  }
  EXPECT_EQ(messages_of_three("", "failure=one", "", &(module = {})), "");
  EXPECT_EQ(module.functions[0].failure.text, "one");
  EXPECT_FALSE(module.functions[0].loops[0].may_fail);
  EXPECT_TRUE(module.functions[0].loops[1].may_fail);
  EXPECT_FALSE(module.functions[0].loops[2].may_fail);
  EXPECT_EQ(messages_of_three("", "group", "", &(module = {})), "");
  EXPECT_TRUE(module.functions[0].loops[1].cooperative);
}

// Only loops of which all operands are f32, or all f64, have a batch function.
TEST(Registration, BatchesOfLoops) {
  Module module;
  Diagnostics diagnostics;
  ASSERT_TRUE(build_module(
      {raw("gufunc", "f", {"(n),()->(n)", "ff->f fd->d dd->d DD->D", "batch=ns::g", "overwrites"})},
      &module, &diagnostics))
      << diagnostics.text();
  std::vector<std::string> found;
  for (const Loop &loop : module.functions[0].loops) found.push_back(loop.batch);
  EXPECT_THAT(found, ElementsAre("ns::g", "", "ns::g", ""));
  EXPECT_TRUE(module.functions[0].overwrites);
}

TEST(Registration, GeneralizedFunctions) {
  Module module;
  Diagnostics diagnostics;
  ASSERT_TRUE(build_module(
      {raw("gufunc", "power", {"(n)", "f d", "roles=inout", "inplace_safe"}),
       raw("gufunc", "foo",
           {"(),(),(k)->(n),(m)", "fqf->ff", "rule=n=value(1)", "rule=m=k+1", "group"})},
      &module, &diagnostics))
      << diagnostics.text();
  EXPECT_THAT(module.functions[0].roles, ElementsAre(Role::kInOut));
  EXPECT_EQ(module.functions[0].loops[0].stem, "guf_gu_power_f");
  EXPECT_TRUE(module.functions[0].inplace_safe);
  EXPECT_EQ(module.functions[1].rules, "n=value(1); m=k+1");
  EXPECT_TRUE(module.functions[1].loops[0].cooperative);
}

TEST(Registration, ReadsRawKernels) {
  Module module;
  Diagnostics diagnostics;
  EXPECT_TRUE(build_module(
      {raw("kernel", "ns::k<float,3>", {"threads=64", "shared=128", "doc=text", "fp=fast"}),
       raw("kernel", "k", {"name=plain"})},
      &module, &diagnostics))
      << diagnostics.text();
  ASSERT_EQ(module.kernels.size(), 2u);
  EXPECT_EQ(module.kernels[0].name, "k");
  EXPECT_EQ(module.kernels[0].symbol, "guf_rk_k");
  EXPECT_EQ(module.kernels[0].callee, "ns::k<float,3>");
  EXPECT_EQ(module.kernels[0].threads, 64u);
  EXPECT_EQ(module.kernels[0].shared_bytes, 128u);
  EXPECT_EQ(module.kernels[0].fp, FpMode::kFast);
  EXPECT_EQ(module.kernels[1].name, "plain");
  EXPECT_EQ(module.kernels[1].threads, 1024u);
}

TEST(Registration, RefusesWrongRawKernels) {
  const std::pair<std::vector<std::string>, const char *> rows[] = {
      {{"threads=0"}, "k.cpp:5: error: threads: expected 1 to 1024, got '0'"},
      {{"threads=2000"}, "threads: expected 1 to 1024, got '2000'"},
      {{"threads=3x"}, "threads: expected 1 to 1024, got '3x'"},
      {{"threads="}, "threads: expected 1 to 1024, got ''"},
      {{"shared=-1"}, "shared: expected 0 to 232448, got '-1'"},
      {{"shared=1000000"}, "shared: expected 0 to 232448, got '1000000'"},
      {{"group"},
       "'group' is not an option of a kernel; valid are name= doc= fp= threads= shared="},
      {{"rule=n=1"}, "'rule' is not an option of a kernel"},
      {{"fp=slow"}, "fp: expected fast, strict or vendor, got 'slow'"},
      {{"name=a b"}, "'a b' is not a name"},
  };
  for (const auto &[options, text] : rows) {
    Module module;
    Diagnostics diagnostics;
    EXPECT_FALSE(build_module({raw("kernel", "k", options)}, &module, &diagnostics));
    EXPECT_THAT(diagnostics.text(), HasSubstr(text));
  }
  Module module;
  Diagnostics diagnostics;
  EXPECT_FALSE(
      build_module({raw("kernel", "k", {}), raw("kernel", "n::k", {})}, &module, &diagnostics));
  EXPECT_THAT(diagnostics.text(), HasSubstr("the kernel k is registered at k.cpp:5 already"));
}

TEST(Registration, NumbersDistinctDimensionsInOrderOfFirstUse) {
  const auto dims_of = [](const std::string &signature, const std::string &types) {
    Module module;
    Diagnostics diagnostics;
    EXPECT_TRUE(build_module({raw("gufunc", "f", {signature, types})}, &module, &diagnostics))
        << diagnostics.text();
    return module.functions.at(0).core_dims;
  };
  EXPECT_THAT(dims_of(" ( m , n ),(n,p)->(m,p),(3) ", "ff->ff"),
              ElementsAre(ElementsAre(0, 1), ElementsAre(1, 2), ElementsAre(0, 2), ElementsAre(3)));
  EXPECT_THAT(dims_of("(m?,n|1),(n|1)->(m?)", "ff->f"),
              ElementsAre(ElementsAre(0, 1), ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(dims_of("->(n)", "->f"), ElementsAre(ElementsAre(0)));
}

}  // namespace
}  // namespace gufunc::gufcc
