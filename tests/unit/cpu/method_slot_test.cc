// SPDX-License-Identifier: Apache-2.0
// Compares reduce, accumulate and reduceat with a simple reference. The bits must be equal for
// every layout of the operands and every number of threads.
#include <algorithm>
#include <cstring>

#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/cpu/method_case.h"

namespace gufunc::cpu {
namespace {

constexpr guf_dtype kDtypes[] = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                                 GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                                 GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};

class Method : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    cpu();
    test_host().config["GUFUNC_NUM_THREADS"] = "7";
  }

  static void expect_right(const MethodCase &row) {
    const std::vector<unsigned char> right = right_answer(row);
    for (const uint32_t threads : {1u, 2u, 3u, 7u}) {
      const std::vector<unsigned char> found = run_case(row, threads);
      std::string where;
      for (size_t i = 0; i < right.size() && where.size() < 300; ++i) {
        if (i < found.size() && found[i] != right[i]) {
          where += " [" + std::to_string(i) + "] " + std::to_string(found[i]) + " for " +
                   std::to_string(right[i]);
        }
      }
      ASSERT_EQ(where, "") << row.text() << "; threads " << threads;
    }
  }
};

MethodCase one_dim(int64_t size, guf_dtype dtype) {
  MethodCase row;
  row.dtype = dtype;
  row.fold = {{size}};
  row.seed = static_cast<unsigned>(size);
  return row;
}

TEST_F(Method, ReducesEverySizeOfEveryDtype) {
  for (const guf_dtype dtype : kDtypes) {
    for (int64_t size = 1; size <= 300; ++size) {
      if (size > 40 && size % 8 > 1 && size % 8 < 7) continue;
      expect_right(one_dim(size, dtype));
    }
  }
}

TEST_F(Method, ReducesSizesAroundBoundaries) {
  for (const int64_t boundary : {1024, 32768, 65536}) {
    for (int64_t size = boundary - 1; size <= boundary + 1; ++size) {
      for (const guf_dtype dtype : {GUF_F32, GUF_F16, GUF_I64, GUF_C128}) {
        MethodCase row = one_dim(size, dtype);
        expect_right(row);
        row.exact = dtype == GUF_I64;
        row.masked = row.initial = true;
        expect_right(row);
      }
    }
  }
}

// Reduces along rows and along columns. The sizes are large enough to be split between threads.
TEST_F(Method, ReducesEitherAxis) {
  for (const bool columns : {false, true}) {
    for (const auto &[kept, fold] : {std::pair{300, 300}, {3, 20000}, {70, 1300}, {9000, 5}}) {
      for (const guf_dtype dtype : {GUF_F32, GUF_BF16, GUF_U8, GUF_C64}) {
        MethodCase row = one_dim(fold, dtype);
        row.kept = {{kept}};
        row.kept[0].place = columns ? -1 : 1;
        expect_right(row);
        row.function = "multiply";
        row.input = GUF_I16;
        expect_right(row);
      }
    }
  }
}

// Reduces several dimensions in either memory order. Each dimension is reduced as its own tree.
TEST_F(Method, ReducesSeveralDimensions) {
  for (const bool reversed : {false, true}) {
    for (const auto &sizes : std::vector<std::vector<int64_t>>{
             {200, 200}, {2, 18000}, {17000, 2}, {130, 7, 30}, {5, 1000, 4}}) {
      for (const guf_dtype dtype : {GUF_F32, GUF_F16, GUF_I32, GUF_C128}) {
        MethodCase row = one_dim(1, dtype);
        row.fold.clear();
        for (const int64_t size : sizes) {
          row.fold.push_back({size});
          row.fold.back().place = static_cast<int>(row.fold.size()) * (reversed ? -1 : 1);
        }
        row.exact = dtype == GUF_I32;
        expect_right(row);
        row.masked = row.initial = true;
        row.kept = {{3}};
        expect_right(row);
      }
    }
  }
}

// Computes one left fold, or several left folds over rows or over columns, with and without a cast.
TEST_F(Method, FoldsFromTheLeft) {
  for (const int64_t size : {1, 511, 512, 513, 1500, 40000}) {
    for (const int64_t kept : {1, 3, 200}) {
      if (size * kept > 400000) continue;
      for (const guf_dtype input : {GUF_F32, GUF_I16}) {
        for (const bool columns : {false, true}) {
          MethodCase row = one_dim(size, GUF_F32);
          row.function = "subtract";
          row.tree = false;
          row.input = input;
          row.kept = {{kept}};
          row.kept[0].place = columns ? -1 : 1;
          expect_right(row);
          row.initial = true;
          expect_right(row);
        }
      }
    }
  }
}

TEST_F(Method, AccumulatesSizesAroundBoundaries) {
  for (const int64_t boundary : {8, 256, 512, 65536}) {
    for (int64_t size = boundary - 1; size <= boundary + 1; ++size) {
      for (const guf_dtype dtype : {GUF_F32, GUF_F16, GUF_I8, GUF_C128}) {
        MethodCase row = one_dim(size, dtype);
        row.method = GUF_METHOD_ACCUMULATE;
        expect_right(row);
        row.tree = false;
        row.function = "subtract";
        if (dtype != GUF_I8) expect_right(row);
      }
    }
  }
}

unsigned char joined(const MethodLoop &loop, unsigned char a, unsigned char b) {
  char x = static_cast<char>(a), y = static_cast<char>(b), out = 0;
  char *args[3] = {&x, &y, &out};
  const int64_t one = 1, steps[3] = {1, 1, 1};
  reinterpret_cast<guf_loop_numpy>(loop.kernel)(args, &one, steps, nullptr);
  return static_cast<unsigned char>(out);
}

unsigned char reduced(const MethodLoop &loop, const std::vector<unsigned char> &truth,
                      uint32_t threads) {
  unsigned char found = 2;
  guf_method_block block = {};
  block.method = GUF_METHOD_REDUCE;
  block.flags = GUF_METHOD_ANY_THREAD | GUF_METHOD_TREE | GUF_METHOD_EXACT;
  block.items = 1;
  block.nfold = 1;
  block.fold_size[0] = static_cast<int64_t>(truth.size());
  block.fold_input_step[0] = 1;
  block.input = reinterpret_cast<uint64_t>(truth.data());
  block.output = reinterpret_cast<uint64_t>(&found);
  block.input_dtype = block.output_dtype = block.loop_dtype = GUF_BOOL;
  guf_backend_method method = {};
  method.block = &block;
  method.kernel = loop.kernel;
  method.fold = loop.fold;
  method.max_threads = threads;
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().method(cpu_device(), &method, &error), GUF_OK) << error.message;
  return found;
}

// Only one element differs from the others, at several positions. A reduction that stops early must
// return the same result as a full reduction.
TEST_F(Method, ReducesTruthThatOneElementDecides) {
  for (const char *function : {"logical_or", "logical_and", "logical_xor", "maximum"}) {
    const MethodLoop loop = find_method_loop(function, GUF_BOOL);
    for (const size_t size : {size_t{2}, size_t{300}, size_t{8192}, size_t{9000}, size_t{400000}}) {
      for (const size_t place : {size_t{0}, size - 1, size / 2, std::min(size - 1, size_t{8191})}) {
        for (const bool others : {false, true}) {
          std::vector<unsigned char> truth(size, others ? 1 : 0);
          truth[place] = others ? 0 : 1;
          unsigned char right = truth[0];
          for (size_t i = 1; i < size; ++i) right = joined(loop, right, truth[i]);
          for (const uint32_t threads : {1u, 3u}) {
            EXPECT_EQ(reduced(loop, truth, threads), right)
                << function << " of " << size << " at " << place << "; threads " << threads;
          }
        }
      }
    }
  }
}

// Each case is ten times slower with a sanitizer. Builds without sanitizers run all cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRandomCases = 120;
#else
constexpr int kRandomCases = 1000;
#endif

class RandomMethod : public Method, public testing::WithParamInterface<int32_t> {};

TEST_P(RandomMethod, ReturnsTheBitsOfTheReference) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int i = 0; i < kRandomCases; ++i) {
    expect_right(random_case(random, GetParam()));
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, RandomMethod,
                         testing::Values(GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE,
                                         GUF_METHOD_REDUCEAT));

// run_case overwrites the block and the indices after it has queued the call, so the backend must
// copy both.
TEST_F(Method, QueuesOnStreams) {
  void *stream = nullptr;
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().stream_open(cpu_device(), 0, 0, &stream, &error), GUF_OK);
  for (const int32_t method : {GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE, GUF_METHOD_REDUCEAT}) {
    MethodCase row = one_dim(200000, GUF_F32);
    row.method = method;
    if (method == GUF_METHOD_REDUCEAT) row.indices = {5, 1000, 70, 199999};
    EXPECT_EQ(run_case(row, 0, stream) == right_answer(row), true) << row.text();
  }
  cpu().stream_close(stream);
}

TEST_F(Method, RefusesUnknownFlagsAndMethods) {
  guf_method_block block = {};
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  block.method = GUF_METHOD_REDUCE;
  block.flags = 1u << 20;
  EXPECT_EQ(cpu().method(cpu_device(), &method, &error), GUF_E_UNSUPPORTED) << error.message;
  block.flags = 0;
  block.method = 9;
  EXPECT_EQ(cpu().method(cpu_device(), &method, &error), GUF_E_UNSUPPORTED) << error.message;
}

// A uint8 loop that fails if an operand is 200 or more. Only loops of methods with
// GUF_METHOD_STATUS may fail.
guf_status fails_from_200(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto a = static_cast<unsigned char>(args[0][i * steps[0]]);
    const auto b = static_cast<unsigned char>(args[1][i * steps[1]]);
    if (a >= 200 || b >= 200) return GUF_E_VALUE;
    args[2][i * steps[2]] = static_cast<char>(std::max(a, b));
  }
  return GUF_OK;
}

struct FailingCall {
  std::vector<unsigned char> input = std::vector<unsigned char>(100000, 7);
  std::vector<unsigned char> mask = std::vector<unsigned char>(100000, 1);
  unsigned char output = 0;
  guf_status run(uint32_t flags, guf_error *error) {
    guf_method_block block = {};
    block.method = GUF_METHOD_REDUCE;
    block.flags = GUF_METHOD_STATUS | GUF_METHOD_ANY_THREAD | flags;
    block.items = 1;
    block.nfold = 1;
    block.fold_size[0] = static_cast<int64_t>(input.size());
    block.fold_input_step[0] = block.fold_mask_step[0] = 1;
    block.input = reinterpret_cast<uint64_t>(input.data());
    block.mask = reinterpret_cast<uint64_t>(mask.data());
    block.output = reinterpret_cast<uint64_t>(&output);
    block.input_dtype = block.output_dtype = block.loop_dtype = GUF_U8;
    guf_backend_method method = {};
    method.block = &block;
    method.kernel = reinterpret_cast<void *>(fails_from_200);
    method.failure = "no value of 200 or more";
    return cpu().method(cpu_device(), &method, error);
  }
};

TEST_F(Method, ReportsALoopThatFails) {
  for (const uint32_t flags : {0u, uint32_t{GUF_METHOD_TREE}}) {
    FailingCall call;
    guf_error error = fresh_error();
    EXPECT_EQ(call.run(flags, &error), GUF_OK);
    EXPECT_EQ(call.output, 7);
    call.input[77777] = 250;
    EXPECT_EQ(call.run(flags, &error), GUF_E_VALUE);
    EXPECT_STREQ(error.message, "no value of 200 or more");
    // The loop never receives masked elements, so this call succeeds.
    call.mask[77777] = 0;
    EXPECT_EQ(call.run(flags | GUF_METHOD_MASKED | GUF_METHOD_INITIAL, &error), GUF_OK)
        << error.message;
    EXPECT_EQ(call.output, 7);
  }
}

}  // namespace
}  // namespace gufunc::cpu
