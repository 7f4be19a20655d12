// SPDX-License-Identifier: Apache-2.0
// Compares the texts of describe_launch and describe_method with the observed behaviour of the
// launch or method.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "backends/cpu/base/cpu_isa.h"
#include "backends/cpu/loops/work_split.h"
#include "backends/cpu/runtime/cpu_table.h"
#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

using testing::HasSubstr;
using testing::Not;

// Records observations of a launch whose loop has one input and one output.
struct Seen {
  const char *first = nullptr, *end = nullptr;  // address range of the output
  size_t rendezvous = 0;                        // number of threads that wait for each other
  bool waited = false;                          // whether the loop has waited for one more thread
  bool transposed = false, outside = false;
  uint64_t calls = 0;
  int64_t longest = 0;
  std::set<std::thread::id> threads;
  std::mutex lock;
  std::condition_variable arrived;

  // A loop with one input and one output.
  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Seen *>(user);
    std::unique_lock hold(self.lock);
    ++self.calls;
    self.longest = std::max(self.longest, dims[0]);
    self.outside |= args[1] < self.first || args[1] >= self.end;
    self.transposed |= steps[1] == 4 && (args[1] < self.first || args[1] >= self.end);
    self.threads.insert(std::this_thread::get_id());
    self.arrived.notify_all();
    const auto wait_for = [&](std::chrono::milliseconds limit, size_t count) {
      self.arrived.wait_for(hold, limit, [&] { return self.threads.size() >= count; });
    };
    wait_for(std::chrono::seconds(20), self.rendezvous);
    if (self.rendezvous != 0 && !self.waited)
      wait_for(std::chrono::milliseconds(300), self.rendezvous + 1);
    self.waited = true;
    hold.unlock();
    for (int64_t i = 0; i < dims[0]; ++i) {
      std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
    }
  }
};

guf_status describe(const guf_launch_block &block, uint32_t max_threads, char *text, size_t size,
                    guf_error *error) {
  const guf_backend_launch launch = {
      sizeof(guf_backend_launch), max_threads, nullptr, nullptr, nullptr, &block, nullptr, nullptr};
  return cpu().describe_launch(cpu_device(), &launch, text, size, error);
}

std::string text_of(const guf_launch_block &block, uint32_t max_threads = 0) {
  char text[1024];
  guf_error error = fresh_error();
  EXPECT_EQ(describe(block, max_threads, text, sizeof text, &error), GUF_OK) << error.message;
  return text;
}

// Returns the number after `word`, or 0 if `word` is missing.
uint64_t number_behind(const std::string &text, const std::string &word) {
  const size_t at = text.find(word);
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + word.size()));
}

class DescribeLaunch : public testing::Test {
 protected:
  static void SetUpTestSuite() { grant("5"); }
  static void TearDownTestSuite() { grant("3"); }

  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }

  // Builds a launch that copies floats. Sizes and strides are in elements, innermost dimension
  // first.
  guf_launch_block block(std::vector<int64_t> sizes, std::vector<int64_t> in,
                         std::vector<int64_t> out, size_t size) {
    in_.assign(size, 1);
    out_.assign(size, 0);
    for (int64_t &step : in) step *= 4;
    for (int64_t &step : out) step *= 4;
    return make_block(
        {1, std::move(sizes), {in_.data(), out_.data()}, {in, out}, {GUF_F32, GUF_F32}});
  }

  // Runs the launch. The loop waits until all `seen->rendezvous` threads have arrived.
  void run(const guf_launch_block &launched, Seen *seen, uint32_t max_threads = 0) {
    seen->first = reinterpret_cast<const char *>(out_.data());
    seen->end = reinterpret_cast<const char *>(out_.data() + out_.size());
    guf_error error = fresh_error();
    ASSERT_EQ(launch_block(launched, as_entry(Seen::loop), &error, nullptr, seen, max_threads),
              GUF_OK)
        << error.message;
  }
  // Records the cost of an ordinary loop, so that the load of the machine does not affect the test.
  static void make_known(Seen *seen) {
    LoopCost(reinterpret_cast<const void *>(Seen::loop), seen)
        .record(LoopCost::kElementsPerMicrosecond, 1000);
  }
  static std::string text_of_known(const guf_launch_block &block, Seen *seen) {
    char text[1024];
    guf_error error = fresh_error();
    const guf_backend_launch launch = {sizeof(guf_backend_launch),
                                       0,
                                       reinterpret_cast<void *>(Seen::loop),
                                       nullptr,
                                       seen,
                                       &block,
                                       nullptr,
                                       nullptr};
    EXPECT_EQ(cpu().describe_launch(cpu_device(), &launch, text, sizeof text, &error), GUF_OK);
    return text;
  }
  void expect_one_thread(const Seen &seen) {
    EXPECT_EQ(seen.threads, std::set<std::thread::id>{std::this_thread::get_id()});
  }

  std::vector<float> in_, out_;
};

TEST_F(DescribeLaunch, OneCall) {
  const guf_launch_block launch = block({1000}, {1}, {1}, 1000);
  EXPECT_THAT(text_of(launch), HasSubstr("walk: one call of the loop\n"));
  EXPECT_THAT(text_of(launch), HasSubstr("threads: 1 for the first item, up to 5 for the others if "
                                         "it takes long\n"));
  Seen seen;
  make_known(&seen);
  const std::string text = text_of_known(launch, &seen);
  EXPECT_THAT(text, HasSubstr("threads: 1, as the work, "));
  EXPECT_THAT(text, HasSubstr(", is too small to share: the minimum is 32768\n"));
  run(launch, &seen);
  EXPECT_EQ(seen.calls, 1);
  expect_one_thread(seen);
}

TEST_F(DescribeLaunch, Rows) {
  const guf_launch_block launch = block({100, 9}, {1, 101}, {1, 101}, 1000);
  EXPECT_THAT(text_of(launch), HasSubstr("walk: row by row\n"));
  Seen seen;
  make_known(&seen);
  run(launch, &seen);
  EXPECT_EQ(seen.calls, 9);
  EXPECT_EQ(seen.longest, 100);
  EXPECT_FALSE(seen.outside);
}

TEST_F(DescribeLaunch, RunsOfAMask) {
  guf_launch_block launch = block({1000}, {1}, {1}, 1000);
  std::vector<char> mask(1000, 1);
  mask[400] = 0;
  launch.flags |= GUF_LAUNCH_MASKED;
  launch.mask = reinterpret_cast<uint64_t>(mask.data());
  launch.mask_step[0] = 1;
  EXPECT_THAT(text_of(launch), HasSubstr("walk: row by row, only runs that the mask selects\n"));
  Seen seen;
  make_known(&seen);
  run(launch, &seen);
  EXPECT_EQ(seen.calls, 2);
}

TEST_F(DescribeLaunch, Blocks) {
  guf_launch_block launch = block({1000}, {1}, {1}, 1000);
  launch.flags |= GUF_LAUNCH_SWAPPED;
  launch.operand_flags[1] |= GUF_LAUNCH_OPERAND_SWAPPED;
  EXPECT_THAT(text_of(launch),
              HasSubstr("walk: row by row, with operands converted to the loop's dtypes and byte "
                        "order in blocks\n"));
  Seen seen;
  run(launch, &seen);
  EXPECT_GT(seen.calls, 1u);
  EXPECT_TRUE(seen.outside);
}

// The operands are transposed. A launch of at least 1024 items is tiled.
TEST_F(DescribeLaunch, Tiles) {
  for (const int64_t height : {31, 32}) {
    const guf_launch_block launch = block({32, height}, {1, 32}, {height, 1}, 1024);
    Seen seen;
    run(launch, &seen);
    const bool tiles = height == 32;
    EXPECT_EQ(seen.transposed, tiles);
    EXPECT_THAT(
        text_of(launch),
        HasSubstr(tiles ? "walk: tile by tile of dimensions 0 and 1; argument 1 is transposed out\n"
                        : "walk: row by row\n"));
  }
  const guf_launch_block in = block({40, 30}, {30, 1}, {1, 40}, 1200);
  EXPECT_THAT(text_of(in), HasSubstr("; argument 0 is transposed in\n"));
  guf_launch_block both = block({40, 30}, {30, 1}, {30, 1}, 1200);
  EXPECT_THAT(text_of(both), HasSubstr("tile by tile of dimensions 0 and 1; rows go along "
                                       "dimension 1\n"));
  Seen seen;
  run(both, &seen);
  EXPECT_EQ(seen.longest, 30);
}

TEST_F(DescribeLaunch, NonTemporalStores) {
  if (isa_level() < 3) GTEST_SKIP() << "no 32-byte stores at this ISA level";
  constexpr int64_t kItems = 16 << 20;
  for (const int64_t items : {kItems - 1, kItems}) {
    const guf_launch_block launch = block({items}, {0}, {1}, static_cast<size_t>(items));
    Seen seen;
    run(launch, &seen, 1);
    EXPECT_EQ(seen.outside, items == kItems);
    EXPECT_EQ(
        text_of(launch).find("walk: row by row, argument 1 is written with non-temporal stores\n"),
        items == kItems ? 0 : std::string::npos);
    EXPECT_TRUE(std::all_of(out_.begin(), out_.end(), [](float x) { return x == 1; }));
  }
}

TEST_F(DescribeLaunch, WhyOneThread) {
  const guf_launch_block launch = block({200000}, {1}, {1}, 200000);
  guf_launch_block ordered = launch, whole = block({1}, {1}, {1}, 1);
  ordered.flags &= ~uint32_t{GUF_LAUNCH_ANY_THREAD};
  EXPECT_THAT(text_of(ordered),
              HasSubstr("threads: 1, as the loop must not run in threads of the backend\n"));
  EXPECT_THAT(text_of(launch, 1), HasSubstr("threads: 1, as the call requests one\n"));
  whole.flags |= GUF_LAUNCH_GENERALIZED;
  whole.ncore = 1;
  whole.size[1] = 100000;
  EXPECT_THAT(text_of(whole), HasSubstr("threads: 1, as all items are in one chunk\n"));
  const guf_launch_block again = block({200000}, {1}, {1}, 200000);
  grant("1");
  EXPECT_THAT(text_of(again), HasSubstr("threads: 1, by GUFUNC_NUM_THREADS\n"));
  Seen seen;
  run(again, &seen);
  expect_one_thread(seen);
  grant("5");
}

// The number of threads that run the loop equals the number in the description.
TEST_F(DescribeLaunch, HowManyThreads) {
  struct Row {
    int64_t items;
    uint32_t requested, report;
    const char *why;
  };
  for (const Row &row : {Row{1 << 20, 0, 5, "threads: up to 5, by GUFUNC_NUM_THREADS; "},
                         Row{1 << 20, 9, 5, "threads: up to 5, by GUFUNC_NUM_THREADS; "},
                         Row{1 << 20, 3, 3, "threads: up to 3, as the call requests; "}}) {
    SCOPED_TRACE(testing::Message() << row.requested << " requested");
    const guf_launch_block launch = block({row.items}, {1}, {1}, static_cast<size_t>(row.items));
    const std::string text = text_of(launch, row.requested);
    EXPECT_THAT(text, HasSubstr(row.why));
    Seen seen;
    seen.rendezvous = row.report;
    run(launch, &seen, row.requested);
    EXPECT_EQ(seen.threads.size(), row.report);
    EXPECT_EQ(seen.calls, number_behind(text, "; "));  // one call of the loop per chunk
    EXPECT_EQ(static_cast<uint64_t>(seen.longest), number_behind(text, "chunks of "));
    EXPECT_THAT(text, Not(HasSubstr("sleeping")));
  }
}

TEST_F(DescribeLaunch, FewChunks) {
  const guf_launch_block launch = block({33000}, {1}, {1}, 33000);
  const std::string text = text_of(launch);
  Seen seen;
  run(launch, &seen);
  EXPECT_EQ(seen.calls, number_behind(text, "; "));
  EXPECT_THAT(text, HasSubstr(", for which no sleeping thread is woken\n"));
  // A chunk of a tiled launch consists of whole rows: 64 rows, or the remaining rows.
  const guf_launch_block tiles = block({1600, 100}, {1, 1600}, {100, 1}, 160000);
  const std::string report = text_of(tiles);
  EXPECT_THAT(report, HasSubstr("threads: up to 2, one per chunk; 2 chunks of 102400 items\n"));
  Seen both;
  both.rendezvous = 2;
  run(tiles, &both);
  EXPECT_TRUE(both.transposed);
  EXPECT_EQ(both.threads.size(), 2u);
}

TEST_F(DescribeLaunch, Instructions) {
  const guf_launch_block launch = block({10}, {1}, {1}, 10);
  const std::string level = isa_target(isa_level());
  EXPECT_THAT(text_of(launch), HasSubstr("instructions: up to " + level + ", "));
  const bool lowered = isa_level() < isa_level_of(read_cpu_features());
  EXPECT_THAT(text_of(launch), HasSubstr(lowered ? ", by GUFUNC_CPU_ISA; the processor has x86-64"
                                                 : ", the highest level of the processor\n"));
}

TEST_F(DescribeLaunch, TextIsCutOff) {
  const guf_launch_block launch = block({10}, {1}, {1}, 10);
  const std::string whole = text_of(launch);
  guf_error error = fresh_error();
  for (size_t size = 0; size < whole.size() + 3; ++size) {
    std::vector<char> text(whole.size() + 8, '\x55');
    ASSERT_EQ(describe(launch, 0, text.data(), size, &error), GUF_OK);
    if (size > 0) {
      EXPECT_EQ(text.data(), whole.substr(0, size - 1));
    }
    EXPECT_EQ(text[size], '\x55');
  }
}

TEST_F(DescribeLaunch, RefusesUnknownFlags) {
  guf_launch_block launch = block({10}, {1}, {1}, 10);
  launch.flags |= 1u << 30;
  guf_error error = fresh_error();
  char text[10];
  EXPECT_EQ(describe(launch, 0, text, sizeof text, &error), GUF_E_UNSUPPORTED);
}

// A host with an older minor version receives a table that contains only the slots of this version.
TEST(CpuTable, IsOfTheHostsMinor) {
  cpu();
  for (const uint32_t minor : {0u, 1u, 7u}) {
    guf_backend_api table = {};
    table.struct_size = minor == 0 ? offsetof(guf_backend_api, describe_launch) : sizeof table;
    guf_error error = fresh_error();
    ASSERT_EQ(gufunc_backend_cpu_open(nullptr, minor, &table, &error), GUF_OK);
    EXPECT_EQ(table.abi_minor, std::min(minor, 1u));
    EXPECT_EQ(table.describe_launch != nullptr, minor >= 1);
    EXPECT_EQ(table.describe_method != nullptr, minor >= 1);
  }
}

using testing::HasSubstr;

// Adds int64 values, and records the threads that run it.
struct Adders {
  size_t rendezvous = 0;  // number of threads that wait for each other in the loop
  std::set<std::thread::id> threads;
  std::mutex lock;
  std::condition_variable arrived;

  static void loop(char **args, const int64_t *dims, const int64_t *steps, void *user) {
    auto &self = *static_cast<Adders *>(user);
    {
      std::unique_lock hold(self.lock);
      self.threads.insert(std::this_thread::get_id());
      self.arrived.notify_all();
      self.arrived.wait_for(hold, std::chrono::seconds(20),
                            [&] { return self.threads.size() >= self.rendezvous; });
    }
    for (int64_t i = 0; i < dims[0]; ++i) {
      int64_t a = 0, b = 0;
      std::memcpy(&a, args[0] + i * steps[0], sizeof a);
      std::memcpy(&b, args[1] + i * steps[1], sizeof b);
      a += b;
      std::memcpy(args[2] + i * steps[2], &a, sizeof a);
    }
  }
};

class DescribeMethod : public testing::Test {
 protected:
  static void SetUpTestSuite() { grant("3"); }

  static void grant(const char *threads) {
    guf_error error = fresh_error();
    test_host().config["GUFUNC_NUM_THREADS"] = threads;
    ASSERT_EQ(cpu().shutdown(UINT64_MAX, &error), GUF_OK);  // clears the cached thread count
  }

  // Builds a method call with `items` results, each from `length` contiguous elements.
  guf_method_block block(int32_t method, int64_t items, int64_t length) {
    in_.assign(static_cast<size_t>(items * length), 1);
    out_.assign(in_.size(), 0);
    guf_method_block made = {};
    made.method = method;
    made.flags = GUF_METHOD_TREE | GUF_METHOD_ANY_THREAD;
    made.nkept = items == 1 ? 0 : 1;
    made.items = static_cast<uint64_t>(items);
    made.kept_size[0] = items;
    made.kept_input_step[0] = 8 * length;
    made.kept_output_step[0] = method == GUF_METHOD_REDUCE ? 8 : 8 * length;
    made.nfold = method == GUF_METHOD_AT ? 0 : 1;
    made.fold_size[0] = length;
    made.fold_input_step[0] = 8;
    made.fold_output_step = 8;
    made.input = reinterpret_cast<uint64_t>(in_.data());
    made.output = reinterpret_cast<uint64_t>(out_.data());
    made.input_dtype = made.output_dtype = made.loop_dtype = GUF_I64;
    made.input_flags = GUF_LAUNCH_OPERAND_READ;
    made.output_flags = GUF_LAUNCH_OPERAND_WRITTEN;
    return made;
  }

  static guf_backend_method request(const guf_method_block &block, uint32_t max_threads,
                                    Adders *user) {
    return {sizeof(guf_backend_method),
            max_threads,
            reinterpret_cast<void *>(Adders::loop),
            nullptr,
            nullptr,
            user,
            &block,
            nullptr,
            nullptr};
  }
  static std::string text_of(const guf_method_block &block, uint32_t max_threads = 0) {
    char text[1024] = "";
    guf_error error = fresh_error();
    guf_backend_method requested = request(block, max_threads, nullptr);
    requested.kernel = nullptr;  // describe_method runs no kernel
    EXPECT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error), GUF_OK)
        << error.message;
    return text;
  }
  // Runs the method, and returns the number of threads. The loop waits until `rendezvous` threads
  // have arrived.
  static size_t threads_of(const guf_method_block &block, uint32_t max_threads, size_t rendezvous) {
    Adders seen;
    seen.rendezvous = rendezvous;
    guf_error error = fresh_error();
    const guf_backend_method requested = request(block, max_threads, &seen);
    EXPECT_EQ(cpu().method(cpu_device(), &requested, &error), GUF_OK) << error.message;
    return seen.threads.size();
  }

  std::vector<int64_t> in_, out_;
};

TEST_F(DescribeMethod, ReduceByResults) {
  const guf_method_block many = block(GUF_METHOD_REDUCE, 1000, 300);
  EXPECT_THAT(text_of(many), HasSubstr("walk: result by result, up to "));
  EXPECT_THAT(text_of(block(GUF_METHOD_REDUCE, 1, 300)), HasSubstr("walk: result by result\n"));
  EXPECT_THAT(text_of(many), HasSubstr("threads: up to 3, by GUFUNC_NUM_THREADS; "));
  EXPECT_EQ(threads_of(many, 0, 3), 3u);
  EXPECT_THAT(text_of(many, 2), HasSubstr("threads: up to 2, as the call requests; "));
  EXPECT_EQ(threads_of(many, 2, 2), 2u);
  EXPECT_EQ(out_[999], 300);
}

TEST_F(DescribeMethod, ReduceBySubtrees) {
  const guf_method_block one = block(GUF_METHOD_REDUCE, 1, 400000);
  EXPECT_THAT(text_of(one), HasSubstr("walk: subtrees of 32768 elements, combined afterwards\n"));
  EXPECT_THAT(text_of(one), HasSubstr("threads: up to 3, by GUFUNC_NUM_THREADS; 13 pieces\n"));
  EXPECT_EQ(threads_of(one, 0, 3), 3u);
  EXPECT_EQ(out_[0], 400000);
}

TEST_F(DescribeMethod, AccumulateByTiles) {
  const guf_method_block one = block(GUF_METHOD_ACCUMULATE, 1, 200000);
  EXPECT_THAT(text_of(one), HasSubstr("walk: tiles of 256 elements, then the total of the "
                                      "preceding tiles is combined into each\nthreads: up to 3, "));
  EXPECT_EQ(threads_of(one, 0, 3), 3u);
  EXPECT_EQ(out_[199999], 200000);
}

TEST_F(DescribeMethod, OneThread) {
  guf_method_block small = block(GUF_METHOD_REDUCE, 10, 100);
  EXPECT_THAT(
      text_of(small),
      HasSubstr("threads: 1, as the work, 1000, is too small to share: the minimum is 32768\n"));
  EXPECT_EQ(threads_of(small, 0, 1), 1u);
  guf_method_block ordered = block(GUF_METHOD_REDUCE, 1, 100000);
  EXPECT_THAT(text_of(ordered, 1), HasSubstr("threads: 1, as the call requests one\n"));
  ordered.flags = GUF_METHOD_ANY_THREAD;
  EXPECT_THAT(text_of(ordered),
              HasSubstr("threads: 1, as the elements of a result are reduced in order\n"));
  EXPECT_EQ(threads_of(ordered, 0, 1), 1u);
  ordered.flags = GUF_METHOD_TREE;
  EXPECT_THAT(text_of(ordered), HasSubstr("as the loop must not run in threads of the backend\n"));
  EXPECT_EQ(threads_of(ordered, 0, 1), 1u);
  grant("1");
  const guf_method_block large = block(GUF_METHOD_REDUCE, 1000, 300);
  EXPECT_THAT(text_of(large), HasSubstr("threads: 1, by GUFUNC_NUM_THREADS\n"));
  EXPECT_EQ(threads_of(large, 0, 1), 1u);
  grant("3");
}

TEST_F(DescribeMethod, ReduceatWithAndWithoutIndices) {
  guf_method_block stretches = block(GUF_METHOD_REDUCEAT, 1, 100000);
  std::vector<int64_t> indices(1000);
  std::iota(indices.begin(), indices.end(), 0);
  stretches.nindices = 1000;
  EXPECT_THAT(
      text_of(stretches),
      HasSubstr(
          "walk: slice by slice, work estimated as for ascending indices\nthreads: up to 3, "));
  stretches.indices = indices.data();
  EXPECT_THAT(text_of(stretches), HasSubstr("walk: slice by slice\nthreads: up to 3, "));
  // Each segment has one element, except the last one, which has 10.
  std::fill(indices.begin(), indices.end(), 99990);
  EXPECT_THAT(
      text_of(stretches),
      HasSubstr("threads: 1, as the work, 1009, is too small to share: the minimum is 32768"));
  EXPECT_EQ(threads_of(stretches, 0, 1), 1u);
}

TEST_F(DescribeMethod, AtKeepsTheOrder) {
  guf_method_block places = block(GUF_METHOD_AT, 1, 100000);
  places.nindices = 100000;
  EXPECT_THAT(
      text_of(places),
      HasSubstr(
          "walk: runs of indices that are all different, gathered "
          "and scattered\nthreads: 1, as the indices are applied in order\ninstructions: up to "));
  places.input_dtype = GUF_I32;
  EXPECT_THAT(text_of(places),
              HasSubstr("with operands converted to the loop's dtype and byte order in blocks"));
}

TEST_F(DescribeMethod, FpFlags) {
  guf_method_block looked = block(GUF_METHOD_REDUCE, 1, 1000);
  const guf_fp_status fp_status = {};
  guf_backend_method requested = request(looked, 0, nullptr);
  requested.fp_status = &fp_status;
  char text[1024] = "";
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error), GUF_OK);
  EXPECT_THAT(text, HasSubstr("; floating-point flags are computed for every step\n"));
}

TEST_F(DescribeMethod, FillsTheBufferAndNoMore) {
  const guf_method_block small = block(GUF_METHOD_REDUCE, 10, 100);
  const std::string whole = text_of(small);
  const guf_backend_method requested = request(small, 0, nullptr);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{20}, whole.size()}) {
    std::vector<char> text(size + 1, '\x55');
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().describe_method(cpu_device(), &requested, text.data(), size, &error), GUF_OK);
    if (size > 0) {
      EXPECT_EQ(std::string(text.data()), whole.substr(0, size - 1));
    }
    EXPECT_EQ(text[size], '\x55');
  }
}

TEST_F(DescribeMethod, RefusesUnknownFlagsAndMethods) {
  guf_method_block unknown = block(GUF_METHOD_REDUCE, 10, 100);
  unknown.flags |= 1U << 30;
  const guf_backend_method requested = request(unknown, 0, nullptr);
  char text[10];
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().describe_method(cpu_device(), &requested, text, sizeof text, &error),
            GUF_E_UNSUPPORTED);
}

}  // namespace

}  // namespace gufunc::cpu
