// SPDX-License-Identifier: Apache-2.0
// Runs the commands of random launches on the host. Compares every byte of the operands' memory,
// and the status word, with a simple evaluation. Tests limits of the geometry: how large launches
// are divided, transposed inputs, rejected launches, and error messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/gpu/geometry/launch_queue.h"
#include "backends/gpu/geometry/launch_shape.h"
#include "backends/gpu/geometry/method_lanes.h"
#include "backends/gpu/geometry/method_passes.h"
#include "tests/support/fresh_error.h"
#include "tests/unit/gpu/host_sink.h"
#include "tests/unit/gpu/launch_case.h"

namespace gufunc::gpu::test {
namespace {

uint64_t number_of(const char *variable, uint64_t usual) {
  const char *const text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

// Returns the index of the first byte at which two buffers differ, or SIZE_MAX if they are equal.
size_t difference(const Memory &a, const Memory &b) {
  for (size_t i = 0; i < a.bytes(); ++i) {
    if (a.data()[i] != b.data()[i]) return i;
  }
  return SIZE_MAX;
}

void run_case(const LaunchCase &launch, CountingSink *commands) {
  std::vector<Memory> expected;
  const uint32_t wanted_status = evaluate_case(launch, &expected);
  guf_error error = fresh_error();
  guf_backend_launch request = {};
  request.struct_size = sizeof request;
  request.block = &launch.block;
  request.fp_status = launch.has_fp_status ? &launch.fp_status : nullptr;
  ASSERT_EQ(queue_launch(request, *commands, &error), GUF_OK) << error.message;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(difference(expected[i], launch.operand[i].memory), SIZE_MAX) << "operand " << i;
  }
  EXPECT_EQ(commands->status(), wanted_status);
  if (launch.block.items == 0) {
    EXPECT_EQ(commands->count, 0U);
  }
}

class GpuLaunch : public testing::TestWithParam<size_t> {};

TEST_P(GpuLaunch, SameAsNaiveEvaluation) {
  const SampleLoop &loop = sample_loops()[GetParam()];
  const uint64_t cases = number_of("GUFUNC_GPU_CASES", 200);
  const uint64_t first = number_of("GUFUNC_GPU_FIRST", 0);
  EntryCounts used = {};
  uint64_t vectors = 0;
  for (uint64_t seed = first; seed < first + cases; ++seed) {
    Random random(seed * 1000 + GetParam());
    const LaunchCase launch = make_case(loop, random);
    CountingSink commands(loop.entry);
    if (loop.ncore >= 0 && seed % 4 == 0) {
      commands.spilling = static_cast<Entry>(static_cast<uint64_t>(Entry::kThread) + seed / 4 % 4);
    }
    run_case(launch, &commands);
    if (HasFailure()) {
      FAIL() << "case " << seed << ": " << launch.text;
    }
    for (size_t e = 0; e < used.size(); ++e) used[e] += commands.used[e];
    vectors += commands.vectors;
  }
  if (cases < 100) return;
  for (size_t e = 0; e < loop.entry.size(); ++e) {
    if (loop.entry[e].run == nullptr) continue;
    EXPECT_GT(used[e], 0U) << "entry " << e << " of " << loop.name;
  }
  if (loop.ncore < 0) {
    EXPECT_GT(vectors, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Loops, GpuLaunch, testing::Range<size_t>(0, sample_loops().size()),
                         [](const auto &index) {
                           return std::string(sample_loops()[index.param].name);
                         });

const SampleLoop &loop_named(const std::string &name) {
  for (const SampleLoop &loop : sample_loops()) {
    if (name == loop.name) return loop;
  }
  return sample_loops()[0];
}

// Builds a launch over n contiguous elements.
guf_launch_block flat_launch(const SampleLoop &loop, int64_t n) {
  guf_launch_block block = {};
  block.noperands = loop.nin + loop.nout;
  block.nin = loop.nin;
  block.nloop = 1;
  block.items = static_cast<uint64_t>(n);
  block.size[0] = n;
  block.flags = GUF_LAUNCH_ANY_THREAD;
  for (int i = 0; i < block.noperands; ++i) {
    block.dtype[i] = block.loop_dtype[i] = loop.dtype[i];
    block.step[i] = bytes_of(loop.dtype[i]);
    block.operand_flags[i] = i < loop.nin ? GUF_LAUNCH_OPERAND_READ : GUF_LAUNCH_OPERAND_WRITTEN;
  }
  return block;
}

guf_status queue_block(const guf_launch_block &block, CommandSink &commands, guf_error *error) {
  *error = {};
  error->struct_size = sizeof *error;
  guf_backend_launch request = {};
  request.struct_size = sizeof request;
  request.block = &block;
  return queue_launch(request, commands, error);
}

// A dimension with one element can have any step. The step can therefore be INT64_MIN, whose
// absolute value does not fit into int64.
TEST(LaunchParts, AcceptTheSmallestStep) {
  EXPECT_EQ(abs_step(INT64_MIN), uint64_t{1} << 63);
  EXPECT_FALSE(can_merge_dims(0, INT64_MIN, 2)) << "the product overflows";
  EXPECT_TRUE(can_merge_dims(INT64_MIN, INT64_MIN / 2, 2));
  LaneDims lanes;
  lanes.add({2, INT64_MIN, 1, 8, -1});
  lanes.add({2, 8, 1, 16, -1});
  lanes.sort_and_merge();
  EXPECT_EQ(lanes[0].input, 8) << "the smallest step is first";
  EXPECT_EQ(lanes.min_abs_stride(), 8u);
  EXPECT_GT(tiling_of_leaves(lanes, INT64_MIN, 8).log2_lanes, 0u) << "the lanes are nearer";
  LaunchShape shape = {};
  shape.count = 1;
  for (const int64_t step : {INT64_MIN, int64_t{8}}) add_dimension(&shape, 2, &step, 0);
  sort_by_operand(&shape, 0);
  ASSERT_EQ(shape.ndim, 2);
  EXPECT_EQ(shape.step[0][0], 8);
}

TEST(LaunchParts, CoverEveryItemOnce) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    LaunchShape shape = {};
    shape.count = 1;
    shape.items = 1;
    shape.mask = 1000000;
    int64_t next = 1;
    for (uint64_t d = below(random, 6); d-- > 0;) {
      const auto size = static_cast<int64_t>(2 + below(random, 6));
      const int64_t step = next;
      add_dimension(&shape, size, &step, 2 * next + static_cast<int64_t>(below(random, 2)));
      shape.items *= static_cast<uint64_t>(size);
      next *= size;
    }
    std::vector<int> seen(shape.items, 0);
    const uint64_t limit = 1 + below(random, shape.items + 3);
    const guf_status status =
        for_each_part(shape, limit, [&](const LaunchShape &part) -> guf_status {
          EXPECT_LE(part.items, limit);
          uint64_t items = 1;
          for (int d = 0; d < part.ndim; ++d) items *= static_cast<uint64_t>(part.size[d]);
          EXPECT_EQ(items, part.items);
          for (uint64_t n = 0; n < items; ++n) {
            uint64_t rest = n, at = part.address[0];
            for (int d = 0; d < part.ndim; ++d) {
              at += rest % static_cast<uint64_t>(part.size[d]) *
                    static_cast<uint64_t>(part.step[d][0]);
              rest /= static_cast<uint64_t>(part.size[d]);
            }
            ++seen.at(at);
          }
          return GUF_OK;
        });
    EXPECT_EQ(status, GUF_OK);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<int64_t>(shape.items));
  }
}

TEST(LaunchParts, DivisorsAreExact) {
  Random random(3);
  const auto check = [](uint32_t d, uint32_t n) {
    ASSERT_EQ(guf::device::quotient(divisor_of(d), n), n / d) << n << " / " << d;
  };
  for (int round = 0; round < 200000; ++round) {
    const auto d =
        static_cast<uint32_t>(1 + (random() & 0x7FFFFFFE) % (1ULL << (1 + below(random, 31))));
    const auto n = static_cast<uint32_t>(random() & 0x7FFFFFFF);
    check(d, n);
    check(d, n / d * d);
    if (n / d * d > 0) check(d, n / d * d - 1);
  }
  check(0x7FFFFFFF, 0x7FFFFFFF);
  check(1, 0x7FFFFFFF);
}

// The second input is transposed. The launch copies it tile by tile, or reads it with its strides
// if there is no scratch memory.
TEST(LaunchParts, TransposedInput) {
  const SampleLoop &loop = loop_named("plus_f32");
  constexpr int64_t kRows = 300, kColumns = 260;
  for (const bool no_scratch : {false, true}) {
    std::vector<float> a(kRows * kColumns), b(a.size()), sum(a.size(), -1.0F);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(3 * i % 1000);
    }
    guf_launch_block block = flat_launch(loop, kColumns);
    block.nloop = 2;
    block.items = a.size();
    block.outer_size[0] = kRows;
    block.outer_step[0][0] = block.outer_step[0][2] = kColumns * 4;
    block.step[1] = kRows * 4;
    block.outer_step[0][1] = 4;
    block.address[0] = reinterpret_cast<uint64_t>(a.data());
    block.address[1] = reinterpret_cast<uint64_t>(b.data());
    block.address[2] = reinterpret_cast<uint64_t>(sum.data());
    CountingSink commands(loop.entry);
    commands.no_scratch = no_scratch;
    guf_error error;
    ASSERT_EQ(queue_block(block, commands, &error), GUF_OK) << error.message;
    EXPECT_EQ(commands.used[static_cast<size_t>(Entry::kTile4)], no_scratch ? 0U : 1U);
    for (int64_t r = 0; r < kRows; ++r) {
      for (int64_t c = 0; c < kColumns; ++c) {
        const auto at = static_cast<size_t>(r * kColumns + c);
        ASSERT_EQ(sum[at], a[at] + b[static_cast<size_t>(c * kRows + r)]);
      }
    }
  }
}

TEST(LaunchParts, Refusals) {
  const SampleLoop &loop = loop_named("plus_f32");
  CountingSink commands(loop.entry);
  guf_error error;
  guf_launch_block block = flat_launch(loop, 4);
  block.flags |= 1U << 20;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_UNSUPPORTED);
  block = flat_launch(loop, 4);
  block.noperands = 13;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("13"), std::string::npos) << error.message;
  EXPECT_NE(std::string(error.message).find("at most 12"), std::string::npos) << error.message;
  block = flat_launch(loop, 4);
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = 9;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_UNSUPPORTED);
  EXPECT_STREQ(error.message,
               "the signature has 9 core dimensions; on a device it may have at most 8");
  block = flat_launch(loop, 4);
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.core_ndim[2] = 5;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_UNSUPPORTED);
  EXPECT_STREQ(error.message, "operand 2 has 5 core dimensions; on a device it may have at most 4");
  block = flat_launch(loop, 4);
  block.dtype[1] = 0x82 | 12 << 8;
  block.flags |= GUF_LAUNCH_CAST;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_DTYPE);
  EXPECT_NE(std::string(error.message).find("operand 1"), std::string::npos) << error.message;
  block = flat_launch(loop, 4);
  block.operand_flags[0] |= GUF_LAUNCH_OPERAND_SWAPPED;
  commands.missing = Entry::kNd;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_NO_IMAGE);
  EXPECT_EQ(commands.count, 0U);
}

// A launch whose operand requires staging fails if there is no scratch memory.
TEST(LaunchParts, NeededScratch) {
  const SampleLoop &loop = loop_named("later");
  CountingSink commands(loop.entry);
  commands.no_scratch = true;
  int64_t a[4] = {}, b[4] = {}, sum[4] = {};
  guf_launch_block block = flat_launch(loop, 4);
  block.address[0] = reinterpret_cast<uint64_t>(a);
  block.address[1] = reinterpret_cast<uint64_t>(b);
  block.address[2] = reinterpret_cast<uint64_t>(sum);
  for (int i = 0; i < 3; ++i) block.loop_dtype[i] = block.dtype[i] = 0x81 | 7 << 8 | 1 << 16;
  block.dtype[0] = 0x81 | 4 << 8 | 1 << 16;
  block.flags |= GUF_LAUNCH_CAST;
  guf_error error;
  EXPECT_EQ(queue_block(block, commands, &error), GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(commands.count, 0U);
}

// A launch whose blocks use much local memory is split. This sink has 4 MiB of local memory per
// multiprocessor.
TEST(LaunchParts, LocalMemory) {
  const SampleLoop &loop = loop_named("demean_f32");
  constexpr int64_t kItems = 1000, kCore = 3;
  std::vector<float> x(kItems * kCore), y(kItems * kCore);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  guf_launch_block block = flat_launch(loop, kItems);
  block.flags |= GUF_LAUNCH_GENERALIZED;
  block.ncore = 1;
  block.size[1] = kCore;
  for (int i = 0; i < 2; ++i) {
    block.core_ndim[i] = 1;
    block.step[2 + i] = kItems * 4;  // each thread computes one item
  }
  block.address[0] = reinterpret_cast<uint64_t>(x.data());
  block.address[1] = reinterpret_cast<uint64_t>(y.data());
  for (const bool spills : {false, true}) {
    std::fill(y.begin(), y.end(), -7.0F);
    CountingSink commands(loop.entry);
    if (spills) commands.spilling = Entry::kThread;
    guf_error error;
    ASSERT_EQ(queue_block(block, commands, &error), GUF_OK) << error.message;
    // Two blocks of 128 work-items with 16 KiB each fit into 4 MiB, so each launch runs 2 of the 8
    // blocks.
    EXPECT_EQ(commands.used[static_cast<size_t>(Entry::kThread)], spills ? 4U : 1U);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t row = i / kItems;
      ASSERT_EQ(y[i], (static_cast<float>(row) - 1) * kItems);
    }
  }
}

TEST(LaunchParts, Description) {
  const SampleLoop &loop = loop_named("plus_f32");
  const CountingSink commands(loop.entry);
  guf_launch_block block = flat_launch(loop, 10000);
  block.address[0] = block.address[1] = block.address[2] = 4096;
  guf_backend_launch request = {};
  request.block = &block;
  guf_error error = {};
  char text[512];
  ASSERT_EQ(describe_launch_commands(request, commands, text, sizeof text, &error), GUF_OK);
  EXPECT_NE(std::string(text).find("5 blocks of 256 threads"), std::string::npos) << text;
  char small[9];
  ASSERT_EQ(describe_launch_commands(request, commands, small, sizeof small, &error), GUF_OK);
  EXPECT_EQ(std::strlen(small), sizeof small - 1);
}

}  // namespace

}  // namespace gufunc::gpu::test
