// SPDX-License-Identifier: Apache-2.0
// Compares reduce, accumulate and reduceat on device entries with the reference of the cpu tests,
// which implements docs/reductions.md. The bits must be equal for every layout of the operands.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/gpu/geometry/method_queue.h"
#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/cpu/method_case.h"
#include "tests/unit/gpu/fold_loops.h"

namespace gufunc::gpu {
namespace {

using cpu::MethodCase;

constexpr guf_dtype kDtypes[] = {GUF_BOOL, GUF_I8,  GUF_U8,  GUF_I16, GUF_U16,
                                 GUF_I32,  GUF_U32, GUF_I64, GUF_U64, GUF_F16,
                                 GUF_BF16, GUF_F32, GUF_F64, GUF_C64, GUF_C128};

class DeviceMethod : public testing::Test {
 protected:
  static void SetUpTestSuite() { cpu::cpu(); }

  static void expect_right(const MethodCase &row) {
    const std::vector<unsigned char> right = cpu::right_answer(row);
    const std::vector<unsigned char> found =
        cpu::run_case_by(row, [&](guf_backend_method *method, guf_error *error) {
          HostSink commands(fold_loop(row.function, row.dtype));
          return queue_method(*method, commands, error);
        });
    std::string where;
    for (size_t i = 0; i < right.size() && where.size() < 300; ++i) {
      if (i < found.size() && found[i] != right[i]) {
        where += " [" + std::to_string(i) + "] " + std::to_string(found[i]) + " for " +
                 std::to_string(right[i]);
      }
    }
    ASSERT_EQ(where, "") << row.text();
  }
};

MethodCase one_dim(int64_t size, guf_dtype dtype) {
  MethodCase row;
  row.dtype = dtype;
  row.fold = {{size}};
  row.seed = static_cast<unsigned>(size);
  return row;
}

TEST_F(DeviceMethod, ReducesEverySizeOfEveryDtype) {
  for (const guf_dtype dtype : kDtypes) {
    for (int64_t size = 1; size <= 300; ++size) {
      if (size > 40 && size % 8 > 1 && size % 8 < 7) continue;
      expect_right(one_dim(size, dtype));
    }
  }
}

TEST_F(DeviceMethod, ReducesSizesAroundBoundaries) {
  // The sizes are near the boundaries of base blocks, of groups of base blocks, and of one launch
  // of tree nodes.
  for (const int64_t boundary : {1000, 4096, 5000, 8192, 32768, 65536}) {
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

// Reduces the rows or the columns of an array. The number of rows or columns is large or small.
TEST_F(DeviceMethod, ReducesEitherAxis) {
  for (const bool columns : {false, true}) {
    for (const auto &[kept, fold] :
         {std::pair{300, 300}, {3, 20000}, {70, 1300}, {9000, 5}, {33, 129}, {1, 9}, {257, 7}}) {
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
TEST_F(DeviceMethod, ReducesSeveralDimensions) {
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

TEST_F(DeviceMethod, FoldsFromTheLeft) {
  for (const int64_t size : {1, 511, 513, 1500, 20000}) {
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

TEST_F(DeviceMethod, AccumulatesSizesAroundBoundaries) {
  for (const int64_t boundary : {8, 16, 256, 512, 32768, 65536}) {
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

TEST_F(DeviceMethod, AccumulatesEitherAxis) {
  for (const bool columns : {false, true}) {
    for (const auto &[kept, fold] : {std::pair{300, 300}, {3, 1000}, {70, 257}, {200, 5}}) {
      for (const guf_dtype dtype : {GUF_F32, GUF_F16, GUF_I64}) {
        MethodCase row = one_dim(fold, dtype);
        row.method = GUF_METHOD_ACCUMULATE;
        row.kept = {{kept}};
        row.kept[0].place = columns ? -1 : 1;
        expect_right(row);
        row.in_place = true;
        expect_right(row);
      }
    }
  }
}

// One call has segments of every size class: a few elements, one base block, and the elements of
// one piece, of several pieces and of many pieces. A piece is a run of elements that the device
// reduces to one intermediate result.
TEST_F(DeviceMethod, ReducesStretches) {
  for (const guf_dtype dtype : {GUF_F32, GUF_F16, GUF_I64}) {
    for (const int64_t kept : {1, 3, 40}) {
      for (const bool columns : {false, true}) {
        MethodCase row = one_dim(kept == 1 ? 70000 : 9500, dtype);
        row.method = GUF_METHOD_REDUCEAT;
        row.kept = {{kept}};
        row.kept[0].place = columns ? -1 : 1;
        row.indices = {5,    9,    9,    17,   145, 146, 400,  4600, 4500,
                       8700, 8701, 8709, 9000, 3,   2,   9499, 0};
        expect_right(row);
        row.tree = false;
        row.function = "subtract";
        if (dtype != GUF_I64) expect_right(row);
      }
    }
  }
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRandomCases = 120;
#else
constexpr int kRandomCases = 700;
#endif

class RandomDeviceMethod : public DeviceMethod, public testing::WithParamInterface<int32_t> {};

TEST_P(RandomDeviceMethod, ReturnsTheBitsOfTheReference) {
  std::mt19937 random(static_cast<unsigned>(GetParam()) + 100);
  for (int i = 0; i < kRandomCases; ++i) {
    MethodCase row = cpu::random_case(random, GetParam());
    row.use_fold = true;  // device entries always use the accumulators of the tree
    expect_right(row);
    if (HasFatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, RandomDeviceMethod,
                         testing::Values(GUF_METHOD_REDUCE, GUF_METHOD_ACCUMULATE,
                                         GUF_METHOD_REDUCEAT));

}  // namespace
}  // namespace gufunc::gpu
