// SPDX-License-Identifier: Apache-2.0
// Uses gufunc.hpp with and without exceptions in one program: this file with exceptions, and
// cpp_noexcept_values.cc without. The test is linked in both orders, because the linker keeps only
// the first of several functions with the same name.
#include "cpp_noexcept_values.h"

#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <typeinfo>

namespace {

gufunc::Ufunc (*volatile find)(const std::string &, guf_context) = &gufunc::Ufunc::find;

TEST(CppNoexcept, EachFormReportsItsFailures) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(status_by_value("ad"), GUF_E_NOT_FOUND);
    try {
      find("ad", nullptr);
      FAIL() << "the failure is lost";
    } catch (const gufunc::Error &error) {
      EXPECT_EQ(error.status(), GUF_E_NOT_FOUND);
    }
    EXPECT_THROW(gufunc::Ufunc("ad"), gufunc::Error);
  }
}

TEST(CppNoexcept, EachCalls) {
  double inputs[] = {1, 2}, sum = 0;
  find("add", nullptr).reduce_into(inputs, gufunc::Operand(&sum, {}));
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(sum_by_value(1, 2), 3);
}

TEST(CppNoexcept, TheirTypesDiffer) {
  const std::vector<std::string> ours{typeid(gufunc::Ufunc).name(), typeid(gufunc::Array).name(),
                                      typeid(gufunc::Error).name(), typeid(gufunc::Operand).name(),
                                      typeid(gufunc::detail::Record).name()};
  const std::vector<std::string> theirs = names_of_types_by_value();
  ASSERT_EQ(theirs.size(), ours.size());
  for (size_t k = 0; k < ours.size(); ++k) EXPECT_NE(ours[k], theirs[k]);
}

}  // namespace
