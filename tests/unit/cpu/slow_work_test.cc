// SPDX-License-Identifier: Apache-2.0
// Tests which threads run launches, methods and raw kernels with a few slow elements: all available
// threads, or the number of threads that the caller requests. If a launch has a stream, the
// caller's thread must not run the loop. Also tests the recorded costs of loops.
#include <gtest/gtest.h>
#include <gufunc/backend.h>
#include <gufunc/kernel/work_item.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/runtime/cpu_table.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

// Loops whose items wait for each other and record their threads.
struct Slow {
  std::mutex lock;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  size_t rendezvous = 1;  // number of threads that wait for each other
  bool first_is_alone = false;
  bool open = true;  // no item returns while this is false
  uint64_t items = 0;

  // A loop with one input and one output of four bytes each.
  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Slow *>(user);
    for (int64_t i = 0; i < dims[0]; ++i) {
      self.wait();
      std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
    }
  }

  // A loop that adds floats.
  static void add(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Slow *>(user);
    for (int64_t i = 0; i < dims[0]; ++i) {
      self.wait();
      float a = 0, b = 0;
      std::memcpy(&a, args[0] + i * steps[0], sizeof a);
      std::memcpy(&b, args[1] + i * steps[1], sizeof b);
      a += b;
      std::memcpy(args[2] + i * steps[2], &a, sizeof a);
    }
  }

  void wait() {
    std::unique_lock hold(lock);
    const bool first = items++ == 0;
    if (first && first_is_alone) {
      hold.unlock();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      return;
    }
    threads.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait_for(hold, std::chrono::seconds(20),
                     [&] { return open && threads.size() >= rendezvous; });
  }
  void release() {
    const std::lock_guard hold(lock);
    open = true;
    changed.notify_all();
  }
};

// Returns a new object at a new address, because the backend caches measured costs by address.
Slow &fresh_loop() {
  static std::deque<Slow> all;
  return all.emplace_back();
}

constexpr uint64_t kSlowNs = 1'500'000'000;  // cost per element

std::set<std::thread::id> only_this_thread() {
  return {std::this_thread::get_id()};
}

// Allows the backend to use four threads.
class SlowWork : public testing::Test {
 protected:
  static void SetUpTestSuite() { grant("4"); }
  static void TearDownTestSuite() { grant("3"); }
  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }

  void *open_stream() {
    void *stream = nullptr;
    EXPECT_EQ(cpu().stream_open(cpu_device(), 0, 0, &stream, &error_), GUF_OK);
    return stream;
  }
  void synchronize(void *stream) {
    EXPECT_EQ(cpu().stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  }

  guf_error error_ = fresh_error();
};

TEST(LoopCost, UnknownUntilMeasured) {
  int loop = 0, user = 0, other = 0;
  EXPECT_FALSE(LoopCost(&loop, &user).is_known());
  EXPECT_EQ(LoopCost(&loop, &user).weigh(17), 17U);
  LoopCost(&loop, &user).record(10, 10'000);  // 1 us per item, the cost of 4000 ordinary elements
  EXPECT_TRUE(LoopCost(&loop, &user).is_known());
  EXPECT_EQ(LoopCost(&loop, &user).weigh(3), 12'000U);
  EXPECT_FALSE(LoopCost(&loop, &other).is_known());
}

TEST(LoopCost, DownAtOnceAndUpByQuarters) {
  int loop = 0;
  LoopCost(&loop, nullptr).record(1, 1000);
  LoopCost(&loop, nullptr).record(1, 9000);
  EXPECT_EQ(LoopCost(&loop, nullptr).weigh(1), 12'000U);
  LoopCost(&loop, nullptr).record(1, 500);
  EXPECT_EQ(LoopCost(&loop, nullptr).weigh(1), 2000U);
}

TEST(LoopCost, WeightIsNeverBelowTheWorkAndSaturates) {
  int quick = 0, slow = 0;
  LoopCost(&quick, nullptr).record(1'000'000, 1);
  EXPECT_EQ(LoopCost(&quick, nullptr).weigh(1000), 1000U);
  LoopCost(&slow, nullptr).record(1, UINT64_MAX);
  EXPECT_EQ(LoopCost(&slow, nullptr).weigh(UINT64_MAX), UINT64_MAX);
}

// ---- Launches.

class FewSlowItems : public SlowWork {
 protected:
  guf_status launch(Slow *slow, int64_t items, uint32_t threads, void *stream = nullptr) {
    in_.assign(static_cast<size_t>(items), 1.5F);
    out_.assign(static_cast<size_t>(items), 0);
    const guf_launch_block block =
        make_block({1, {items}, {in_.data(), out_.data()}, {{4}, {4}}, {GUF_F32, GUF_F32}});
    return launch_block(block, as_entry(Slow::loop), &error_, stream, slow, threads);
  }

  static LoopCost cost_of(Slow *slow) { return {reinterpret_cast<void *>(Slow::loop), slow}; }

  std::vector<float> in_, out_;
};

TEST_F(FewSlowItems, AreSharedOnceTheFirstTookLong) {
  Slow &slow = fresh_loop();
  slow.first_is_alone = true;
  slow.rendezvous = 4;
  ASSERT_EQ(launch(&slow, 5, 0), GUF_OK);
  EXPECT_EQ(slow.threads.size(), 4U);
  EXPECT_EQ(out_, in_);
}

TEST_F(FewSlowItems, AreSharedAtOnceWhenTheLoopIsKnown) {
  Slow &slow = fresh_loop();
  slow.rendezvous = 4;
  cost_of(&slow).record(1, kSlowNs);
  ASSERT_EQ(launch(&slow, 4, 0), GUF_OK);
  EXPECT_EQ(slow.threads.size(), 4U);
}

TEST_F(FewSlowItems, HaveTheThreadsThatTheLaunchNames) {
  for (const uint32_t threads : {2U, 3U, 4U}) {
    Slow &slow = fresh_loop();  // the recorded cost is low, so the backend expects a fast loop
    cost_of(&slow).record(1'000'000, 1);
    slow.rendezvous = threads;
    ASSERT_EQ(launch(&slow, threads, threads), GUF_OK);
    EXPECT_EQ(slow.threads.size(), threads);
    EXPECT_EQ(out_, in_);
  }
}

TEST_F(FewSlowItems, RunOnOneThreadIfTheLaunchRequestsIt) {
  Slow &slow = fresh_loop();
  cost_of(&slow).record(1, kSlowNs);
  ASSERT_EQ(launch(&slow, 5, 1), GUF_OK);
  EXPECT_EQ(slow.threads, only_this_thread());
}

TEST_F(FewSlowItems, OnAStreamAreQueued) {
  void *const stream = open_stream();
  for (const int64_t items : {1, 5}) {
    for (const uint32_t threads : {0U, 1U, 2U}) {
      for (const bool is_known : {false, true}) {
        Slow &slow = fresh_loop();
        slow.open = false;
        if (is_known) cost_of(&slow).record(1, kSlowNs);
        // The call returns before any item is released.
        ASSERT_EQ(launch(&slow, items, threads, stream), GUF_OK);
        slow.release();
        synchronize(stream);
        EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
        EXPECT_EQ(out_, in_);
      }
    }
  }
  cpu().stream_close(stream);
}

TEST_F(FewSlowItems, ThatWereMeasuredAreQueuedAgain) {
  void *const stream = open_stream();
  Slow &slow = fresh_loop();
  for (int round = 0; round < 3; ++round) {
    slow.items = 0;
    slow.first_is_alone = true;  // the first item takes 2 ms
    ASSERT_EQ(launch(&slow, 1, 0, stream), GUF_OK);
    synchronize(stream);
  }
  slow.open = slow.first_is_alone = false;
  ASSERT_EQ(launch(&slow, 1, 0, stream), GUF_OK);
  slow.release();
  synchronize(stream);
  EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
  cpu().stream_close(stream);
}

// ---- Methods. Each row consists of four floats, which the method adds. For reduceat, each row has
// two segments.

struct MethodRow {
  const char *name;
  int32_t method;
};
constexpr MethodRow kShared[] = {{"reduce", GUF_METHOD_REDUCE},
                                 {"accumulate", GUF_METHOD_ACCUMULATE},
                                 {"reduceat", GUF_METHOD_REDUCEAT}};

class FewSlowMethodElements : public SlowWork {
 protected:
  static constexpr int64_t kMaxRows = 20, kColumns = 4, kIndices[] = {0, 2};

  static LoopCost cost_of(Slow *slow) { return {reinterpret_cast<void *>(Slow::add), slow}; }

  guf_status run(const MethodRow &row, Slow *slow, uint32_t threads, void *stream = nullptr) {
    in_.fill(1);
    out_.fill(0);
    guf_method_block block = {};
    block.method = row.method;
    block.flags = GUF_METHOD_ANY_THREAD;
    block.input = reinterpret_cast<uint64_t>(in_.data());
    block.output = reinterpret_cast<uint64_t>(out_.data());
    block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F32;
    block.nkept = block.nfold = 1;
    block.items = rows_;
    block.kept_size[0] = static_cast<int64_t>(rows_);
    block.kept_input_step[0] = block.kept_output_step[0] = kColumns * 4;
    block.fold_size[0] = kColumns;
    block.fold_input_step[0] = block.fold_output_step = 4;
    if (row.method == GUF_METHOD_REDUCEAT) {
      block.indices = kIndices;
      block.nindices = static_cast<int64_t>(std::size(kIndices));
    }
    guf_backend_method method = {};
    method.block = &block;
    method.kernel = reinterpret_cast<void *>(Slow::add);
    method.user = slow;
    method.stream = stream;
    method.max_threads = threads;
    return cpu().method(cpu_device(), &method, &error_);
  }

  void expect_sums(const MethodRow &row) {
    for (size_t i = 0; i < rows_; ++i) {
      const float *const found = &out_[i * kColumns];
      switch (row.method) {
        case GUF_METHOD_REDUCE:
          EXPECT_EQ(found[0], 4);
          break;
        case GUF_METHOD_ACCUMULATE:
          EXPECT_EQ(found[3], 4);
          break;
        default:
          EXPECT_EQ(found[0], 2);
          EXPECT_EQ(found[1], 2);
      }
    }
  }

  size_t rows_ = 5;
  std::array<float, kMaxRows * kColumns> in_, out_;
};

// Four threads must share the rows. If the backend processed 16 rows together as one vector, only
// two threads would work on 20 rows.
TEST_F(FewSlowMethodElements, AreSharedWhenTheLoopIsKnown) {
  for (const int64_t rows : {int64_t{5}, kMaxRows}) {
    rows_ = static_cast<size_t>(rows);
    for (const MethodRow &row : kShared) {
      SCOPED_TRACE(testing::Message() << row.name << ", " << rows << " rows");
      Slow &slow = fresh_loop();
      slow.rendezvous = 4;
      cost_of(&slow).record(1, kSlowNs);
      ASSERT_EQ(run(row, &slow, 0), GUF_OK) << error_.message;
      EXPECT_EQ(slow.threads.size(), 4U);
      expect_sums(row);
    }
  }
}

TEST_F(FewSlowMethodElements, AreMeasuredByTheFirstCall) {
  for (const MethodRow &row : kShared) {
    SCOPED_TRACE(row.name);
    Slow &slow = fresh_loop();
    slow.first_is_alone = true;  // the first item takes 2 ms
    ASSERT_EQ(run(row, &slow, 0), GUF_OK) << error_.message;
    slow.threads.clear();
    slow.rendezvous = 4;
    ASSERT_EQ(run(row, &slow, 0), GUF_OK) << error_.message;
    EXPECT_EQ(slow.threads.size(), 4U);
  }
}

TEST_F(FewSlowMethodElements, HaveTheThreadsThatTheCallNames) {
  for (const MethodRow &row : kShared) {
    for (const uint32_t threads : {1U, 2U, 3U, 4U}) {
      SCOPED_TRACE(row.name);
      Slow &slow = fresh_loop();
      // If several threads are requested, the recorded cost is low; if one thread is requested, the
      // cost is high. The requested number takes precedence over the cost.
      cost_of(&slow).record(threads == 1 ? 1 : 1'000'000, threads == 1 ? kSlowNs : 1);
      slow.rendezvous = threads;
      ASSERT_EQ(run(row, &slow, threads), GUF_OK) << error_.message;
      EXPECT_EQ(slow.threads.size(), threads);
      if (threads == 1) {
        EXPECT_EQ(slow.threads, only_this_thread());
      }
      expect_sums(row);
    }
  }
}

TEST_F(FewSlowMethodElements, OnAStreamAreQueued) {
  void *const stream = open_stream();
  for (const MethodRow &row : kShared) {
    for (const uint32_t threads : {0U, 1U, 2U}) {
      for (const bool is_known : {false, true}) {
        SCOPED_TRACE(row.name);
        Slow &slow = fresh_loop();
        slow.open = false;
        if (is_known) cost_of(&slow).record(1, kSlowNs);
        ASSERT_EQ(run(row, &slow, threads, stream), GUF_OK);  // no item has returned yet
        slow.release();
        synchronize(stream);
        EXPECT_FALSE(slow.threads.empty());
        EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
        expect_sums(row);
      }
    }
  }
  cpu().stream_close(stream);
}

TEST_F(FewSlowMethodElements, ThatAreQuickRunOnTheCallerOfAnIdleStream) {
  void *const stream = open_stream();
  for (const MethodRow &row : kShared) {
    SCOPED_TRACE(row.name);
    Slow &slow = fresh_loop();
    cost_of(&slow).record(1'000'000, 1);
    ASSERT_EQ(run(row, &slow, 0, stream), GUF_OK);
    synchronize(stream);
    EXPECT_EQ(slow.threads, only_this_thread());
  }
  cpu().stream_close(stream);
}

// ---- Raw kernels. Each block has one thread.

struct KernelArguments {
  guf_kernel_head head;
  Slow *slow;
};

// The cost is recorded per function, so each case needs its own function.
template <int Case>
void visit(guf::device::work_item *, const void *arguments) {
  static_cast<const KernelArguments *>(arguments)->slow->wait();
}

class FewSlowBlocks : public SlowWork {
 protected:
  guf_status launch(guf::device::item_entry kernel, Slow *slow, uint32_t blocks,
                    void *stream = nullptr) {
    KernelArguments arguments = {{{blocks, 1, 1}, {1, 1, 1}, 0, 0}, slow};
    guf_backend_kernel_launch request = {};
    request.struct_size = sizeof request;
    request.kernel = reinterpret_cast<void *>(kernel);
    request.stream = stream;
    request.name = "visit";
    request.grid[0] = blocks;
    request.grid[1] = request.grid[2] = 1;
    request.block[0] = request.block[1] = request.block[2] = 1;
    request.argument_bytes = sizeof arguments;
    request.arguments = &arguments;
    return kKernelsExtension.kernel_launch(cpu_device(), &request, &error_);
  }
  static LoopCost cost_of(guf::device::item_entry kernel) {
    return {reinterpret_cast<void *>(kernel), nullptr};
  }
};

TEST_F(FewSlowBlocks, AreSharedOnceTheFirstTookLong) {
  Slow &slow = fresh_loop();
  slow.first_is_alone = true;
  slow.rendezvous = 4;
  ASSERT_EQ(launch(visit<0>, &slow, 5), GUF_OK) << error_.message;
  EXPECT_EQ(slow.items, 5U);
  EXPECT_EQ(slow.threads.size(), 4U);
}

TEST_F(FewSlowBlocks, AreSharedAtOnceWhenTheKernelIsKnown) {
  Slow &slow = fresh_loop();
  slow.rendezvous = 4;
  cost_of(visit<1>).record(1, kSlowNs);
  ASSERT_EQ(launch(visit<1>, &slow, 4), GUF_OK) << error_.message;
  EXPECT_EQ(slow.items, 4U);
  EXPECT_EQ(slow.threads.size(), 4U);
}

TEST_F(FewSlowBlocks, ThatAreQuickRunOnTheCaller) {
  Slow &slow = fresh_loop();
  cost_of(visit<2>).record(1'000'000, 1);
  ASSERT_EQ(launch(visit<2>, &slow, 5), GUF_OK) << error_.message;
  EXPECT_EQ(slow.threads, only_this_thread());
  void *const stream = open_stream();
  Slow &queued = fresh_loop();
  cost_of(visit<3>).record(1'000'000, 1);
  ASSERT_EQ(launch(visit<3>, &queued, 5, stream), GUF_OK) << error_.message;
  synchronize(stream);
  EXPECT_EQ(queued.threads, only_this_thread());
  cpu().stream_close(stream);
}

TEST_F(FewSlowBlocks, OnAStreamAreQueued) {
  void *const stream = open_stream();
  for (const uint32_t blocks : {1U, 5U}) {
    for (const bool is_known : {false, true}) {
      guf::device::item_entry const kernel = blocks == 1 ? is_known ? visit<4> : visit<5>
                                             : is_known ? visit<6>
                                                         : visit<7>;
      Slow &slow = fresh_loop();
      slow.open = false;
      if (is_known) cost_of(kernel).record(1, kSlowNs);
      // The call returns before any block returns.
      ASSERT_EQ(launch(kernel, &slow, blocks, stream), GUF_OK);
      slow.release();
      synchronize(stream);
      EXPECT_EQ(slow.items, blocks);
      EXPECT_FALSE(slow.threads.empty());
      EXPECT_EQ(slow.threads.count(std::this_thread::get_id()), 0U);
    }
  }
  cpu().stream_close(stream);
}

}  // namespace

}  // namespace gufunc::cpu
