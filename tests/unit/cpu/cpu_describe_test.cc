// SPDX-License-Identifier: Apache-2.0
// Compares the text of describe_launch with the observed behaviour of the launch.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
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
  // Records the cost of an ordinary loop, so that the load of the machine has no influence.
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

}  // namespace
}  // namespace gufunc::cpu
