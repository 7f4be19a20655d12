// SPDX-License-Identifier: Apache-2.0
// Compares type resolution with NumPy 2.4 for a signature= in which some dtypes are unspecified:
// Python scalars, comparisons with ints, and the logical functions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "tests/unit/resolve/typed_call.h"

namespace gufunc::resolve {
namespace {

TEST(NamedTypes, TakePythonFloatsAsIntDoes) {
  TypedCall whole("add", "b.");
  ASSERT_EQ(whole.signature("_q_").weak_float(1, -2.5).choose(), GUF_OK);
  EXPECT_EQ(whole.loop(), "qqq");
  EXPECT_EQ(whole.value<int64_t>(1), -2);
  EXPECT_EQ(whole.operand(1).kind, GUF_OPERAND_WEAK_FLOAT);  // not changed by choose()

  TypedCall flag("add", "?.");
  ASSERT_EQ(flag.signature("_?_").weak_float(1, 0.5).choose(), GUF_OK);
  EXPECT_EQ(flag.value<uint8_t>(1), 1);
  TypedCall large("add", "?1");
  ASSERT_EQ(large.signature("_?_").huge_int(1, 0, 2).choose(), GUF_OK);
  EXPECT_EQ(large.value<uint8_t>(1), 1);
}

struct Refused {
  double value;
  char type;
  guf_status status;
  const char *message;
};

TEST(NamedTypes, RefuseFloatsThatIntRefuses) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Refused rows[] = {
      {infinity, 'q', GUF_E_OVERFLOW, "cannot convert float infinity to integer"},
      {std::nan(""), 'q', GUF_E_VALUE, "cannot convert float NaN to integer"},
      {1e30, 'h', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {1e30, 'Q', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {-1e30, 'q', GUF_E_OVERFLOW, "Python int too large to convert to C long"},
      {1e19, 'I', GUF_E_OVERFLOW, "Python integer 10000000000000000000 out of bounds for uint32"},
      {-1.0, 'Q', GUF_E_OVERFLOW, "Python integer -1 out of bounds for uint64"},
      {300.5, 'b', GUF_E_OVERFLOW, "Python integer 300 out of bounds for int8"},
  };
  for (const Refused &row : rows) {
    const char signature[] = {'_', row.type, '_', 0};
    TypedCall call("add", "?.", GUF_CASTING_UNSAFE);
    EXPECT_EQ(call.signature(signature).weak_float(1, row.value).choose(), row.status);
    EXPECT_STREQ(call.error().message, row.message);
  }
  TypedCall edge("add", "?.");
  ASSERT_EQ(edge.signature("_Q_").weak_float(1, 0x1.8p63).choose(), GUF_OK);
  EXPECT_EQ(edge.value<uint64_t>(1), uint64_t{3} << 62);
}

TEST(NamedTypes, RefuseComplexForRealTypes) {
  TypedCall whole("add", "?j", GUF_CASTING_UNSAFE);
  EXPECT_EQ(whole.signature("_h_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(whole.error().message,
               "int() argument must be a string, a bytes-like object or a real number, not "
               "'complex'");
  TypedCall real("add", "hj", GUF_CASTING_UNSAFE);
  EXPECT_EQ(real.signature("_d_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(real.error().message,
               "float() argument must be a string or a real number, not 'complex'");
  EXPECT_EQ(TypedCall("add", "?j").signature("_?_").choose(), GUF_OK);
}

TEST(NamedTypes, MeetEquivWithoutAnotherType) {
  TypedCall whole("less", "q.", GUF_CASTING_EQUIV);
  EXPECT_EQ(whole.signature("_q_").choose(), GUF_E_CASTING);
  EXPECT_STREQ(whole.error().message,
               "cannot cast Python float to int64 under the casting rule 'equiv'");
  // Logical functions convert any input to bool. The casting rule is checked only for a Python
  // scalar whose dtype is specified.
  TypedCall flag("logical_or", "d1", GUF_CASTING_EQUIV);
  EXPECT_EQ(flag.signature("_??").choose(), GUF_E_CASTING);
  EXPECT_STREQ(flag.error().message,
               "cannot cast Python int to bool under the casting rule 'equiv'");
  EXPECT_EQ(TypedCall("logical_or", "d1", GUF_CASTING_EQUIV).signature("__?").choose(), GUF_OK);
  // bool can never represent this value. The overflow is reported before the cast is checked.
  TypedCall large("add", "b1", GUF_CASTING_EQUIV);
  EXPECT_EQ(large.signature("__?").huge_int(1, 0, 2).choose(), GUF_E_OVERFLOW);
  EXPECT_EQ(TypedCall("add", "b1", GUF_CASTING_EQUIV).signature("__?").choose(), GUF_E_CASTING);
}

TEST(NamedTypes, CompareWithIntsByTheTypeNamed) {
  // The bool array is cast to int8, and the int is weak relative to int8.
  TypedCall beside("less", "?1", GUF_CASTING_SAFE);
  ASSERT_EQ(beside.signature("b__").choose(), GUF_OK);
  EXPECT_EQ(beside.loop(), "bb?");
  // The cast of the array is checked, although the comparison does not depend on the values of the
  // array.
  TypedCall cast("less", "b1");
  EXPECT_EQ(cast.signature("B__").weak_int(1, -1).choose(), GUF_E_CASTING);
  // Every uint8 is greater than -1, so the values of the array before the cast do not matter.
  TypedCall below("less", "b1", GUF_CASTING_UNSAFE);
  ASSERT_EQ(below.signature("B__").weak_int(1, -1).choose(), GUF_OK);
  EXPECT_EQ(below.loop(), "dd?");
  EXPECT_EQ(below.value<double>(1), -std::numeric_limits<double>::infinity());
  TypedCall above("less", "b1", GUF_CASTING_UNSAFE);
  ASSERT_EQ(above.signature("B__").weak_int(1, 256).choose(), GUF_OK);
  EXPECT_EQ(above.value<double>(1), std::numeric_limits<double>::infinity());
}

TEST(NamedTypes, OfLogicalFunctions) {
  const auto loop = [](const char *operands, const char *signature, int casting) {
    TypedCall call("logical_and", operands, casting);
    return call.signature(signature).choose() == GUF_OK ? call.loop() : call.error().message;
  };
  // Inputs are converted to bool under every casting rule.
  EXPECT_EQ(loop("BB", "??_", GUF_CASTING_SAFE), "???");
  EXPECT_EQ(loop("dd", "?__", GUF_CASTING_SAFE), "???");
  EXPECT_EQ(loop("ID", "_?_", GUF_CASTING_NO), "???");
  EXPECT_EQ(loop("HH", "Q__", GUF_CASTING_SAFE), "QQ?");  // without bool, an ordinary choice
  EXPECT_EQ(loop("qi", "_D_", GUF_CASTING_SAFE), "DD?");
}

// signature= may leave the dtype of the input unspecified only if it specifies the dtypes of all
// outputs. Here it specifies only one of two outputs.
TEST(NamedTypes, OfTwoOutputsMustBothBeNamed) {
  const auto ufunc = base::Ref<op::Ufunc>::adopt(new op::Ufunc);
  ufunc->name = ufunc->full_name = "both_parts";
  ASSERT_EQ(op::make_elementwise(1, 2, nullptr, 0, &ufunc->signature, nullptr), GUF_OK);
  ASSERT_EQ(op::Context::process().add(ufunc, nullptr), GUF_OK);
  for (const char letter : {'f', 'd'}) {
    auto loop = std::make_unique<op::Loop>();
    loop->types[0] = loop->types[1] = loop->types[2] = dtype::from_letter(letter);
    ASSERT_EQ(ufunc->add_loop(std::move(loop), nullptr), GUF_OK);
  }
  TypedCall both("both_parts", "d");
  ASSERT_EQ(both.signature("_ff").choose(), GUF_OK);
  EXPECT_EQ(both.loop(), "fff");
  for (const char *one : {"_f_", "__f"}) {
    TypedCall call("both_parts", "d");
    EXPECT_EQ(call.signature(one).choose(), GUF_E_NO_LOOP) << one;
  }
}

}  // namespace
}  // namespace gufunc::resolve
