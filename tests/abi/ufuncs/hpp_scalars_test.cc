// SPDX-License-Identifier: Apache-2.0
// Tests numbers of C++ as operands: which numbers are weak scalars, and which dtype a bool has.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <complex>
#include <cstdint>

namespace {

guf_operand operand_of(const gufunc::Operand &operand) {
  return operand.c_operand();
}

TEST(HppScalars, NumbersAreWeak) {
  for (const gufunc::Operand &operand :
       {gufunc::Operand(3), gufunc::Operand(3U), gufunc::Operand(3LL), gufunc::Operand(3ULL),
        gufunc::Operand(int8_t{3}), gufunc::Operand(uint16_t{3})}) {
    EXPECT_EQ(operand_of(operand).kind, GUF_OPERAND_WEAK_INT);
    EXPECT_EQ(operand_of(operand).value[0], 3U);
  }
  EXPECT_EQ(operand_of(-1).value[0], UINT64_MAX);
  EXPECT_EQ(operand_of(UINT64_MAX).kind, GUF_OPERAND_WEAK_INT_HUGE);
  EXPECT_EQ(operand_of(UINT64_MAX).value[0], UINT64_MAX);
  EXPECT_EQ(operand_of(0.5).kind, GUF_OPERAND_WEAK_FLOAT);
  EXPECT_EQ(operand_of(0.5F).value[0], operand_of(0.5).value[0]);
  const guf_operand z = operand_of(std::complex<double>(0.5, 2));
  EXPECT_EQ(z.kind, GUF_OPERAND_WEAK_COMPLEX);
  EXPECT_EQ(z.value[0], operand_of(0.5).value[0]);
  EXPECT_EQ(z.value[1], operand_of(2.0).value[0]);
}

TEST(HppScalars, ABoolHasAType) {
  const guf_operand yes = operand_of(true);
  EXPECT_EQ(yes.kind, GUF_OPERAND_SCALAR);
  EXPECT_EQ(yes.dtype, static_cast<guf_dtype>(GUF_BOOL));
  EXPECT_EQ(yes.value[0], 1U);
}

TEST(HppScalars, BoolBesideBoolsStaysBool) {
  const gufunc::Ufunc add("add");
  const bool flags[2] = {true, false};
  const gufunc::Array sum = add({gufunc::Operand(flags, {2}), true});
  EXPECT_NE(sum.str().find("bool"), std::string::npos) << sum.str();
}

}  // namespace
