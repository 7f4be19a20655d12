// SPDX-License-Identifier: Apache-2.0
// The lexer, the parser of modules, and the errors of the decoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ptx/ptx_fixture.h"

namespace ptx::test {
namespace {

using testing::HasSubstr;

std::string fault_of(const std::string &body, const std::string &declarations = "") {
  Kernel kernel;
  kernel.declarations = declarations;
  kernel.body = body;
  return kernel.fault();
}

TEST(PtxLexer, TokensHaveLines) {
  Lexer lexer("add.s32 %r1, -1; // comment\n/* two\nlines */ $L__BB0_1: \"text\"");
  EXPECT_EQ(lexer.take().text, "add.s32");
  EXPECT_EQ(lexer.take().text, "%r1");
  EXPECT_EQ(lexer.take().text, ",");
  EXPECT_EQ(lexer.expect_integer(), -1);
  lexer.expect(";");
  const Token label = lexer.take();
  EXPECT_EQ(label.text, "$L__BB0_1");
  EXPECT_EQ(label.line, 3u);
  lexer.expect(":");
  EXPECT_EQ(lexer.peek().kind, Token::kString);
  EXPECT_EQ(lexer.take().text, "text");
  EXPECT_EQ(lexer.take().kind, Token::kEnd);
}

TEST(PtxLexer, Integers) {
  uint64_t value = 0;
  EXPECT_TRUE(read_integer("0x1F", &value) && value == 31);
  EXPECT_TRUE(read_integer("017", &value) && value == 15);
  EXPECT_TRUE(read_integer("0b101", &value) && value == 5);
  EXPECT_TRUE(read_integer("12U", &value) && value == 12);
  EXPECT_TRUE(read_integer("0", &value) && value == 0);
  EXPECT_FALSE(read_integer("1x", &value));
  EXPECT_FALSE(read_integer("", &value));
}

TEST(PtxModule, Declarations) {
  const Module module = parse_module(
      ".version 6.3\n.target sm_75, debug\n.address_size 64\n"
      ".extern .shared .align 16 .b8 pool[];\n.shared .align 8 .b8 tile[24];\n"
      ".global .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n"
      ".visible .const .align 8 .f64 half = 0d3FE0000000000000;\n"
      ".weak .func (.param .b32 result) f(.param .b64 a, .param .align 8 .b8 b[16]);\n"
      ".weak .func (.param .b32 result) f(.param .b64 a, .param .align 8 .b8 b[16]) { ret; }\n"
      ".visible .entry k(.param .u32 n)\n.maxntid 128, 1, 1\n{\n ret;\n}\n");
  EXPECT_EQ(module.version, 63);
  EXPECT_TRUE(module.variables.at("pool").is_external);
  EXPECT_EQ(module.variables.at("tile").bytes, 24u);
  EXPECT_EQ(module.variables.at("table").contents, (std::vector<uint8_t>{1, 0, 0, 0, 2}));
  EXPECT_EQ(module.variables.at("half").contents.back(), 0x3F);
  const FunctionText &function = module.functions.at("f");
  EXPECT_FALSE(function.is_entry);
  EXPECT_FALSE(function.body.empty());
  EXPECT_EQ(function.parameters[1].align, 8u);
  EXPECT_EQ(module.functions.at("k").max_threads[0], 128u);
  EXPECT_EQ(module.functions.at("k").body_line, 12u);
}

TEST(PtxModule, Errors) {
  EXPECT_THROW(parse_module(""), Fault);
  EXPECT_THROW(parse_module(".version 6.3\n.target gfx90a\n"), Fault);
  EXPECT_THROW(parse_module(".version 6.3\n.target sm_75\n.entry k() {"), Fault);
  EXPECT_THROW(parse_module(".version 6.3\n.target sm_75\n.global x;"), Fault);
  EXPECT_THROW(parse_module(".version 6.3\n.target sm_75\n.global .b8 x[1] = {1, 2};"), Fault);
}

TEST(PtxProgram, AFunctionWithAnErrorFailsAtEachUse) {
  Program program(
      ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry k() { add.s31; }\n");
  EXPECT_THROW(program.entry("k"), Fault);
  EXPECT_THROW(program.entry("k"), Fault);
}

TEST(PtxDecoder, UnknownInstructionsHaveLineAndText) {
  EXPECT_EQ(fault_of("add.s31 %r1, %r2, %r3;\n"),
            "line 15: unknown instruction: add.s31 %r1, %r2, %r3;");
}

TEST(PtxDecoder, OperandsMustHaveTheSizeAndTypeOfTheInstruction) {
  EXPECT_THAT(fault_of("add.s32 %r1, %r2, %d3;\n"), HasSubstr("the size of %d3 is wrong"));
  EXPECT_THAT(fault_of("add.s64 %r1, %d2, %d3;\n"), HasSubstr("the size of %r1 is wrong"));
  EXPECT_THAT(fault_of("add.s32 %r1, %r2, %f3;\n"), HasSubstr("the type of %f3 is wrong"));
  EXPECT_THAT(fault_of("ld.global.b64 %r1, [%d6];\n"), HasSubstr("the size of %r1 is wrong"));
  EXPECT_THAT(fault_of("selp.b32 %r1, %r2, %r3, %r4;\n"), HasSubstr("%r4 is wrong"));
  EXPECT_THAT(fault_of("mov.u32 %r1, in;\n"), HasSubstr("unknown name in"));
}

TEST(PtxDecoder, OtherErrors) {
  EXPECT_THAT(fault_of("add.s32 %r1, %r2;\n"), HasSubstr("too few operands"));
  EXPECT_THAT(fault_of("add.s32 %r1, %r2, %r3, %r3;\n"), HasSubstr("too many operands"));
  EXPECT_THAT(fault_of("add.s32 %r8, %r2, %r3;\n"), HasSubstr("unknown register"));
  EXPECT_THAT(fault_of("bra nowhere;\n"), HasSubstr("unknown label"));
  EXPECT_THAT(fault_of("a: ret;\na: ret;\n"), HasSubstr("two labels"));
  EXPECT_THAT(fault_of("call f, ();\n"), HasSubstr("the text does not define f"));
  EXPECT_THAT(fault_of("add.f32 %f1, %f2, 1;\n"), HasSubstr("an integer is no float"));
}

TEST(PtxDecoder, ParametersOfCallsMustMatch) {
  const std::string function = ".func f(.param .b64 a) { ret; }\n";
  EXPECT_THAT(fault_of("{\n.param .b32 a;\ncall f, (a);\n}\n", function),
              HasSubstr("differs from a"));
  EXPECT_THAT(fault_of("call f;\n", function), HasSubstr("the call has 0 parameters, f has 1"));
}

TEST(PtxDecoder, InnerScopesHideOuterOnes) {
  Kernel kernel;
  kernel.body =
      "mov.u32 %r0, 1;\n{\n.reg .b32 %r<2>;\n.reg .b32 plain;\nmov.u32 %r0, 2;\n"
      "mov.u32 plain, %r0;\n}\nst.global.u32 [%d7], %r0;\n";
  EXPECT_EQ(kernel.run()[0], 1u);
}

}  // namespace
}  // namespace ptx::test
