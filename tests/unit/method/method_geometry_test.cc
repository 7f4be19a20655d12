// SPDX-License-Identifier: Apache-2.0
// Tests the launch blocks of a geometry, whose dimensions are dropped, reversed, sorted, coalesced,
// or iterated outside the block.
#include "core/method/geometry.h"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "core/method/indices.h"
#include "tests/unit/call_view_sample.h"

namespace gufunc::method {
namespace {

using testing::ElementsAre;

std::vector<guf_method_block> seen;

guf_status record(void *, const guf_backend_method *method, guf_error *) {
  seen.push_back(*method->block);
  return GUF_OK;
}

// A geometry without memory. Its addresses are only numbers.
struct Sample {
  explicit Sample(guf_dtype dtype, uint32_t flags)
      : call("folded", "", "", 2, std::vector<View>(3, shaped({}, {}, dtype))) {
    seen.clear();
    backend.api.method = record;
    device.backend = &backend;
    call.view().device = &device;
    call.ufunc().flags = flags;
    loop.types = {dtype, dtype, dtype};
    op::CallView &view = call.view();
    view.operand[1].layout.address = 0x10000;
    view.operand[2].layout.address = 0x20000;
    begin(GUF_METHOD_REDUCE, view, loop, &view.operand[1], view.operand[2], &geometry);
  }
  void launch() { EXPECT_EQ(run(call.view(), loop, {}, &geometry, nullptr), GUF_OK); }

  CallViewSample call;
  backend::Backend backend;
  backend::Device device;
  op::Loop loop;
  Geometry geometry;
};

constexpr uint32_t kReorders = GUF_FUNCTION_ASSOCIATIVE | GUF_FUNCTION_COMMUTATIVE;

TEST(MethodGeometry, SetsTheFlagsOfTheOrder) {
  EXPECT_EQ(Sample(GUF_F64, kReorders).geometry.block.flags & 0x21U, GUF_METHOD_TREE);
  EXPECT_EQ(Sample(GUF_I64, kReorders).geometry.block.flags & 0x21U,
            uint32_t{GUF_METHOD_TREE | GUF_METHOD_EXACT});
  EXPECT_EQ(Sample(GUF_I64, GUF_FUNCTION_ASSOCIATIVE).geometry.block.flags & 0x21U, 0u);
  EXPECT_EQ(Sample(GUF_F64, 0).geometry.block.flags & 0x21U, 0u);
}

TEST(MethodGeometry, MergesKeptDimensionsOfAnyOrder) {
  Sample sample(GUF_F64, kReorders);
  sample.geometry.keep({4, 80, 8, 0});
  sample.geometry.keep({1, 5, 5, 0});
  sample.geometry.keep({3, 320, 32, 0});
  sample.launch();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].nkept, 1);
  EXPECT_EQ(seen[0].items, 12u);
  EXPECT_EQ(seen[0].kept_size[0], 12);
  EXPECT_EQ(seen[0].kept_input_step[0], 80);
  EXPECT_EQ(seen[0].kept_output_step[0], 8);
}

TEST(MethodGeometry, WalksTheOutputForwards) {
  Sample sample(GUF_F64, kReorders);
  sample.geometry.keep({3, 8, 24, 0});
  sample.geometry.keep({5, -48, -8, 0});
  sample.launch();
  ASSERT_EQ(seen[0].nkept, 2);
  EXPECT_EQ(seen[0].kept_size[0], 5);
  EXPECT_EQ(seen[0].kept_output_step[0], 8);
  EXPECT_EQ(seen[0].kept_input_step[0], 48);
  EXPECT_EQ(seen[0].output, 0x20000u - 32);
  EXPECT_EQ(seen[0].input, 0x10000u - 4 * 48);
}

TEST(MethodGeometry, ReducedAxesMergeOnlyIfExact) {
  for (const bool exact : {false, true}) {
    Sample sample(exact ? GUF_I64 : GUF_F64, kReorders);
    sample.geometry.reduce({6, 40, 0, 0});
    sample.geometry.reduce({1, 3, 0, 0});
    sample.geometry.reduce({5, 8, 0, 0});
    merge_folds(&sample.geometry);
    sample.launch();
    ASSERT_EQ(seen[0].nfold, exact ? 1 : 2);
    EXPECT_EQ(seen[0].fold_size[0], exact ? 30 : 6);
    EXPECT_EQ(seen[0].fold_input_step[0], exact ? 8 : 40);
  }
}

TEST(MethodGeometry, FirstOfManyReducedAxesCountAsOne) {
  Sample sample(GUF_F64, kReorders);
  int64_t step = 8;
  for (int32_t k = 0; k < 10; ++k) {
    sample.geometry.reduce({2, step, 0, 0});
    step *= 2;
  }
  merge_folds(&sample.geometry);
  sample.launch();
  ASSERT_EQ(seen[0].nfold, GUF_MAX_LOOP_NDIM);
  EXPECT_EQ(seen[0].fold_size[6], 2);
  EXPECT_EQ(seen[0].fold_size[7], 8);
  EXPECT_EQ(seen[0].fold_input_step[7], 8 * 128);
}

TEST(MethodGeometry, RefusesMoreReducedAxesThanABlockHolds) {
  Sample sample(GUF_F64, 0);
  for (int32_t k = 0; k <= GUF_MAX_LOOP_NDIM; ++k) sample.geometry.reduce({0, 8, 0, 0});
  const uint64_t output = sample.geometry.block.output;
  EXPECT_EQ(run(sample.call.view(), sample.loop, {}, &sample.geometry, nullptr), GUF_E_INTERNAL);
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(sample.geometry.block.output, output);
}

// guf_explain also computes the geometry of arrays without elements, whose strides are arbitrary.
TEST(MethodGeometry, StridesWithOverflowingProductsDoNotMerge) {
  Sample sample(GUF_F64, 0);
  sample.geometry.keep({2, int64_t{1} << 62, 0, 0});
  sample.geometry.keep({2, INT64_MIN, 0, 0});
  sample.geometry.keep({int64_t{1} << 62, 0, 8, 0});
  sample.geometry.reduce({2, int64_t{1} << 62, 0, 0});
  sample.geometry.reduce({2, INT64_MIN, 0, 0});
  merge_folds(&sample.geometry);
  sample.launch();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].nkept, 3);
  EXPECT_EQ(seen[0].nfold, 2);
}

// The last index offset fits into int64, but the product of stride and extent does not.
TEST(IndexOffsets, AnOperandWhoseStrideTimesExtentOverflows) {
  constexpr int64_t kFar = int64_t{1} << 62;
  const int64_t shape[] = {2, 2}, strides[] = {kFar, 8};
  const auto view = std::make_unique<AtView>();
  view->array.layout.ndim = view->nindices = 1;
  IndexOffsets offsets;
  offsets.ndim = 2;
  offsets.shape[0] = offsets.shape[1] = 2;
  offsets.array.resize(4);
  set_operand_offsets(*view, {GUF_F64, 2, shape, strides, 0}, &offsets);
  EXPECT_THAT(offsets.operand, ElementsAre(0, 8, kFar, kFar + 8));
}

TEST(MethodGeometry, RefusesMoreDimensionsThanAnArrayHas) {
  for (const bool kept : {false, true}) {
    Sample sample(GUF_I64, kReorders);
    for (int32_t k = 0; k <= GUF_MAX_NDIM; ++k) {
      const Axis axis = {2, 0, 0, 0};
      kept ? sample.geometry.keep(axis) : sample.geometry.reduce(axis);
    }
    EXPECT_EQ(kept ? sample.geometry.nkept : sample.geometry.nreduced, GUF_MAX_NDIM);
    if (!kept) sample.geometry.nreduced = 1;  // simulates dimensions that were coalesced
    EXPECT_EQ(run(sample.call.view(), sample.loop, {}, &sample.geometry, nullptr), GUF_E_INTERNAL);
    EXPECT_TRUE(seen.empty());
  }
}

TEST(MethodGeometry, LoopsOverAxesBeyondTheBlock) {
  Sample sample(GUF_F64, kReorders);
  int64_t step = 8;
  for (int32_t k = 0; k < 10; ++k) {
    sample.geometry.keep({2, 3 * step, step, 0});
    step *= 3;
  }
  sample.launch();
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0].items, 256u);
  std::vector<uint64_t> outputs;
  for (const guf_method_block &block : seen) outputs.push_back(block.output - 0x20000);
  const uint64_t eighth = 8 * 6561;
  EXPECT_THAT(outputs, ElementsAre(0, eighth, 3 * eighth, 4 * eighth));
  EXPECT_EQ(seen[3].input, 0x10000 + 12 * eighth);
}

TEST(MethodGeometry, FlagsUnalignedOperands) {
  Sample sample(GUF_F64, kReorders);
  sample.geometry.keep({2, 12, 8, 0});
  sample.launch();
  EXPECT_NE(seen[0].input_flags & GUF_LAUNCH_OPERAND_UNALIGNED, 0u);
  EXPECT_EQ(seen[0].output_flags & GUF_LAUNCH_OPERAND_UNALIGNED, 0u);
}

// A launch of `at` is unaligned if one of its offsets is, even if all other strides are aligned.
TEST(IndexOffsets, CollectTheBitsOfAllOffsets) {
  const int64_t shape[] = {5, 4}, strides[] = {12, 32};
  const int64_t rows[] = {0, 3}, columns[] = {1, -1};
  const int64_t count[] = {2}, index_strides[] = {8}, operand_strides[] = {20};
  auto view = std::make_unique<AtView>();
  view->array.layout = {GUF_F64, 2, shape, strides, 0x10000};
  view->nindices = 2;
  for (const auto &[k, values] : {std::pair(0, rows), std::pair(1, columns)}) {
    view->index[k].kind = GUF_OPERAND_TENSOR;
    view->index[k].layout = {GUF_I64, 1, count, index_strides, reinterpret_cast<uint64_t>(values)};
  }
  IndexOffsets offsets;
  ASSERT_EQ(find_offsets(*view, Elements::kRead, &offsets, nullptr), GUF_OK);
  EXPECT_THAT(offsets.array, ElementsAre(32, 3 * 12 + 3 * 32));
  EXPECT_EQ(offsets.array_bits, 32U | (3 * 12 + 3 * 32));
  set_operand_offsets(*view, {GUF_F64, 1, count, operand_strides, 0x20000}, &offsets);
  EXPECT_THAT(offsets.operand, ElementsAre(0, 20));
  EXPECT_EQ(offsets.operand_bits, 20U);
}

}  // namespace
}  // namespace gufunc::method
