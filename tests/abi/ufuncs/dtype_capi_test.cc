// SPDX-License-Identifier: Apache-2.0
// Tests gufunc/dtype.h and gufunc/status.h.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <cstring>
#include <string>

#include "tests/support/fresh_error.h"

namespace {

TEST(DtypeCapi, DescribesDtypes) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_dtype_get_info(GUF_F32, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.name, "float32");
  EXPECT_STREQ(info.short_name, "f4");
  EXPECT_EQ(info.itemsize, 4U);
  EXPECT_EQ(info.kind, GUF_KIND_FLOAT);
  EXPECT_EQ(info.letter, 'f');
  ASSERT_EQ(guf_dtype_get_info(GUF_C128, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.short_name, "c16");
  EXPECT_EQ(info.alignment, 8U);
  ASSERT_EQ(guf_dtype_get_info(GUF_BF16, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.short_name, "bf16");
  EXPECT_EQ(info.kind, GUF_KIND_BFLOAT);
  ASSERT_EQ(guf_dtype_get_info(GUF_BOOL, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.short_name, "b1");
  // Every letter is a valid spelling of its dtype.
  for (const char letter : std::string("?bBhHiIqQeEfdFD")) {
    guf_dtype dtype = 0;
    guf_dtype again = 0;
    ASSERT_EQ(guf_dtype_parse(std::string(1, letter).c_str(), &dtype, nullptr), GUF_OK);
    ASSERT_EQ(guf_dtype_get_info(dtype, &info, nullptr), GUF_OK);
    EXPECT_EQ(info.dtype, dtype);
    EXPECT_EQ(info.letter, letter);
    ASSERT_EQ(guf_dtype_parse(info.short_name, &again, nullptr), GUF_OK);
    EXPECT_EQ(again, dtype);
    EXPECT_STREQ(guf_dtype_name(dtype), info.name);
  }
}

TEST(DtypeCapi, ReportsTheDocumentedErrors) {
  guf_dtype_info info = {};
  guf_dtype dtype = 0;
  int32_t possible = 0;
  EXPECT_EQ(guf_dtype_parse(nullptr, &dtype, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_parse("f4", nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_parse("f5", &dtype, nullptr), GUF_E_DTYPE);
  EXPECT_EQ(guf_dtype_get_info(GUF_F32, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_get_info(GUF_F32, &info, nullptr), GUF_E_STRUCT);
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_dtype_get_info(1, &info, nullptr), GUF_E_DTYPE);
  EXPECT_EQ(guf_dtype_can_cast(GUF_F32, GUF_F64, 0, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_can_cast(GUF_F32, GUF_F64, 6, &possible, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_can_cast(GUF_F32, GUF_F64, -1, &possible, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_can_cast(0, GUF_F64, 0, &possible, nullptr), GUF_E_DTYPE);
  EXPECT_EQ(guf_dtype_promote(GUF_F32, 5, &dtype, nullptr), GUF_E_DTYPE);
  EXPECT_EQ(guf_dtype_promote(GUF_F32, GUF_F32, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_name(0), nullptr);
}

TEST(DtypeCapi, CreatesAndDecodesDatetimeTypes) {
  guf_dtype dtype = 0;
  guf_dtype parsed = 0;
  int32_t unit = -1;
  uint32_t multiple = 0;
  ASSERT_EQ(guf_dtype_make_time(GUF_DATETIME64, GUF_UNIT_SECOND, 25, &dtype, nullptr), GUF_OK);
  EXPECT_STREQ(guf_dtype_name(dtype), "datetime64[25s]");
  ASSERT_EQ(guf_dtype_parse("<M8[25s]", &parsed, nullptr), GUF_OK);
  EXPECT_EQ(parsed, dtype);
  ASSERT_EQ(guf_dtype_get_unit(dtype, &unit, &multiple, nullptr), GUF_OK);
  EXPECT_EQ(unit, GUF_UNIT_SECOND);
  EXPECT_EQ(multiple, 25U);
  // guf_dtype_make_time ignores the unit of the given dtype.
  ASSERT_EQ(guf_dtype_make_time(dtype, GUF_UNIT_DAY, 1, &dtype, nullptr), GUF_OK);
  EXPECT_STREQ(guf_dtype_name(dtype), "datetime64[D]");
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_dtype_get_info(GUF_TIMEDELTA64, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.name, "timedelta64");
  EXPECT_STREQ(info.short_name, "m8");
  EXPECT_EQ(info.kind, GUF_KIND_TIMEDELTA);
  EXPECT_EQ(info.letter, 'm');
  EXPECT_EQ(info.itemsize, 8U);
  EXPECT_EQ(info.alignment, 8U);
}

TEST(DtypeCapi, RefusesOtherDatetimes) {
  guf_dtype dtype = 0;
  int32_t unit = 0;
  uint32_t multiple = 0;
  const auto make = [&](guf_dtype time, int32_t of, uint32_t times) {
    return guf_dtype_make_time(time, of, times, &dtype, nullptr);
  };
  EXPECT_EQ(make(GUF_I64, GUF_UNIT_DAY, 1), GUF_E_DTYPE);
  EXPECT_EQ(make(GUF_TIMEDELTA64, -1, 1), GUF_E_ARG);
  EXPECT_EQ(make(GUF_TIMEDELTA64, 14, 1), GUF_E_ARG);
  EXPECT_EQ(make(GUF_TIMEDELTA64, GUF_UNIT_DAY, 0), GUF_E_ARG);
  EXPECT_EQ(make(GUF_TIMEDELTA64, GUF_UNIT_DAY, GUF_MAX_UNIT_MULTIPLE + 1), GUF_E_ARG);
  EXPECT_EQ(make(GUF_TIMEDELTA64, GUF_UNIT_GENERIC, 2), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_make_time(GUF_TIMEDELTA64, 4, 1, nullptr, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_get_unit(GUF_F64, &unit, &multiple, nullptr), GUF_E_DTYPE);
  EXPECT_EQ(guf_dtype_get_unit(GUF_DATETIME64, nullptr, &multiple, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_get_unit(GUF_DATETIME64, &unit, nullptr, nullptr), GUF_E_ARG);
}

TEST(DtypeCapi, PromotesDatetimesOrNamesBoth) {
  guf_dtype months = 0;
  guf_dtype days = 0;
  guf_dtype dtype = 0;
  guf_error error = fresh_error();
  ASSERT_EQ(guf_dtype_parse("m8[M]", &months, nullptr), GUF_OK);
  ASSERT_EQ(guf_dtype_parse("m8[D]", &days, nullptr), GUF_OK);
  EXPECT_EQ(guf_dtype_promote(months, days, &dtype, &error), GUF_E_DTYPE);
  EXPECT_STREQ(error.message,
               "Cannot get a common metadata divisor for Numpy datetime metadata [M] and [D] "
               "because they have incompatible nonlinear base time units.");
  EXPECT_EQ(guf_dtype_promote(days, GUF_F64, &dtype, &error), GUF_E_DTYPE);
  ASSERT_EQ(guf_dtype_promote(days, GUF_I32, &dtype, nullptr), GUF_OK);
  EXPECT_EQ(dtype, days);
}

TEST(DtypeCapi, RegistersStructuredDtypes) {
  guf_dtype dtype = 0;
  guf_dtype again = 0;
  ASSERT_EQ(guf_dtype_register("capi_struct", 12, 4, &dtype, nullptr), GUF_OK);
  ASSERT_EQ(guf_dtype_register("capi_struct", 12, 4, &again, nullptr), GUF_OK);
  EXPECT_EQ(again, dtype);
  EXPECT_EQ(guf_dtype_register("capi_struct", 16, 4, &again, nullptr), GUF_E_EXISTS);
  EXPECT_EQ(guf_dtype_register("float64", 8, 8, &again, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_register(nullptr, 8, 8, &again, nullptr), GUF_E_ARG);
  EXPECT_EQ(guf_dtype_register("other", 8, 8, nullptr, nullptr), GUF_E_ARG);
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_dtype_get_info(dtype, &info, nullptr), GUF_OK);
  EXPECT_STREQ(info.name, "capi_struct");
  EXPECT_STREQ(info.short_name, "V12");
  EXPECT_EQ(info.kind, GUF_KIND_STRUCTURED);
  EXPECT_EQ(info.alignment, 4U);
}

TEST(DtypeCapi, AnInvalidSpellingWritesNothing) {
  for (const char *text : {"f5", "M8[0s]", "M8[foo]", "M8[s", "M8[]", "M8[D/24]", "m8[65536s]"}) {
    guf_dtype dtype = 77;
    EXPECT_EQ(guf_dtype_parse(text, &dtype, nullptr), GUF_E_DTYPE) << text;
    EXPECT_EQ(dtype, 77U) << text;
  }
}

TEST(DtypeCapi, DefaultCastingIsSameKind) {
  int32_t possible = -1;
  ASSERT_EQ(guf_dtype_can_cast(GUF_F64, GUF_F32, GUF_CASTING_DEFAULT, &possible, nullptr), GUF_OK);
  EXPECT_EQ(possible, 1);
  ASSERT_EQ(guf_dtype_can_cast(GUF_F64, GUF_I32, GUF_CASTING_DEFAULT, &possible, nullptr), GUF_OK);
  EXPECT_EQ(possible, 0);
}

TEST(StatusCapi, NamesEveryCode) {
  EXPECT_STREQ(guf_status_name(GUF_OK), "GUF_OK");
  EXPECT_STREQ(guf_status_name(GUF_E_DEVICE_LOST), "GUF_E_DEVICE_LOST");
  EXPECT_STREQ(guf_status_name(12345), "GUF_E_UNKNOWN");
  EXPECT_STREQ(guf_status_name(-1), "GUF_E_UNKNOWN");
  int nnamed = 0;
  for (guf_status status = -10; status < 20000; ++status) {
    EXPECT_NE(guf_status_text(status), nullptr);
    nnamed += std::strcmp(guf_status_name(status), "GUF_E_UNKNOWN") != 0;
  }
  EXPECT_EQ(nnamed, 43);
}

}  // namespace
