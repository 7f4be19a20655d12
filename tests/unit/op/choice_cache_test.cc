// SPDX-License-Identifier: Apache-2.0
// Tests the cache of loop choices: entries are found, the size is limited, and threads read only
// complete entries.
#include "core/op/ufunc.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gufunc::op {
namespace {

TEST(ChoiceCache, FindsAddedChoices) {
  ChoiceCache cache;
  uint64_t value = 0;
  EXPECT_FALSE(cache.find(5, &value));
  cache.add(5, 50);
  cache.add(6, 60);
  cache.add(5, 51);  // has no effect, because the cache keeps the first value of a key
  ASSERT_TRUE(cache.find(5, &value));
  EXPECT_EQ(value, 50U);
  ASSERT_TRUE(cache.find(6, &value));
  EXPECT_EQ(value, 60U);
  EXPECT_FALSE(cache.find(7, &value));
}

TEST(ChoiceCache, StopsWhenFull) {
  ChoiceCache cache;
  for (uint64_t key = 1; key <= 1000; ++key) cache.add(key, 2 * key);
  uint64_t nfound = 0;
  for (uint64_t key = 1; key <= 1000; ++key) {
    uint64_t value = 0;
    if (!cache.find(key, &value)) continue;
    ++nfound;
    EXPECT_EQ(value, 2 * key);
  }
  EXPECT_EQ(nfound, ChoiceCache::kMaxEntries);
}

TEST(ChoiceCache, ThreadsSeeWholeEntries) {
  ChoiceCache cache;
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < 4; ++id) {
    threads.emplace_back([&cache, id] {
      for (uint64_t i = 0; i < 20000; ++i) {
        const uint64_t key = 1 + (i * 7 + id) % 150;
        uint64_t value = 0;
        if (cache.find(key, &value)) {
          ASSERT_EQ(value, key * 0x10001U);
        } else {
          cache.add(key, key * 0x10001U);
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
}

}  // namespace
}  // namespace gufunc::op
