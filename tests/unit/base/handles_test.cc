// SPDX-License-Identifier: Apache-2.0
// Tests the handle table: reference counts, stale handles, kinds, and concurrent use.
#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "core/base/object.h"

namespace gufunc::base {
namespace {

std::atomic<int> alive{0};

class Sample final : public Object {
 public:
  static constexpr Kind kKind = Kind::kArray;
  explicit Sample(Ref<Object> child = {}) : Object(kKind), child_(std::move(child)) { ++alive; }
  ~Sample() override { --alive; }

 private:
  Ref<Object> child_;
};

uint64_t publish_new() {
  return publish(Ref<Sample>::adopt(new Sample).get());
}

TEST(Handles, LiveUntilTheLastRelease) {
  const uint64_t handle = publish_new();
  EXPECT_NE(find(handle, Kind::kArray), nullptr);
  EXPECT_TRUE(retain(handle, Kind::kArray));
  EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_NE(find(handle, Kind::kArray), nullptr);
  EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_EQ(find(handle, Kind::kArray), nullptr);
  EXPECT_FALSE(release(handle, Kind::kArray));
  EXPECT_FALSE(retain(handle, Kind::kArray));
  collect();
  EXPECT_EQ(alive, 0);
}

TEST(Handles, OtherKindsAreRefused) {
  const uint64_t handle = publish_new();
  for (const Kind kind : {Kind::kContext, Kind::kStream, Kind::kPlan}) {
    EXPECT_EQ(find(handle, kind), nullptr);
    EXPECT_FALSE(release(handle, kind));
  }
  EXPECT_TRUE(release(handle, Kind::kArray));
  collect();
}

TEST(Handles, AReusedSlotHasAnotherHandle) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t handle = publish_new();
    EXPECT_TRUE(seen.insert(handle).second);
    EXPECT_TRUE(release(handle, Kind::kArray));
    collect();
    EXPECT_EQ(find(handle, Kind::kArray), nullptr);
  }
}

TEST(Handles, OnePublicationMorePerReference) {
  const auto object = Ref<Sample>::adopt(new Sample);
  const uint64_t handle = publish(object.get());
  EXPECT_EQ(publish(object.get()), handle);
  EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_FALSE(release(handle, Kind::kArray));
  const uint64_t later = publish(object.get());
  EXPECT_NE(later, handle);  // the first handle has no references left
  EXPECT_EQ(find(handle, Kind::kArray), nullptr);
  EXPECT_TRUE(release(later, Kind::kArray));
}

TEST(Handles, ReleaseFreesNothingItself) {
  collect();
  const uint64_t handle = publish_new();
  EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_EQ(alive, 1);
  collect();
  EXPECT_EQ(alive, 0);
}

TEST(Handles, OneCollectionFreesWholeChains) {
  Ref<Object> chain;
  for (int i = 0; i < 100; ++i) chain = Ref<Object>::adopt(new Sample(std::move(chain)));
  chain = {};
  collect();
  EXPECT_EQ(alive, 0);
}

TEST(Handles, ImmortalsIgnoreRelease) {
  static Sample *const device = new Sample;
  const uint64_t handle = publish(device, true);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(release(handle, Kind::kArray));
  EXPECT_EQ(find(handle, Kind::kArray), device);
  --alive;  // `device` is never destroyed, so `alive` must not count it
}

// Threads create, count, look up and destroy handles concurrently, for ThreadSanitizer.
TEST(Handles, SurviveManyThreads) {
  constexpr int kThreads = 4;
  std::atomic<uint64_t> shared{publish_new()};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&shared, t] {
      for (int i = 0; i < 2000; ++i) {
        const uint64_t own = publish_new();
        if (retain(shared, Kind::kArray)) release(shared, Kind::kArray);
        EXPECT_NE(find(own, Kind::kArray), nullptr);
        EXPECT_TRUE(release(own, Kind::kArray));
        EXPECT_FALSE(release(own, Kind::kArray));
        if (i % 64 == t) collect();
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_TRUE(release(shared, Kind::kArray));
  collect();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace gufunc::base
