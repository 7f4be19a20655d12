// SPDX-License-Identifier: Apache-2.0
// Tests structs from callers of other versions of the library. A smaller struct is extended with
// zeros, and a larger struct must be zero beyond the known fields.
#include "core/base/struct_size.h"

#include <gtest/gtest.h>

namespace gufunc::base {
namespace {

// The second version of a struct, which added the field `later`.
struct Grown {
  uint32_t struct_size;
  uint32_t first;
  uint64_t later;
};
// The struct that a caller of a later version passes.
struct Later {
  Grown known;
  uint64_t more[2];
};

}  // namespace

template <>
inline constexpr uint32_t kFirstSize<Grown> = 8;

namespace {

TEST(StructSize, EqualIsUsedInPlace) {
  const Grown in = {sizeof(Grown), 1, 2};
  Grown buffer;
  const Grown *out = nullptr;
  ASSERT_EQ(read_struct(&in, "args", &buffer, &out, nullptr), GUF_OK);
  EXPECT_EQ(out, &in);
}

TEST(StructSize, SmallerIsExtendedWithZeros) {
  const Grown in = {8, 1, 2};
  Grown buffer = {9, 9, 9};
  const Grown *out = nullptr;
  ASSERT_EQ(read_struct(&in, "args", &buffer, &out, nullptr), GUF_OK);
  EXPECT_EQ(out, &buffer);
  EXPECT_EQ(out->first, 1U);
  EXPECT_EQ(out->later, 0U);
}

TEST(StructSize, LargerMustBeZeroBeyond) {
  Later in = {{sizeof(Later), 1, 2}, {0, 0}};
  Grown buffer;
  const Grown *out = nullptr;
  EXPECT_EQ(read_struct(&in.known, "args", &buffer, &out, nullptr), GUF_OK);
  EXPECT_EQ(out, &in.known);
  guf_error error = {};
  error.struct_size = sizeof error;
  in.more[1] = 1;
  EXPECT_EQ(read_struct(&in.known, "args", &buffer, &out, &error), GUF_E_STRUCT);
  EXPECT_STREQ(error.message,
               "byte 24 of args, a struct of 32 bytes, is set; this version of the library knows "
               "16");
}

TEST(StructSize, OtherSizesAreRefused) {
  Grown buffer;
  const Grown *out = nullptr;
  for (const uint32_t size : {0U, 1U, 4U, 7U, 65537U, 0x80000000U, 0xFFFFFFFFU}) {
    Grown in = {size, 1, 2};
    EXPECT_EQ(read_struct(&in, "args", &buffer, &out, nullptr), GUF_E_STRUCT) << size;
    EXPECT_EQ(write_struct(&in, "args", Grown{}, nullptr), GUF_E_STRUCT) << size;
    EXPECT_EQ(in.first, 1U);
  }
  EXPECT_EQ(read_struct<Grown>(nullptr, "args", &buffer, &out, nullptr), GUF_E_ARG);
  EXPECT_EQ(write_struct<Grown>(nullptr, "args", Grown{}, nullptr), GUF_E_ARG);
}

TEST(StructSize, ResultsFitTheCallersStruct) {
  const Grown value = {0, 5, 6};
  Grown old = {8, 1, 2};
  ASSERT_EQ(write_struct(&old, "args", value, nullptr), GUF_OK);
  EXPECT_EQ(old.struct_size, 8U);
  EXPECT_EQ(old.first, 5U);
  EXPECT_EQ(old.later, 2U);  // unchanged: outside the caller's smaller struct
  Later newer = {{sizeof(Later), 1, 2}, {3, 4}};
  ASSERT_EQ(write_struct(&newer.known, "args", value, nullptr), GUF_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(Later));
  EXPECT_EQ(newer.known.later, 6U);
  EXPECT_EQ(newer.more[0] | newer.more[1], 0U);
}

}  // namespace
}  // namespace gufunc::base
