// SPDX-License-Identifier: Apache-2.0
// Tests that texts from the library do not depend on the locale of the process or of the thread.
#include <cstdio>

#include "comma_locale.h"
#include "tests/support/requests.h"
#include "vector_calls.h"

namespace {

// Returns texts about a call whose numbers could contain decimal points and group separators.
std::string texts() {
  guf_error error = fresh_error();
  std::string text;
  const int64_t shape[1] = {3};
  guf_array array = nullptr;
  EXPECT_EQ(guf_array_alloc(nullptr, GUF_F64, 1, shape, nullptr, GUF_ORDER_C, &array, &error),
            GUF_OK);
  const guf_operand value = gufunc::weak_float_of(1234567.25);
  EXPECT_EQ(guf_array_fill(array, &value, nullptr, &error), GUF_OK) << error.message;
  char buffer[8192];
  uint64_t length = sizeof buffer;
  EXPECT_EQ(guf_array_print(array, buffer, &length, &error), GUF_OK) << error.message;
  text += buffer;
  guf_array_release(array, nullptr);

  const std::vector<double> in(1234567, 0.5);
  std::vector<double> out(in.size());
  const Vector from(in), to(out);
  guf_operand output = to.get();
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &from.get();
  args.outputs = &output;
  length = sizeof buffer;
  EXPECT_EQ(requests::explain_call(find_ufunc("sin"), &args, buffer, &length, &error), GUF_OK)
      << error.message;
  text += buffer;
  args.ninputs = 1234567;
  EXPECT_NE(guf_call(find_ufunc("sin"), &args, &error), GUF_OK);
  text += error.message;
  guf_dtype dtype = 0;
  EXPECT_NE(guf_dtype_parse("f1,5", &dtype, &error), GUF_OK);
  return text + error.message;
}

TEST(Locale, ADecimalCommaChangesNoText) {
  const std::string expected = texts();
  EXPECT_NE(expected.find("[1234567.25 1234567.25 1234567.25]"), std::string::npos) << expected;
  const locale_t comma = open_comma_locale();
  ASSERT_NE(comma, nullptr);
  ASSERT_NE(std::setlocale(LC_ALL, "comma"), nullptr);
  EXPECT_EQ(texts(), expected) << "locale of the process";
  const locale_t before = uselocale(comma);
  char probe[8];
  std::snprintf(probe, sizeof probe, "%.1f", 1.5);
  EXPECT_STREQ(probe, "1,5");
  EXPECT_EQ(texts(), expected) << "locale of the thread";
  uselocale(before);
  std::setlocale(LC_ALL, "C");
  freelocale(comma);
}

}  // namespace
