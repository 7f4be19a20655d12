// SPDX-License-Identifier: Apache-2.0
// Tests that cached scratch memory is reused by the next caller, used by one caller at a time, and
// freed.
#include "backends/cpu/base/scratch_cache.h"

#include <cstring>
#include <set>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

constexpr size_t kBytes = 1000;

class Cache : public testing::Test {
 protected:
  // Stops the backend, so that no thread of a closed stream frees scratch memory while the test
  // counts allocations.
  void SetUp() override {
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);
    allocations_ = test_host().allocations;
    live_ = test_host().live;
  }
  uint64_t allocations() const { return test_host().allocations - allocations_; }
  uint64_t live() const { return test_host().live - live_; }

 private:
  uint64_t allocations_ = 0, live_ = 0;
};

TEST_F(Cache, ReturnsTheBlockThatItReceived) {
  ScratchCache cache(kBytes);
  void *const first = cache.acquire();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  std::memset(first, 1, kBytes);
  cache.release(first);
  for (int i = 0; i < 10; ++i) {
    void *const again = cache.acquire();
    EXPECT_EQ(again, first);
    cache.release(again);
  }
  EXPECT_EQ(allocations(), 1u);
  cache.release(nullptr);
  cache.clear();
  EXPECT_EQ(live(), 0u);
  cache.release(cache.acquire());
  EXPECT_EQ(allocations(), 2u) << "usable after it was cleared";
  cache.clear();
}

TEST_F(Cache, PiecesInUseDiffer) {
  ScratchCache cache(kBytes);
  std::set<void *> pieces;
  for (int i = 0; i < 100; ++i) pieces.insert(cache.acquire());
  EXPECT_EQ(pieces.size(), 100u);
  for (void *const piece : pieces) cache.release(piece);
  EXPECT_EQ(live(), 64u) << "the cache keeps 64 buffers";
  cache.clear();
  EXPECT_EQ(live(), 0u);
}

TEST_F(Cache, HasNothingWithoutMemory) {
  ScratchCache cache(kBytes);
  test_host().alloc_fails = true;
  EXPECT_EQ(cache.acquire(), nullptr);
  test_host().alloc_fails = false;
}

// A buffer has one user at a time, so no other thread overwrites its content.
TEST_F(Cache, ServesManyThreads) {
  ScratchCache cache(kBytes);
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        auto *const piece = static_cast<unsigned char *>(cache.acquire());
        std::memset(piece, t, kBytes);
        if (i % 100 == 0) std::this_thread::yield();
        for (size_t k = 0; k < kBytes; ++k) shared += piece[k] != t;
        cache.release(piece);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(shared.load(), 0);
  EXPECT_LE(live(), 64u);
  cache.clear();
  EXPECT_EQ(live(), 0u);
}

}  // namespace
}  // namespace gufunc::cpu
