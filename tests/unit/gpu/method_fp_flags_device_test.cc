// SPDX-License-Identifier: Apache-2.0
// Tests the floating-point flags of methods: device entries report the same flags as the cpu, and
// the result has the same bits as without flags. Failures of loops use the same status word.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/method_queue.h"
#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/cpu/method_case.h"
#include "tests/unit/gpu/fold_loops.h"

namespace gufunc::gpu {
namespace {

constexpr uint32_t kAllFpFlags =
    GUF_FP_DIVIDE | GUF_FP_OVERFLOW | GUF_FP_UNDERFLOW | GUF_FP_INVALID | GUF_FP_INTEGER_DIVIDE;

struct FpStatusCase {
  int32_t method = GUF_METHOD_REDUCE;
  const char *function = "add";
  guf_dtype dtype = GUF_F64;
  bool tree = true, masked = false, initial = false;
  uint32_t function_flags = 0;
  int64_t kept = 1, size = 1;
  std::vector<int64_t> indices;
};

// A method call over the rows of a contiguous array. For `at`, `size` is the number of operations.
struct CallWithFpStatus {
  CallWithFpStatus(const FpStatusCase &row, std::mt19937 &random);
  cpu::Value value(std::mt19937 &random) const;

  const FpStatusCase &row;
  size_t bytes;
  std::vector<unsigned char> input, output, mask;
  std::vector<int64_t> places, operands;
  guf_method_block block = {};
  guf_fp_status fp_status = {};
  guf_backend_method method = {};
};

// Returns a value for a test: usually an ordinary number, sometimes a value that raises a flag.
cpu::Value CallWithFpStatus::value(std::mt19937 &random) const {
  const double odd[] = {1e300, -1e300, 1e-300, 3e38, 6e4, 1e-5,     2e-38,
                        0.0,   -0.0,   1e-45,  5e-8, NAN, INFINITY, -INFINITY};
  const auto number = [&] {
    return random() % 60 == 0 ? odd[random() % (sizeof odd / sizeof *odd)]
                              : 1 + static_cast<double>(random() % 1000) / 4096;
  };
  const double parts[2] = {number(), row.dtype == GUF_C64 ? number() : 0.0};
  cpu::Value wide = {};
  std::memcpy(wide.data(), parts, sizeof parts);
  if (row.dtype == GUF_I32) {
    const int32_t integer = static_cast<int32_t>(random() % 50) - 3;
    std::memcpy(wide.data(), &integer, sizeof integer);
    return wide;
  }
  return cpu::converted(wide, GUF_C128, row.dtype);
}

CallWithFpStatus::CallWithFpStatus(const FpStatusCase &expected, std::mt19937 &random)
    : row(expected), bytes(dtype_size(expected.dtype)) {
  const auto count = static_cast<size_t>(row.kept * row.size), size = static_cast<size_t>(row.size);
  input.resize(count * bytes);
  output.resize(std::max(count, row.indices.size() * static_cast<size_t>(row.kept)) * bytes);
  for (size_t i = 0; i < count; ++i) std::memcpy(&input[i * bytes], value(random).data(), bytes);
  if (row.method == GUF_METHOD_AT) output = input;
  mask.resize(count);
  for (unsigned char &each : mask) each = random() % 3 != 0;
  block.method = row.method;
  block.flags = (row.tree ? uint32_t{GUF_METHOD_TREE} : 0) |
                (row.masked ? uint32_t{GUF_METHOD_MASKED} : 0) |
                (row.initial ? uint32_t{GUF_METHOD_INITIAL} : 0);
  const auto element = static_cast<int64_t>(bytes);
  block.nkept = 1;
  block.items = static_cast<uint64_t>(row.kept);
  block.kept_size[0] = row.kept;
  const bool several = row.method != GUF_METHOD_REDUCE;
  block.kept_input_step[0] = row.size * element;
  block.kept_output_step[0] = several ? row.size * element : element;
  if (row.method == GUF_METHOD_REDUCEAT) {
    block.kept_output_step[0] = static_cast<int64_t>(row.indices.size()) * element;
  }
  block.kept_mask_step[0] = row.size;
  if (row.method != GUF_METHOD_AT) {
    block.nfold = 1;
    block.fold_size[0] = row.size;
    block.fold_input_step[0] = block.fold_output_step = element;
    block.fold_mask_step[0] = 1;
    places = row.indices;
  } else {
    for (size_t i = 0; i < size; ++i) {
      places.push_back(static_cast<int64_t>(random() % (size + 1) / 2) * element);
      operands.push_back(static_cast<int64_t>(i) * element);
    }
  }
  block.indices = places.data();
  block.operand_indices = operands.data();
  block.nindices = static_cast<int64_t>(places.size());
  block.input = reinterpret_cast<uint64_t>(input.data());
  block.output = reinterpret_cast<uint64_t>(output.data());
  block.mask = reinterpret_cast<uint64_t>(mask.data());
  block.input_dtype = block.output_dtype = block.loop_dtype = row.dtype;
  std::memcpy(block.initial, value(random).data(), sizeof block.initial);
  fp_status.name = row.function;
  fp_status.function_flags = row.function_flags;
  fp_status.report = kAllFpFlags;
  method.block = &block;
}

FpStatusCase random_watched(std::mt19937 &random) {
  constexpr int32_t kMethods[] = {GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE, GUF_METHOD_REDUCEAT,
                                  GUF_METHOD_AT};
  FpStatusCase row;
  row.method = kMethods[random() % 4];
  row.tree = random() % 3 != 0;
  constexpr const char *kTrees[] = {"add", "multiply", "maximum", "fmin"};
  row.function = row.tree ? kTrees[random() % 4] : "subtract";
  constexpr guf_dtype kDtypes[] = {GUF_F16, GUF_BF16, GUF_F32, GUF_F64, GUF_C64};
  row.dtype = kDtypes[random() % 5];
  if (!row.tree && random() % 3 == 0) row.dtype = GUF_I32;
  if (!row.tree && row.dtype == GUF_F64 && random() % 2 == 0) row.function = "divide";
  row.masked = row.method == GUF_METHOD_REDUCE && random() % 3 == 0;
  row.initial = row.masked || (row.method == GUF_METHOD_REDUCE && random() % 3 == 0);
  row.function_flags = (random() % 2 == 0 ? uint32_t{GUF_FUNCTION_UNDERFLOWS} : 0) |
                       (random() % 2 == 0 ? uint32_t{GUF_FUNCTION_DIVIDES} : 0);
  row.kept = 1 + random() % 4;
  row.size = 1 + random() % (random() % 4 == 0 ? 700 : 30);
  const auto size = static_cast<uint64_t>(row.size);
  if (row.method == GUF_METHOD_REDUCEAT) {
    for (uint64_t k = 1 + random() % 6; k > 0; --k) {
      row.indices.push_back(static_cast<int64_t>(random() % size));
    }
  }
  return row;
}

class DeviceFpFlags : public testing::Test {
 protected:
  static void SetUpTestSuite() { cpu::cpu(); }
};

TEST_F(DeviceFpFlags, AreThoseOfTheCpu) {
  std::mt19937 random(11);
  uint32_t seen = 0;
  for (int i = 0; i < 3000; ++i) {
    const FpStatusCase row = random_watched(random);
    const std::mt19937 same = random;
    std::mt19937 a = same, b = same, c = same;
    CallWithFpStatus on_cpu(row, a), reporting(row, b), plain(row, c);
    uint32_t right = 0;
    on_cpu.fp_status.flags = &right;
    on_cpu.method.fp_status = &on_cpu.fp_status;
    const cpu::MethodLoop loop = cpu::find_method_loop(row.function, row.dtype);
    on_cpu.method.kernel = loop.kernel;
    on_cpu.method.fold = loop.fold;
    guf_error error = fresh_error();
    ASSERT_EQ(cpu::cpu().method(cpu::cpu_device(), &on_cpu.method, &error), GUF_OK)
        << error.message;
    reporting.method.fp_status = &reporting.fp_status;
    HostSink commands(fold_loop(row.function, row.dtype)),
        unwatched(fold_loop(row.function, row.dtype));
    ASSERT_EQ(queue_method(reporting.method, commands, &error), GUF_OK) << error.message;
    ASSERT_EQ(queue_method(plain.method, unwatched, &error), GUF_OK) << error.message;
    ASSERT_EQ(commands.status(), right)
        << "case " << i << ": method " << row.method << ' ' << row.function << " of 0x" << std::hex
        << row.dtype << std::dec << ", " << row.kept << " x " << row.size
        << (row.tree ? " tree" : "") << (row.masked ? " masked" : "");
    ASSERT_EQ(unwatched.status(), 0U);
    ASSERT_EQ(reporting.output == plain.output, true) << "case " << i;
    seen |= right;
  }
  EXPECT_EQ(seen, kAllFpFlags);
}

// `accumulate` does not need the total of the last tile. If it added this total to the total of the
// other tiles, the additional operation could raise a flag.
TEST_F(DeviceFpFlags, OfAccumulateLeaveOutTheLastTotal) {
  constexpr size_t kTiles = 258, kTile = 256;
  std::vector<double> data(kTiles * kTile), results(data.size());
  data[0] = -1.7e308;
  data[256 * kTile] = data[257 * kTile] = 1.7e308;
  guf_method_block block = {};
  block.method = GUF_METHOD_ACCUMULATE;
  block.flags = GUF_METHOD_TREE;
  block.items = 1;
  block.nfold = 1;
  block.fold_size[0] = static_cast<int64_t>(data.size());
  block.fold_input_step[0] = block.fold_output_step = 8;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(results.data());
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F64;
  guf_fp_status fp_status = {};
  fp_status.report = kAllFpFlags;
  guf_backend_method method = {};
  method.block = &block;
  method.fp_status = &fp_status;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("add", GUF_F64));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  EXPECT_EQ(commands.status(), 0U);
  EXPECT_EQ(results.back(), 1.7e308);
}

// The sum overflows, but the caller requests only GUF_FP_INVALID.
TEST_F(DeviceFpFlags, OnlyRequested) {
  std::vector<double> data = {1e308, 1e308, -INFINITY};
  double sum = 0;
  guf_method_block block = {};
  block.method = GUF_METHOD_REDUCE;
  block.flags = GUF_METHOD_TREE;
  block.items = 1;
  block.nfold = 1;
  block.fold_size[0] = 3;
  block.fold_input_step[0] = 8;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(&sum);
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_F64;
  guf_fp_status fp_status = {};
  fp_status.fail = GUF_FP_INVALID;
  guf_backend_method method = {};
  method.block = &block;
  method.fp_status = &fp_status;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("add", GUF_F64));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  EXPECT_EQ(commands.status(), uint32_t{GUF_FP_INVALID});
  EXPECT_TRUE(std::isnan(sum));
}

// The loop fails on values of 200 or more. It never receives masked elements.
TEST_F(DeviceFpFlags, FailuresOfLoopsAreReported) {
  for (const int32_t kind : {GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE, GUF_METHOD_REDUCEAT}) {
    for (const uint32_t flags : {0U, uint32_t{GUF_METHOD_TREE}}) {
      std::vector<unsigned char> data(5000, 7), mask(5000, 1), results(5000);
      const int64_t indices[] = {3, 2000, 1};
      guf_method_block block = {};
      block.method = kind;
      block.flags = flags | GUF_METHOD_STATUS;
      block.items = 1;
      block.nfold = 1;
      block.fold_size[0] = 5000;
      block.fold_input_step[0] = block.fold_mask_step[0] = block.fold_output_step = 1;
      block.input = reinterpret_cast<uint64_t>(data.data());
      block.mask = reinterpret_cast<uint64_t>(mask.data());
      block.output = reinterpret_cast<uint64_t>(results.data());
      block.indices = indices;
      block.nindices = kind == GUF_METHOD_REDUCEAT ? 3 : 0;
      block.input_dtype = block.output_dtype = block.loop_dtype = GUF_U8;
      guf_backend_method method = {};
      method.block = &block;
      const auto status_of = [&] {
        guf_error error = fresh_error();
        HostSink commands(fold_loop("small_maximum", GUF_U8));
        EXPECT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
        return commands.status();
      };
      EXPECT_EQ(status_of(), 0U);
      EXPECT_EQ(results[0], 7);
      data[3777] = 250;
      EXPECT_EQ(status_of(), 0x80000000U) << kind;
      if (kind != GUF_METHOD_REDUCE) continue;
      mask[3777] = 0;
      block.flags |= GUF_METHOD_MASKED | GUF_METHOD_INITIAL;
      EXPECT_EQ(status_of(), 0U);
    }
  }
}

TEST_F(DeviceFpFlags, FailuresOfUnaryAtAreReported) {
  std::vector<int16_t> data = {1, 2, 77};
  const int64_t places[] = {0, 2, 0};
  guf_method_block block = {};
  block.method = GUF_METHOD_AT;
  block.flags = GUF_METHOD_STATUS;
  block.items = 1;
  block.indices = places;
  block.nindices = 3;
  block.output = reinterpret_cast<uint64_t>(data.data());
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_I16;
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink fine(fold_loop("small_negative", GUF_I16));
  ASSERT_EQ(queue_method(method, fine, &error), GUF_OK) << error.message;
  EXPECT_EQ(fine.status(), 0U);
  EXPECT_EQ(data, (std::vector<int16_t>{1, -2, 77}));
  const int64_t failing[] = {0, 4, 0};
  block.indices = failing;
  HostSink commands(fold_loop("small_negative", GUF_I16));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  EXPECT_EQ(commands.status(), 0x80000000U);
}

}  // namespace
}  // namespace gufunc::gpu
