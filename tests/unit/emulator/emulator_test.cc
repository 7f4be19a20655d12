// SPDX-License-Identifier: Apache-2.0
#include "backends/emulator/emulator.h"

#include <gtest/gtest.h>
#include <cfenv>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace gufunc::emulator {
namespace {

using guf::u32;
using guf::u64;
using guf::device::work_item;

u32 number_of(const work_item *item) {
  return item->thread[0] +
         item->threads[0] * (item->thread[1] + item->threads[1] * item->thread[2]);
}

Launch launch_of(guf::device::item_entry entry, const void *arguments, uint32_t blocks,
                 uint32_t threads, uint32_t shared, bool synchronizes) {
  return {entry, arguments, {blocks, 1, 1}, {threads, 1, 1}, shared, synchronizes, false};
}

struct Sums {
  const float *in;
  float *out;
};

// Computes one sum per block with a tree reduction in shared memory.
void tree_entry(work_item *item, const void *arguments) {
  const Sums &p = *static_cast<const Sums *>(arguments);
  float *part = reinterpret_cast<float *>(item->shared);
  const u32 i = item->thread[0], n = item->threads[0];
  part[i] = p.in[item->block[0] * n + i];
  for (u32 half = n / 2; half != 0; half /= 2) {
    item->sync(item);
    if (i < half) part[i] += part[i + half];
  }
  item->sync(item);
  if (i == 0) p.out[item->block[0]] = part[0];
}

TEST(Emulator, BarriersHoldTheWholeBlock) {
  for (const uint32_t threads : {1u, 2u, 32u, 64u, 256u, 1024u}) {
    for (const bool descending : {false, true}) {
      std::vector<float> in(threads * 3), out(3);
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
      const Sums sums = {in.data(), out.data()};
      Launch launch = launch_of(tree_entry, &sums, 3, threads, threads * 4, true);
      launch.descending = descending;
      ASSERT_EQ(run(launch).outcome, Outcome::kDone);
      for (uint32_t block = 0; block < 3; ++block) {
        float want = 0;
        for (uint32_t i = 0; i < threads; ++i) want += in[block * threads + i];
        EXPECT_EQ(out[block], want) << threads << " threads, block " << block;
      }
    }
  }
}

void shuffle_entry(work_item *item, const void *arguments) {
  u64 *out = *static_cast<u64 *const *>(arguments);
  const u32 i = number_of(item);
  u64 value = i;
  // The items exchange values in a butterfly pattern. The second shuffle must not read values of
  // the third.
  for (u32 step = 1; step < 32; step *= 2) value += item->shuffle(item, value, (i % 32) ^ step);
  out[i] = value;
}

TEST(Emulator, SubGroupsExchange) {
  std::vector<u64> out(128);
  u64 *const place = out.data();
  for (const bool descending : {false, true}) {
    std::fill(out.begin(), out.end(), 0);
    Launch launch = launch_of(shuffle_entry, &place, 1, 1, 0, true);
    launch.threads[0] = 8;
    launch.threads[1] = 4;
    launch.threads[2] = 4;
    launch.descending = descending;
    ASSERT_EQ(run(launch).outcome, Outcome::kDone);
    for (u32 i = 0; i < 128; ++i) EXPECT_EQ(out[i], u64{i / 32} * 32 * 32 + 496) << i;
  }
}

// Sub-groups perform different numbers of exchanges. Only barriers of the whole block synchronize
// the sub-groups with each other.
void uneven_entry(work_item *item, const void *arguments) {
  u64 *out = *static_cast<u64 *const *>(arguments);
  const u32 i = item->thread[0];
  u64 value = 0;
  for (u32 k = 0; k <= i / 32; ++k) value = item->shuffle(item, i + k, 31);
  item->sync(item);
  out[i] = value;
}

TEST(Emulator, SubGroupsAreIndependent) {
  std::vector<u64> out(100);
  u64 *const place = out.data();
  ASSERT_EQ(run(launch_of(uneven_entry, &place, 1, 100, 0, true)).outcome, Outcome::kDone);
  EXPECT_EQ(out[0], 31u);
  EXPECT_EQ(out[33], 63u + 1);
  EXPECT_EQ(out[95], 95u + 2);
  EXPECT_EQ(out[99], kAbsentLane) << "lane 31 of a sub-group of 4";
}

void early_return_entry(work_item *item, const void *) {
  if (item->thread[0] < 3) return;
  item->sync(item);
}
void mixed_wait_entry(work_item *item, const void *) {
  if (item->thread[0] == 7) {
    item->shuffle(item, 0, 0);
  } else {
    item->sync(item);
  }
}
// Half of the items wait at a second barrier, which the other half never reaches.
void nested_entry(work_item *item, const void *) {
  item->sync(item);
  for (u32 k = 0; k < item->thread[0] % 2 + 1; ++k) {
    if (k == 1) item->sync(item);
  }
}

TEST(Emulator, MissedBarriersAreReported) {
  const Result early = run(launch_of(early_return_entry, nullptr, 2, 256, 0, true));
  EXPECT_EQ(early.outcome, Outcome::kMissedBarrier);
  EXPECT_EQ(early.returned, 3u);
  EXPECT_EQ(early.at_sync, 253u);
  EXPECT_EQ(early.block[0], 0u);
  const Result mixed = run(launch_of(mixed_wait_entry, nullptr, 1, 32, 0, true));
  EXPECT_EQ(mixed.outcome, Outcome::kMissedBarrier);
  EXPECT_EQ(mixed.at_shuffle, 1u);
  EXPECT_EQ(mixed.at_sync, 31u);
  const Result nested = run(launch_of(nested_entry, nullptr, 1, 1024, 0, true));
  EXPECT_EQ(nested.outcome, Outcome::kMissedBarrier);
  EXPECT_EQ(nested.returned, 512u);

  char text[200];
  describe(mixed, text, sizeof(text));
  EXPECT_EQ(std::string(text),
            "in block (0, 0, 0), 0 work-items have returned, 31 wait at a barrier of the block and "
            "1 at a barrier of their sub-group");
  // A launch after a failed launch runs normally.
  std::vector<float> in(256, 1.0f), out(1);
  const Sums sums = {in.data(), out.data()};
  EXPECT_EQ(run(launch_of(tree_entry, &sums, 1, 256, 1024, true)).outcome, Outcome::kDone);
  EXPECT_EQ(out[0], 256.0f);
}

struct Places {
  u32 *order;
  u32 *next;
};
void order_entry(work_item *item, const void *arguments) {
  const Places &p = *static_cast<const Places *>(arguments);
  const u32 block =
      item->block[0] + item->blocks[0] * (item->block[1] + item->blocks[1] * item->block[2]);
  const u32 items = item->threads[0] * item->threads[1] * item->threads[2];
  p.order[(*p.next)++] = block * items + number_of(item);
}

TEST(Emulator, EveryPositionOfAnyShapeOnceInTheRequestedOrder) {
  for (const bool synchronizes : {false, true}) {
    for (const bool descending : {false, true}) {
      std::vector<u32> order(2 * 3 * 4 * 5 * 2 * 3);
      u32 next = 0;
      const Places places = {order.data(), &next};
      const Launch launch = {order_entry, &places,      {2, 3, 4}, {5, 2, 3},
                             0,           synchronizes, descending};
      ASSERT_EQ(run(launch).outcome, Outcome::kDone);
      ASSERT_EQ(next, order.size());
      for (u32 i = 0; i < next; ++i) EXPECT_EQ(order[i], descending ? next - 1 - i : i);
    }
  }
}

TEST(Emulator, BadLaunchesAreRefused) {
  u32 next = 0;
  const Places places = {nullptr, &next};
  EXPECT_EQ(run(launch_of(order_entry, &places, 0, 1, 0, false)).outcome, Outcome::kBadLaunch);
  EXPECT_EQ(run(launch_of(order_entry, &places, 1, 0, 0, true)).outcome, Outcome::kBadLaunch);
  EXPECT_EQ(run(launch_of(order_entry, &places, 1, 1025, 0, true)).outcome, Outcome::kBadLaunch);
  EXPECT_EQ(run(launch_of(nullptr, &places, 1, 1, 0, true)).outcome, Outcome::kBadLaunch);
  Launch wide = launch_of(order_entry, &places, 1, 1024, 0, true);
  wide.threads[2] = 2;
  EXPECT_EQ(run(wide).outcome, Outcome::kBadLaunch);
  EXPECT_EQ(run(launch_of(early_return_entry, nullptr, 1, 4, 0, false)).outcome,
            Outcome::kNotDeclared);
}

void rounding_entry(work_item *item, const void *arguments) {
  int *wrong = *static_cast<int *const *>(arguments);
  if (item->thread[0] == 0) std::fesetround(FE_UPWARD);
  item->sync(item);
  const int want = item->thread[0] == 0 ? FE_UPWARD : FE_TONEAREST;
  if (std::fegetround() != want) ++*wrong;
}

TEST(Emulator, FloatingPointControlBelongsToEachItem) {
  int wrong = 0;
  int *const place = &wrong;
  EXPECT_EQ(run(launch_of(rounding_entry, &place, 1, 8, 0, true)).outcome, Outcome::kDone);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(Emulator, ThreadsDoNotShare) {
  std::vector<std::thread> threads;
  std::vector<float> out(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&out, t] {
      std::vector<float> in(256, static_cast<float>(t));
      const Sums sums = {in.data(), &out[t]};
      for (int repeat = 0; repeat < 20; ++repeat) {
        ASSERT_EQ(run(launch_of(tree_entry, &sums, 1, 256, 1024, true)).outcome, Outcome::kDone);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (size_t t = 0; t < 4; ++t) EXPECT_EQ(out[t], static_cast<float>(256 * t));
}

void ten_barriers_entry(work_item *item, const void *) {
  for (int k = 0; k < 10; ++k) item->sync(item);
}

// On an idle machine, an optimized build must run ten barriers of a block of 256 items in at most
// 0.15 ms. Debug builds and builds with swapcontext have no limit.
TEST(Emulator, TenBarriersOf256Items) {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(run(launch_of(ten_barriers_entry, nullptr, 20, 256, 0, true)).outcome,
              Outcome::kDone);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / 20);
  }
  RecordProperty("milliseconds", std::to_string(best));
#if defined(NDEBUG) && !defined(GUFUNC_EMULATOR_UCONTEXT)
  EXPECT_LE(best, 0.15);
#endif
}

}  // namespace
}  // namespace gufunc::emulator
