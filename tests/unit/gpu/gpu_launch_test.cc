// SPDX-License-Identifier: Apache-2.0
// Runs the commands of random launches on the host. Compares every byte of the operands' memory,
// and the status word, with a simple evaluation.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "backends/gpu/geometry/launch_queue.h"
#include "tests/unit/gpu/counting_sink.h"
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
  guf_error error = {};
  error.struct_size = sizeof error;
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

}  // namespace
}  // namespace gufunc::gpu::test
