// SPDX-License-Identifier: Apache-2.0
// Cached scratch memory: it is reused by the next caller, used by one caller at a time, and freed.
#include "backends/cpu/scratch_shelf.h"

#include <cstring>
#include <set>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

constexpr size_t kBytes = 1000;

class Shelf : public testing::Test {
 protected:
  // Stops the backend first, so that no thread of a closed stream frees scratch memory while the
  // test counts.
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

TEST_F(Shelf, GivesAgainWhatItGot) {
  ScratchShelf shelf(kBytes);
  void *const first = shelf.take();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  std::memset(first, 1, kBytes);
  shelf.give(first);
  for (int i = 0; i < 10; ++i) {
    void *const again = shelf.take();
    EXPECT_EQ(again, first);
    shelf.give(again);
  }
  EXPECT_EQ(allocations(), 1u);
  shelf.give(nullptr);
  shelf.clear();
  EXPECT_EQ(live(), 0u);
  shelf.give(shelf.take());
  EXPECT_EQ(allocations(), 2u) << "usable after it was cleared";
  shelf.clear();
}

TEST_F(Shelf, PiecesInUseDiffer) {
  ScratchShelf shelf(kBytes);
  std::set<void *> pieces;
  for (int i = 0; i < 100; ++i) pieces.insert(shelf.take());
  EXPECT_EQ(pieces.size(), 100u);
  for (void *const piece : pieces) shelf.give(piece);
  EXPECT_EQ(live(), 64u) << "those beyond its places are freed";
  shelf.clear();
  EXPECT_EQ(live(), 0u);
}

TEST_F(Shelf, HasNothingWithoutMemory) {
  ScratchShelf shelf(kBytes);
  test_host().alloc_fails = true;
  EXPECT_EQ(shelf.take(), nullptr);
  test_host().alloc_fails = false;
}

// A buffer has one user at a time: no other thread overwrites its content.
TEST_F(Shelf, ServesManyThreads) {
  ScratchShelf shelf(kBytes);
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        auto *const piece = static_cast<unsigned char *>(shelf.take());
        std::memset(piece, t, kBytes);
        if (i % 100 == 0) std::this_thread::yield();
        for (size_t k = 0; k < kBytes; ++k) shared += piece[k] != t;
        shelf.give(piece);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(shared.load(), 0);
  EXPECT_LE(live(), 64u);
  shelf.clear();
  EXPECT_EQ(live(), 0u);
}

}  // namespace
}  // namespace gufunc::cpu
