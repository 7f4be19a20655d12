// SPDX-License-Identifier: Apache-2.0
// Tests which structured dtypes can be registered, and that a registered name cannot be registered
// again with a different size or alignment.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "core/dtype/dtype.h"
#include "tests/support/fresh_error.h"

namespace gufunc::dtype {
namespace {

guf_status add(const char *name, uint32_t itemsize, uint32_t alignment, guf_dtype *out,
               std::string *message = nullptr) {
  guf_error error = fresh_error();
  const guf_status status = register_structured(name, itemsize, alignment, out, &error);
  if (message != nullptr) *message = error.message;
  return status;
}

TEST(Record, IsATypeOfItsOwn) {
  guf_dtype point = 0;
  ASSERT_EQ(add("geometry.point", 12, 4, &point), GUF_OK);
  EXPECT_TRUE(valid(point) && is_structured(point));
  EXPECT_EQ(itemsize(point), 12U);
  EXPECT_EQ(alignment(point), 4U);
  EXPECT_EQ(letter(point), 'V');
  EXPECT_STREQ(name(point), "geometry.point");
  guf_dtype found = 0;
  ASSERT_EQ(parse("geometry.point", &found, nullptr), GUF_OK);
  EXPECT_EQ(found, point);
  EXPECT_FALSE(valid(point + (1U << 20))) << "no such number";
  EXPECT_FALSE(valid(point + (1U << 8))) << "another size";
}

TEST(Record, SameNameAndLayoutIsTheSameType) {
  guf_dtype first = 0;
  guf_dtype second = 0;
  ASSERT_EQ(add("quaternion", 32, 8, &first), GUF_OK);
  ASSERT_EQ(add("quaternion", 32, 8, &second), GUF_OK);
  EXPECT_EQ(first, second);
  std::string message;
  EXPECT_EQ(add("quaternion", 16, 4, &second, &message), GUF_E_EXISTS);
  EXPECT_NE(message.find("itemsize 32, alignment 8"), std::string::npos) << message;
  ASSERT_EQ(add("octonion", 32, 8, &second), GUF_OK);
  EXPECT_NE(first, second);
}

TEST(Record, RefusesOtherLayoutsAndNames) {
  guf_dtype found = 0;
  for (const char *name : {"", "1x", "a b", "a[3]", "float32", "f4", "M8", "datetime64",
                           "a_name_of_more_than_31_characters"}) {
    EXPECT_EQ(add(name, 8, 8, &found), GUF_E_ARG) << name;
  }
  EXPECT_EQ(add("r", 0, 1, &found), GUF_E_ARG);
  EXPECT_EQ(add("r", 4096, 1, &found), GUF_E_ARG);
  EXPECT_EQ(add("r", 12, 8, &found), GUF_E_ARG);
  EXPECT_EQ(add("r", 12, 3, &found), GUF_E_ARG);
  EXPECT_EQ(add("r", 12, 0, &found), GUF_E_ARG);
  EXPECT_EQ(add("r", 128, 128, &found), GUF_E_ARG);
  EXPECT_NE(parse("r", &found, nullptr), GUF_OK);
}

TEST(Record, HasNoCasts) {
  guf_dtype a = 0;
  guf_dtype b = 0;
  ASSERT_EQ(add("pair_a", 16, 8, &a), GUF_OK);
  ASSERT_EQ(add("pair_b", 16, 8, &b), GUF_OK);
  for (int level = GUF_CASTING_NO; level <= GUF_CASTING_UNSAFE; ++level) {
    EXPECT_TRUE(can_cast(a, a, level));
    for (const guf_dtype other : {b, guf_dtype{GUF_C128}, guf_dtype{GUF_TIMEDELTA64}}) {
      EXPECT_FALSE(can_cast(a, other, level));
      EXPECT_FALSE(can_cast(other, a, level));
    }
  }
  guf_dtype both = 0;
  guf_error error = fresh_error();
  EXPECT_EQ(common_type(a, a, &both, nullptr), GUF_OK);
  EXPECT_EQ(common_type(a, b, &both, &error), GUF_E_DTYPE);
  EXPECT_NE(std::string(error.message).find("pair_a"), std::string::npos);
  EXPECT_NE(std::string(error.message).find("pair_b"), std::string::npos);
}

TEST(Record, ThreadsAgree) {
  std::vector<std::thread> threads;
  std::atomic<uint32_t> differing{0};
  std::vector<std::atomic<guf_dtype>> known(64);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (size_t i = 0; i < known.size(); ++i) {
        const std::string text = "shared_" + std::to_string(i);
        guf_dtype found = 0;
        if (add(text.c_str(), 24, 8, &found) != GUF_OK || text != name(found)) ++differing;
        guf_dtype none = 0;
        if (!known[i].compare_exchange_strong(none, found) && none != found) ++differing;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(differing.load(), 0U);
}

}  // namespace
}  // namespace gufunc::dtype
