// SPDX-License-Identifier: Apache-2.0
// Tests which threads run methods and raw kernels with a few slow elements. loop_cost_test.cc tests
// the same for launches.
#include <gufunc/kernel/work_item.hpp>

#include <array>
#include <cstring>
#include <iterator>
#include <thread>

#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/runtime/cpu_device.h"
#include "backends/cpu/runtime/cpu_table.h"
#include "tests/unit/cpu/slow_loop.h"

namespace gufunc::cpu {
namespace {

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
