// SPDX-License-Identifier: Apache-2.0
// Tests the dtype tables: the laws of promotion and casting, NumPy's results, and the names of
// dtypes.
#include "core/dtype/dtype.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fresh_error.h"

namespace gufunc::dtype {
namespace {

constexpr int kRules[] = {GUF_CASTING_NO, GUF_CASTING_EQUIV, GUF_CASTING_SAFE,
                          GUF_CASTING_SAME_KIND, GUF_CASTING_UNSAFE};

TEST(Dtype, NumbersAreDense) {
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(index_of(at(i)), i);
    EXPECT_EQ(from_letter(letter(at(i))), at(i));
    EXPECT_TRUE(valid(at(i)));
  }
}

TEST(Dtype, NothingElseIsValid) {
  int nvalid = 0;
  for (uint32_t code = 0; code < 256; ++code) {
    for (uint32_t bits = 0; bits < 256; ++bits) {
      for (const uint32_t lanes : {0U, 1U, 2U, 0xFFFFU}) {
        const guf_dtype dtype = code | bits << 8 | lanes << 16;
        if (!valid(dtype)) {
          EXPECT_EQ(name(dtype), nullptr);
          EXPECT_EQ(letter(dtype), '\0');
          continue;
        }
        if (is_time(dtype)) continue;  // covered by time_dtype_test.cc
        ++nvalid;
        EXPECT_EQ(at(index_of(dtype)), dtype);
      }
    }
  }
  EXPECT_EQ(nvalid, kCount);
}

TEST(Dtype, SizesAndAlignments) {
  EXPECT_EQ(itemsize(GUF_BF16), 2U);
  EXPECT_EQ(itemsize(GUF_C128), 16U);
  EXPECT_EQ(alignment(GUF_C128), 8U);
  EXPECT_EQ(alignment(GUF_C64), 4U);
  EXPECT_EQ(alignment(GUF_U64), 8U);
}

TEST(Dtype, PromotionIsALattice) {
  for (int i = 0; i < kCount; ++i) {
    for (int k = 0; k < kCount; ++k) {
      const guf_dtype both = promote(at(i), at(k));
      EXPECT_EQ(both, promote(at(k), at(i)));
      EXPECT_TRUE(can_cast(at(i), both, GUF_CASTING_SAFE)) << name(at(i)) << " " << name(at(k));
      EXPECT_EQ(both == at(k), can_cast(at(i), at(k), GUF_CASTING_SAFE))
          << name(at(i)) << " " << name(at(k));
    }
  }
}

TEST(Dtype, CastingLevelsWiden) {
  for (int i = 0; i < kCount; ++i) {
    for (int k = 0; k < kCount; ++k) {
      bool before = false;
      for (const int rule : kRules) {
        const bool now = can_cast(at(i), at(k), rule);
        EXPECT_TRUE(now || !before);
        before = now;
      }
      EXPECT_TRUE(before);
      EXPECT_EQ(can_cast(at(i), at(k), GUF_CASTING_NO), i == k);
      // Safe casts are transitive.
      for (int j = 0; j < kCount; ++j) {
        if (can_cast(at(i), at(k), GUF_CASTING_SAFE) && can_cast(at(k), at(j), GUF_CASTING_SAFE)) {
          EXPECT_TRUE(can_cast(at(i), at(j), GUF_CASTING_SAFE));
        }
      }
    }
  }
}

TEST(Dtype, AnswersAsNumPy) {
  EXPECT_EQ(promote(GUF_I64, GUF_U64), guf_dtype{GUF_F64});
  EXPECT_EQ(promote(GUF_F16, GUF_I16), guf_dtype{GUF_F32});
  EXPECT_EQ(promote(GUF_F32, GUF_I32), guf_dtype{GUF_F64});
  EXPECT_EQ(promote(GUF_C64, GUF_F64), guf_dtype{GUF_C128});
  EXPECT_EQ(promote(GUF_U8, GUF_I8), guf_dtype{GUF_I16});
  EXPECT_FALSE(can_cast(GUF_I8, GUF_U8, GUF_CASTING_SAME_KIND));
  EXPECT_TRUE(can_cast(GUF_U64, GUF_I8, GUF_CASTING_SAME_KIND));
  EXPECT_FALSE(can_cast(GUF_C64, GUF_F64, GUF_CASTING_SAME_KIND));
  EXPECT_TRUE(can_cast(GUF_I64, GUF_F16, GUF_CASTING_SAME_KIND));
}

TEST(Dtype, BFloat16HasTheRankOfFloat16) {
  EXPECT_EQ(promote(GUF_F16, GUF_BF16), guf_dtype{GUF_F32});
  EXPECT_EQ(promote(GUF_U8, GUF_BF16), guf_dtype{GUF_BF16});
  EXPECT_EQ(promote(GUF_I16, GUF_BF16), guf_dtype{GUF_F32});
  EXPECT_TRUE(can_cast(GUF_BF16, GUF_F32, GUF_CASTING_SAFE));
  EXPECT_FALSE(can_cast(GUF_BF16, GUF_F16, GUF_CASTING_SAFE));
  EXPECT_TRUE(can_cast(GUF_BF16, GUF_F16, GUF_CASTING_SAME_KIND));
  EXPECT_TRUE(can_cast(GUF_F16, GUF_BF16, GUF_CASTING_SAME_KIND));
  // bfloat16 is promoted and cast like float16, except between bfloat16 and float16.
  for (int i = 0; i < kCount; ++i) {
    if (at(i) == GUF_F16 || at(i) == GUF_BF16) continue;
    for (const int rule : kRules) {
      EXPECT_EQ(can_cast(at(i), GUF_BF16, rule), can_cast(at(i), GUF_F16, rule));
      EXPECT_EQ(can_cast(GUF_BF16, at(i), rule), can_cast(GUF_F16, at(i), rule));
    }
  }
}

TEST(Dtype, ReadsSpellings) {
  const struct {
    const char *text;
    guf_dtype dtype;
  } spellings[] = {
      {"float32", GUF_F32}, {"f4", GUF_F32},          {"<f4", GUF_F32},   {"f", GUF_F32},
      {"=f8", GUF_F64},     {"|u1", GUF_U8},          {"l", GUF_I64},     {"q", GUF_I64},
      {"L", GUF_U64},       {"bool", GUF_BOOL},       {"?", GUF_BOOL},    {"b1", GUF_BOOL},
      {"b", GUF_I8},        {"bfloat16", GUF_BF16},   {"bf16", GUF_BF16}, {"E", GUF_BF16},
      {"c8", GUF_C64},      {"complex128", GUF_C128}, {"D", GUF_C128},    {"double", GUF_F64},
      {"half", GUF_F16},    {"int", GUF_I64},         {"uintp", GUF_U64}, {"p", GUF_I64},
      {"<P", GUF_U64}};
  for (const auto &spelling : spellings) {
    guf_dtype found = 0;
    EXPECT_EQ(parse(spelling.text, &found, nullptr), GUF_OK) << spelling.text;
    EXPECT_EQ(found, spelling.dtype) << spelling.text;
  }
  for (int i = 0; i < kCount; ++i) {
    guf_dtype found = 0;
    EXPECT_EQ(parse(name(at(i)), &found, nullptr), GUF_OK);
    EXPECT_EQ(found, at(i));
    EXPECT_EQ(parse(short_name(at(i)), &found, nullptr), GUF_OK);
    EXPECT_EQ(found, at(i));
  }
}

TEST(Dtype, IsSpeltInMessagesAsInNumPy) {
  const struct {
    guf_dtype dtype;
    const char *native, *swapped;
  } spellings[] = {{GUF_BOOL, "bool", "bool"},       {GUF_I8, "int8", "int8"},
                   {GUF_I32, "int32", ">i4"},        {GUF_U64, "uint64", ">u8"},
                   {GUF_F16, "float16", ">f2"},      {GUF_BF16, "bfloat16", ">bf16"},
                   {GUF_C128, "complex128", ">c16"}, {GUF_DATETIME64, "<M8", ">M8"},
                   {GUF_TIMEDELTA64, "<m8", ">m8"}};
  for (const auto &spelling : spellings) {
    base::Text native, swapped;
    spell(spelling.dtype, false, &native);
    spell(spelling.dtype, true, &swapped);
    EXPECT_STREQ(native.c_str(), spelling.native);
    EXPECT_STREQ(swapped.c_str(), spelling.swapped);
  }
  guf_dtype days = 0;
  ASSERT_EQ(parse("m8[25D]", &days, nullptr), GUF_OK);
  base::Text text;
  spell(days, false, &text);
  EXPECT_STREQ(text.c_str(), "<m8[25D]");
}

TEST(Dtype, RefusesOtherSpellings) {
  guf_error error = fresh_error();
  for (const char *text : {"", "f16", "<", "<float32", "g", "O", "M4", "f4 ", " f4", "F4",
                           "float33", "<<f4", "S1", "complex256"}) {
    guf_dtype found = 77;
    EXPECT_EQ(parse(text, &found, &error), GUF_E_DTYPE) << text;
    EXPECT_EQ(found, 77U);
  }
  guf_dtype found = 0;
  EXPECT_EQ(parse("float33", &found, &error), GUF_E_DTYPE);
  EXPECT_STREQ(error.message,
               "data type 'float33' not understood; the data types are bool (?, b1), int8 (b, i1), "
               "uint8 (B, u1), int16 (h, i2), uint16 (H, u2), int32 (i, i4), uint32 (I, u4), "
               "int64 (q, l, i8), uint64 (Q, L, u8), float16 (e, f2), bfloat16 (E, bf16), "
               "float32 (f, f4), float64 (d, f8), complex64 (F, c8), complex128 (D, c16), "
               "datetime64[unit] (M8[unit]), timedelta64[unit] (m8[unit])");
  EXPECT_EQ(parse(">f4", &found, &error), GUF_E_DTYPE);
  EXPECT_NE(std::string(error.message).find("big-endian"), std::string::npos);
  EXPECT_EQ(parse(std::string(100000, 'f').c_str(), &found, &error), GUF_E_DTYPE);
}

}  // namespace
}  // namespace gufunc::dtype
