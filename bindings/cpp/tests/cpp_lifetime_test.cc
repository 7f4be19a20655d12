// SPDX-License-Identifier: Apache-2.0
// Tests for faults that appear only after many calls, such as memory leaks, or only with several
// threads, such as error messages of calls of another thread.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <unistd.h>
#include <atomic>
#include <fstream>
#include <thread>

namespace {

// With sanitizers, freed memory is not reused immediately, and calls are slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Returns the resident memory of the process in bytes.
int64_t resident() {
  std::ifstream file("/proc/self/statm");
  int64_t size = 0, pages = 0;
  file >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(CppLifetime, AMillionOfEachLeavesNothing) {
  const gufunc::Ufunc add("add");
  const gufunc::Device cpu("cpu");
  const gufunc::Context context = gufunc::Context::create();
  std::vector<double> values(64, 1);
  int64_t before = 0;
  constexpr int kCycles = kSanitized ? 10'000 : 1'000'000;
  for (int k = 0; k < kCycles; ++k) {
    const gufunc::Array array = gufunc::Array::alloc(GUF_F64, {64});
    const gufunc::Array view = array.slice({{1}});
    const gufunc::Operand operand(values.data(), {1, 1, 1, 1, 1, 1, 1, 1, 1, 64});
    const gufunc::Ufunc same = add;
    if (k % 8 == 0) {
      const gufunc::Array sum = add({operand, 1});
      const gufunc::Array wrapped = gufunc::Array::wrap(values, [] {});
      const gufunc::Array taken = gufunc::Array::from_dlpack(view.to_dlpack_unversioned());
      const gufunc::DlpackTensor given = taken.to_dlpack();
      const gufunc::Event event(cpu);
      const gufunc::Ufunc found("multiply");
    }
    if (k == kCycles / 4) before = resident();
  }
  gufunc::poll();
  if (!kSanitized) {
    EXPECT_LT(resident() - before, 512 << 10);
  }
}

TEST(CppLifetime, EveryThreadReadsItsOwnMessage) {
  constexpr int kThreads = 8, kCalls = kSanitized ? 500 : 12500;
  std::atomic<int> wrong{0}, report{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      const gufunc::Ufunc add("add");
      const std::vector<double> a(static_cast<size_t>(thread) + 2);
      for (int k = 0; k < kCalls; ++k) {
        const std::vector<double> b(static_cast<size_t>(k % 50) + 100);
        const std::string expected = "operands could not be broadcast together with shapes (" +
                                     std::to_string(a.size()) + ",) (" + std::to_string(b.size()) +
                                     ",) ";
        try {
          add({a, b});
        } catch (const gufunc::Error &error) {
          ++report;
          if (error.status() != GUF_E_SHAPE || std::string(error.what()).rfind(expected, 0) != 0)
            ++wrong;
        }
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(report, kThreads * kCalls);
  EXPECT_EQ(wrong, 0);
}

// Calls do not write to const operands and keywords.
TEST(CppLifetime, ThreadsShareOperandsAndKeywords) {
  const gufunc::Ufunc add("add");
  const std::vector<double> values{1, 2, 3, 4};
  const std::vector<uint8_t> flags{1, 0, 1, 0};
  const gufunc::Operand operand(values.data(), {2, 2}, {16, 8});
  const gufunc::Operand mask(gufunc::DType(GUF_BOOL), flags.data(), {2, 2});
  const auto masked = gufunc::CallKeywords().where(mask).signature({{}, {}, GUF_F64});
  const auto folded = gufunc::ReduceKeywords().where(mask).initial(10).all_axes();
  std::atomic<int> right{0};
  constexpr int kThreads = 4, kCalls = 500;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int k = 0; k < kCalls; ++k) {
        std::vector<double> sums(4);
        add({operand, 1}, {gufunc::Operand(sums.data(), {2, 2})}, masked);
        double total = 0;
        add.reduce_into(operand, gufunc::Operand(&total, {}), folded);
        right += sums == std::vector<double>{2, 0, 4, 0} && total == 14 ? 1 : 0;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kCalls);
}

// Each array is released on a different thread than the thread that created it.
TEST(CppLifetime, ObjectsAreReleasedOnOtherThreads) {
  std::vector<gufunc::Array> made;
  const gufunc::Device cpu("cpu");
  for (int round = 0; round < 200; ++round) {
    for (int k = 0; k < 50; ++k) made.push_back(gufunc::Array::alloc(GUF_F64, {k + 1}, cpu));
    std::thread([taken = std::move(made)]() mutable { taken.clear(); }).join();
    made.clear();
  }
  EXPECT_EQ(gufunc::Array::alloc(GUF_F64, {3}).size(), 3U);
}

}  // namespace
