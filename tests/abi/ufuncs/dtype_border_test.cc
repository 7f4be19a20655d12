// SPDX-License-Identifier: Apache-2.0
// gufunc/dtype.h and gufunc/status.h as a caller meets them.
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <cstring>
#include <string>

namespace {

TEST(DtypeBorder, DescribesDtypes) {
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
  // Every short name is a spelling of its dtype.
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

TEST(DtypeBorder, RefusesWhatTheHeaderSays) {
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

TEST(DtypeBorder, DefaultCastingIsSameKind) {
  int32_t possible = -1;
  ASSERT_EQ(guf_dtype_can_cast(GUF_F64, GUF_F32, GUF_CASTING_DEFAULT, &possible, nullptr), GUF_OK);
  EXPECT_EQ(possible, 1);
  ASSERT_EQ(guf_dtype_can_cast(GUF_F64, GUF_I32, GUF_CASTING_DEFAULT, &possible, nullptr), GUF_OK);
  EXPECT_EQ(possible, 0);
}

TEST(StatusBorder, NamesEveryCode) {
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
