// SPDX-License-Identifier: Apache-2.0
// Compares the dtype in which a reduction runs with NumPy 2.4.6.
#include <cmath>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

struct Row {
  const char *ufunc;
  guf_dtype input;
  guf_dtype dtype;   // dtype= argument, or 0
  guf_dtype result;  // 0 means that the call fails
  const char *text;  // error message
};

const char kNoLoop[] = "No loop matching the specified signature and casting was found for ufunc ";

const Row kRows[] = {
    {"add", GUF_BOOL, 0, GUF_I64, ""},
    {"add", GUF_I8, 0, GUF_I64, ""},
    {"add", GUF_U8, 0, GUF_U64, ""},
    {"multiply", GUF_I16, 0, GUF_I64, ""},
    {"multiply", GUF_U32, 0, GUF_U64, ""},
    {"add", GUF_I64, 0, GUF_I64, ""},
    {"add", GUF_U64, 0, GUF_U64, ""},
    {"add", GUF_F16, 0, GUF_F16, ""},
    {"add", GUF_F32, 0, GUF_F32, ""},
    {"add", GUF_C64, 0, GUF_C64, ""},
    {"add", GUF_I8, GUF_I8, GUF_I8, ""},
    {"add", GUF_F64, GUF_I32, GUF_I32, ""},
    {"add", GUF_I64, GUF_F32, GUF_F32, ""},
    {"add", GUF_BOOL, GUF_BOOL, GUF_BOOL, ""},
    {"maximum", GUF_I8, 0, GUF_I8, ""},
    {"subtract", GUF_U8, 0, GUF_U8, ""},
    {"divide", GUF_I8, 0, GUF_F64, ""},
    {"bitwise_or", GUF_I16, 0, GUF_I16, ""},
    {"logical_and", GUF_F64, 0, GUF_BOOL, ""},
    {"logical_or", GUF_I32, 0, GUF_BOOL, ""},
    {"logical_and", GUF_I32, GUF_BOOL, GUF_BOOL, ""},
    {"equal", GUF_BOOL, 0, GUF_BOOL, ""},
    {"less", GUF_I64, GUF_BOOL, GUF_BOOL, ""},
    {"equal", GUF_I64, 0, 0, kNoLoop},
    {"equal", GUF_F64, GUF_F64, 0, kNoLoop},
    {"logical_and", GUF_I32, GUF_I32, 0, kNoLoop},
    {"divide", GUF_I64, GUF_I64, 0, kNoLoop},
    {"subtract", GUF_BOOL, 0, 0, "numpy boolean subtract, the `-` operator, is not supported"},
    {"subtract", GUF_I32, GUF_BOOL, 0, "numpy boolean subtract, the `-` operator"},
    {"bitwise_and", GUF_F64, 0, 0, "ufunc 'bitwise_and' not supported for the input types"},
};

TEST(ReduceTypes, AreNumPys) {
  const std::vector<uint64_t> bytes(8, 0);
  for (const Row &row : kRows) {
    Reduce reduce(row.ufunc, {row.input, bytes.data(), {2}, {}, 0});
    reduce.args.dtype = row.dtype;
    const guf_status status = reduce.run();
    if (row.result == 0) {
      EXPECT_EQ(status, GUF_E_NO_LOOP) << row.ufunc;
      EXPECT_EQ(std::string(reduce.error.message).rfind(row.text, 0), 0u) << reduce.error.message;
    } else {
      ASSERT_EQ(status, GUF_OK) << row.ufunc << ": " << reduce.error.message;
      EXPECT_EQ(info_of(reduce.output).dtype, row.result) << row.ufunc;
    }
  }
}

TEST(ReduceTypes, AnOutputTakesPartAndWidensNothing) {
  const std::vector<int8_t> data = {100, 100};
  int8_t narrow = 0;
  Reduce same("add", view(GUF_I8, data));
  same.into({GUF_I8, &narrow, {}, {}, 0});
  ASSERT_EQ(same.run(), GUF_OK);
  EXPECT_EQ(narrow, -56);
  float real = 0;
  Reduce wide("add", view(GUF_I8, data));
  wide.into({GUF_F32, &real, {}, {}, 0});
  ASSERT_EQ(wide.run(), GUF_OK);
  EXPECT_EQ(real, 200.0F);
}

// Like NumPy, reduce uses the dtype of a bool output as the dtype of the first operand, and the
// error message contains this dtype.
TEST(ReduceTypes, ComparisonsReportTheEffectOfABoolOutput) {
  const std::vector<int16_t> data = {1, 2};
  bool truth = false;
  Reduce reduce("equal", view(GUF_I16, data));
  reduce.into({GUF_BOOL, &truth, {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "ufunc 'equal' did not contain a loop with signature matching types (<class "
               "'numpy.dtypes.BoolDType'>, <class 'numpy.dtypes.Int16DType'>) -> None");
  int16_t number = 0;
  reduce.into({GUF_I16, &number, {}, {}, 0});
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_TRUE(
      std::string(reduce.error.message).starts_with(kNoLoop + std::string("equal; loops: ")))
      << reduce.error.message;
}

TEST(ReduceTypes, DifferencesOfDatesAreNoDates) {
  const std::vector<int64_t> data = {1, 2};
  guf_dtype dates = 0;
  ASSERT_EQ(guf_dtype_parse("M8[25s]", &dates, nullptr), GUF_OK);
  Reduce reduce("subtract", view(dates, data));
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "the resolved dtypes are not compatible with subtract.reduce. Resolved "
               "(dtype('<M8[25s]'), dtype('<M8[25s]'), dtype('<m8[25s]'))");
}

TEST(ReduceTypes, InitialValuesGoThroughPythonsInt) {
  struct Initial {
    double value;
    guf_status status;
    const char *text;
  };
  const std::vector<int16_t> data = {0};
  for (const Initial &row :
       {Initial{300.7, GUF_OK, ""}, Initial{-1.5, GUF_OK, ""},
        Initial{70000, GUF_E_OVERFLOW, "Python integer 70000 out of bounds for int16"},
        Initial{1e30, GUF_E_OVERFLOW, "Python int too large to convert to C long"},
        Initial{HUGE_VAL, GUF_E_OVERFLOW, "cannot convert float infinity to integer"},
        Initial{NAN, GUF_E_VALUE, "cannot convert float NaN to integer"}}) {
    Reduce reduce("maximum", view(GUF_I16, data));
    reduce.args.initial = reduce.weak_float(row.value);
    EXPECT_EQ(reduce.run(), row.status) << row.value;
    EXPECT_STREQ(reduce.error.message, row.text);
  }
  const std::vector<uint32_t> unsigned_data = {0};
  Reduce reduce("maximum", view(GUF_U32, unsigned_data));
  reduce.args.initial = reduce.weak_float(1e19);
  EXPECT_EQ(reduce.run(), GUF_E_OVERFLOW);
  EXPECT_STREQ(reduce.error.message,
               "Python integer 10000000000000000000 out of bounds for uint32");
}

guf_dtype dtype_of(const char *name) {
  guf_dtype dtype = 0;
  EXPECT_EQ(guf_dtype_parse(name, &dtype, nullptr), GUF_OK) << name;
  return dtype;
}

// If same_kind does not allow the cast of a scalar initial value to the unit of the reduction, the
// call fails. An initial value that is an array of one element is cast without this check.
TEST(ReduceTypes, InitialDatetimesLoseNothing) {
  struct Initial {
    const char *type, *scalar;
    int64_t sum;  // -1 means that the call fails
    const char *text;
  };
  const std::vector<int64_t> data = {1, 2};
  for (const Initial &row :
       {Initial{"m8[s]", "m8[ms]", 6, ""}, Initial{"m8[s]", "m8", 3003, ""},
        Initial{"m8[3M]", "m8[s]", -1,
                "Cannot cast NumPy timedelta64 scalar from metadata [s] to [3M] according to the "
                "rule 'same_kind'"},
        Initial{"m8", "m8[7D]", -1,
                "Cannot cast NumPy timedelta64 scalar from metadata [7D] to  according to the rule "
                "'same_kind'"}}) {
    Reduce reduce("add", view(dtype_of(row.type), data));
    guf_operand scalar = {};
    scalar.kind = GUF_OPERAND_SCALAR;
    scalar.dtype = dtype_of(row.scalar);
    scalar.value[0] = 3000;
    reduce.args.initial = reduce.keep(scalar);
    EXPECT_EQ(reduce.run(), row.sum < 0 ? GUF_E_CASTING : GUF_OK) << row.scalar;
    EXPECT_STREQ(reduce.error.message, row.text);
    if (row.sum < 0) continue;
    EXPECT_EQ(elements_of<int64_t>(reduce.output)[0], row.sum) << row.scalar;
  }
}

// The error for a subtraction of bools does not apply to datetime types, even with dtype=bool.
TEST(ReduceTypes, SubtractsDatetimesWhereBoolIsNamed) {
  const std::vector<int64_t> data = {1, 5, 15};
  Reduce reduce("subtract", view(dtype_of("m8[s]"), data));
  reduce.args.dtype = GUF_BOOL;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<int64_t>(reduce.output)[0], -19);
}

}  // namespace
}  // namespace gufunc
