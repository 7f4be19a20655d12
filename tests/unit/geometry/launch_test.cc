// SPDX-License-Identifier: Apache-2.0
// Tests that a launch visits exactly the items that broadcasting defines, in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/broadcast/broadcast.h"
#include "core/call/masked_copy.h"
#include "core/geometry/launch.h"
#include "tests/unit/call_view_sample.h"

namespace gufunc {
namespace {

using Item = std::vector<uint64_t>;  // one address per operand, then the address of the mask

// A planned call. The dtypes of its loop are the dtypes of the operands.
struct Planned {
  explicit Planned(CallViewSample *call) {
    op::Loop &loop = *loop_;
    for (int32_t i = 0; i < call->view().noperands; ++i) {
      loop.types[static_cast<size_t>(i)] = call->view().operand[i].layout.dtype;
    }
    status = broadcast::broadcast_operands(call->view(), shape.get(), &call->error);
    if (status != GUF_OK) return;
    const resolve::Choice choice = {&loop, 0, 0};
    status = geometry::make_launch({call->view(), *shape, choice}, launch.get(), &call->error);
  }

  guf_status status;
  std::unique_ptr<op::Loop> loop_ = std::make_unique<op::Loop>();
  std::unique_ptr<broadcast::LoopShape> shape = std::make_unique<broadcast::LoopShape>();
  std::unique_ptr<geometry::Launch> launch = std::make_unique<geometry::Launch>();
};

// One dimension of a launch: its extent, and the stride of each operand.
struct Dimension {
  int64_t extent;
  std::vector<int64_t> step;
};

std::vector<Dimension> dimensions(const geometry::Launch &launch) {
  const guf_launch_block &block = launch.block;
  const bool masked = (block.flags & GUF_LAUNCH_MASKED) != 0;
  std::vector<Dimension> found;
  const auto add = [&](int64_t extent, const int64_t *step, int64_t mask_step) {
    found.push_back({extent, std::vector<int64_t>(step, step + block.noperands)});
    if (masked) found.back().step.push_back(mask_step);
  };
  for (int32_t k = 0; k < block.nloop; ++k) {
    add(k == 0 ? block.size[0] : block.outer_size[k - 1],
        k == 0 ? block.step : block.outer_step[k - 1], masked ? block.mask_step[k] : 0);
  }
  for (int32_t k = 0; k < launch.nexcess; ++k) {
    add(launch.excess_size[k], launch.excess_step[k], launch.excess_mask_step[k]);
  }
  return found;
}

void visit(const std::vector<Dimension> &dims, size_t k, Item item, std::vector<Item> *out) {
  if (k == dims.size()) {
    out->push_back(std::move(item));
    return;
  }
  for (int64_t n = 0; n < dims[k].extent; ++n) {
    Item next = item;
    for (size_t i = 0; i < next.size(); ++i) next[i] += static_cast<uint64_t>(n * dims[k].step[i]);
    visit(dims, k + 1, std::move(next), out);
  }
}

std::vector<Item> items_of(const geometry::Launch &launch) {
  Item first(launch.block.address, launch.block.address + launch.block.noperands);
  if ((launch.block.flags & GUF_LAUNCH_MASKED) != 0) first.push_back(launch.block.mask);
  std::vector<Item> items;
  visit(dimensions(launch), 0, first, &items);
  std::sort(items.begin(), items.end());
  return items;
}

// Computes the items by NumPy's definition: pads shapes with ones, broadcasts the shapes, and
// visits all indices.
std::vector<Item> items_by_definition(const op::CallView &call, const broadcast::LoopShape &loop) {
  std::vector<const array::Layout *> layouts;
  Item first;
  for (int32_t i = 0; i < call.noperands; ++i) layouts.push_back(&call.operand[i].layout);
  if (call.has_where) layouts.push_back(&call.where.layout);
  std::vector<Dimension> dims;
  for (int32_t k = 0; k < loop.ndim; ++k) dims.push_back({loop.extent[k], {}});
  for (size_t i = 0; i < layouts.size(); ++i) {
    const array::Layout &layout = *layouts[i];
    first.push_back(layout.address);
    const int32_t core = i < static_cast<size_t>(call.noperands) ? loop.core_ndim[i] : 0;
    for (int32_t k = 0; k < loop.ndim; ++k) {
      const int32_t axis = k - (loop.ndim - (layout.ndim - core));
      const bool stretched = axis < 0 || layout.shape[axis] == 1;
      dims[static_cast<size_t>(k)].step.push_back(stretched ? 0 : layout.strides[axis]);
    }
  }
  std::vector<Item> items;
  visit(dims, 0, first, &items);
  std::sort(items.begin(), items.end());
  return items;
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(engine_); }

  // Makes an operand with axes in random memory order. Some axes are reversed or have gaps.
  View operand(const std::vector<int64_t> &shape, guf_dtype dtype, bool may_stretch) {
    View made = shaped(shape, {}, dtype, 0x100000);
    if (may_stretch) {
      for (int64_t &extent : made.shape) {
        if (below(4) == 0) extent = 1;
      }
      made.shape.erase(made.shape.begin(),
                       made.shape.begin() + below(static_cast<int64_t>(shape.size()) + 1) / 2);
    }
    std::vector<size_t> order(made.shape.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = order.size() - 1 - k;
    if (below(2) == 0) std::shuffle(order.begin(), order.end(), engine_);
    made.strides.resize(order.size());
    int64_t stride = dtype::itemsize(dtype);
    for (const size_t axis : order) {
      const int64_t gap = below(6) == 0 ? 2 : 1;
      made.strides[axis] = stride * gap * (below(5) == 0 ? -1 : 1);
      stride *= gap * made.shape[axis];
    }
    return made;
  }

 private:
  std::mt19937 engine_;
};

void check_random(uint32_t seed, int64_t max_ndim, int64_t max_extent) {
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> shape(static_cast<size_t>(random.below(max_ndim + 1)));
    for (int64_t &extent : shape) extent = 1 + random.below(max_extent);
    CallViewSample call("f", "", "", 2,
                        {random.operand(shape, GUF_F32, true), random.operand(shape, GUF_F64, true),
                         random.operand(shape, GUF_I16, false)});
    if (random.below(3) == 0) call.set_where(random.operand(shape, GUF_BOOL, true));
    const Planned planned(&call);
    ASSERT_EQ(planned.status, GUF_OK) << call.error.message;
    EXPECT_EQ(items_of(*planned.launch), items_by_definition(call.view(), *planned.shape))
        << "round " << round;
    uint64_t items = planned.launch->block.items;
    for (int32_t k = 0; k < planned.launch->nexcess; ++k) {
      items *= static_cast<uint64_t>(planned.launch->excess_size[k]);
    }
    EXPECT_EQ(items, planned.shape->items);
  }
}

TEST(LoopAxes, VisitTheAxesOfBroadcasting) {
  check_random(1, 5, 4);
}

TEST(LoopAxes, VisitMoreDimensionsThanABlockHolds) {
  check_random(2, 14, 2);
}

TEST(LoopAxes, ContiguousOperandsAreOneDimension) {
  const std::vector<int64_t> shape = {4, 5, 6};
  CallViewSample call("f", "", "", 2, {shaped(shape), shaped(shape), shaped(shape)});
  const Planned planned(&call);
  EXPECT_EQ(planned.launch->block.nloop, 1);
  EXPECT_EQ(planned.launch->block.size[0], 120);
  EXPECT_EQ(planned.launch->block.step[0], 8);
  EXPECT_EQ(planned.launch->block.flags, static_cast<uint32_t>(GUF_LAUNCH_ANY_THREAD));
}

TEST(LoopAxes, FortranOrderIsWalkedInMemoryOrder) {
  const View fortran = shaped({4, 5, 6}, {8, 32, 160});
  CallViewSample call("f", "", "", 1, {fortran, fortran});
  const Planned planned(&call);
  EXPECT_EQ(planned.launch->block.nloop, 1);
}

TEST(LoopAxes, ReversedOperandsRunForwards) {
  const View reversed = shaped({10}, {-8}, GUF_F64, 0x10048);
  CallViewSample call("f", "", "", 1, {reversed, reversed});
  const Planned planned(&call);
  EXPECT_EQ(planned.launch->block.step[0], 8);
  EXPECT_EQ(planned.launch->block.address[0], 0x10000U);
}

TEST(LoopAxes, OneReversedOperandKeepsItsDirection) {
  CallViewSample call("f", "", "", 1, {shaped({10}, {-8}), shaped({10}, {8})});
  const Planned planned(&call);
  EXPECT_EQ(planned.launch->block.step[0], -8);
  EXPECT_EQ(planned.launch->block.step[1], 8);
}

TEST(LoopAxes, FlagsUnalignedOperands) {
  const View odd = shaped({10}, {8}, GUF_F64, 0x10001), odd_stride = shaped({10}, {12});
  CallViewSample call("f", "", "", 2, {odd, odd_stride, shaped({10}, {8})});
  const Planned planned(&call);
  const guf_launch_block &block = planned.launch->block;
  EXPECT_NE(block.operand_flags[0] & GUF_LAUNCH_OPERAND_UNALIGNED, 0U);
  EXPECT_NE(block.operand_flags[1] & GUF_LAUNCH_OPERAND_UNALIGNED, 0U);
  EXPECT_EQ(block.operand_flags[2] & GUF_LAUNCH_OPERAND_UNALIGNED, 0U);
  EXPECT_NE(block.flags & GUF_LAUNCH_SWAPPED, 0U);
}

TEST(LoopAxes, GufuncBlocksCarryCoreSizesAndStrides) {
  // The call is a matmul of 6 matrices of shape (2, 3) with one matrix of shape (3, 4).
  CallViewSample call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                      {shaped({6, 2, 3}), shaped({3, 4}), shaped({6, 2, 4})});
  const Planned planned(&call);
  ASSERT_EQ(planned.status, GUF_OK) << call.error.message;
  const guf_launch_block &block = planned.launch->block;
  EXPECT_NE(block.flags & GUF_LAUNCH_GENERALIZED, 0U);
  EXPECT_EQ(std::vector<int64_t>(block.size, block.size + 4), (std::vector<int64_t>{6, 2, 3, 4}));
  EXPECT_EQ(std::vector<int64_t>(block.step, block.step + 9),
            (std::vector<int64_t>{48, 0, 64, 24, 8, 32, 8, 32, 8}));
  EXPECT_EQ(block.ncorestrides, 6);
  EXPECT_EQ(std::vector<int>(block.core_name, block.core_name + 6),
            (std::vector<int>{0, 1, 1, 2, 0, 2}));
}

TEST(LoopAxes, MissingOptionalDimensionsAreOneWithStrideZero) {
  CallViewSample call("matmul", "(n?,k),(k,m?)->(n?,m?)", "", 2,
                      {shaped({3}), shaped({3, 4}), shaped({4})});
  const Planned planned(&call);
  ASSERT_EQ(planned.status, GUF_OK) << call.error.message;
  const guf_launch_block &block = planned.launch->block;
  EXPECT_EQ(std::vector<int64_t>(block.size, block.size + 4), (std::vector<int64_t>{1, 1, 3, 4}));
  EXPECT_EQ(std::vector<int64_t>(block.step + 3, block.step + 9),
            (std::vector<int64_t>{0, 8, 32, 8, 0, 8}));
}

// Operands without elements may be at address 0, so a loop must not advance the addresses of such
// operands.
TEST(LoopAxes, OperandsWithoutElementsStayInPlace) {
  std::vector<View> operands = {shaped({11, 1, 3, 2, 0}, {}, GUF_F64, 0),
                                shaped({11, 1, 1, 0, 4}, {-64, 8, 8, 1 << 20, 24}, GUF_F64, 0),
                                shaped({11, 1, 3, 2, 4})};
  CallViewSample call("matmul", "(n,k),(k,m)->(n,m)", "", 2, operands);
  const Planned planned(&call);
  ASSERT_EQ(planned.status, GUF_OK);
  const guf_launch_block &block = planned.launch->block;
  EXPECT_EQ(block.items, 33U);
  for (int32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(block.address[i], 0U);
    for (const Dimension &dimension : dimensions(*planned.launch))
      EXPECT_EQ(dimension.step[static_cast<size_t>(i)], 0);
  }
  EXPECT_EQ(std::vector<int64_t>(block.step + 3, block.step + 7), std::vector<int64_t>(4, 0));
  EXPECT_EQ(std::vector<int64_t>(block.step + 7, block.step + 9), (std::vector<int64_t>{32, 8}));
}

// The remaining tests call internal functions, because the C API rejects such calls.

guf_status plan_again(CallViewSample &call, const Planned &planned) {
  return geometry::make_launch({call.view(), *planned.shape, {planned.loop_.get(), 0, 0}},
                               planned.launch.get(), &call.error);
}

TEST(LoopAxes, RefuseMoreDimensionsThanALaunchHolds) {
  for (const char *signature : {"", "(n)->(n)"}) {
    CallViewSample call("f", signature, "", 1, {shaped({2, 3}), shaped({2, 3})});
    Planned planned(&call);
    ASSERT_EQ(planned.status, GUF_OK);
    planned.shape->ndim = GUF_MAX_NDIM + 1;
    ASSERT_EQ(plan_again(call, planned), GUF_E_INTERNAL);
    EXPECT_STREQ(call.error.message, "expected at most 64 loop dimensions, got 65");
  }
}

TEST(LoopAxes, RefuseMoreCoreDimensionsThanABlockHolds) {
  CallViewSample call("f", "(n)->()", "", 1, {shaped({2, 3}), shaped({2})});
  Planned planned(&call);
  ASSERT_EQ(planned.status, GUF_OK);
  op::Signature &signature = call.ufunc().signature;
  signature.operand_dims.assign(2 * GUF_MAX_CORE_STRIDES, 0);
  signature.core_ndim[0] = 2 * GUF_MAX_CORE_STRIDES;
  planned.shape->missing = 1;  // simulates a call whose operand 0 lacks core dimension n
  EXPECT_EQ(plan_again(call, planned), GUF_E_INTERNAL);
  signature.core_ndim[0] = 1;
  signature.core_ndim[1] = GUF_MAX_CORE_STRIDES;
  EXPECT_EQ(plan_again(call, planned), GUF_E_INTERNAL);
  signature.core_ndim[1] = 0;
  EXPECT_EQ(plan_again(call, planned), GUF_OK);
  signature.dims.resize(2 * GUF_MAX_CORE_NAMES);
  EXPECT_EQ(plan_again(call, planned), GUF_E_INTERNAL);
  EXPECT_STREQ(call.error.message, "f: expected at most 64 core dimensions, 16 of them distinct");
}

TEST(LoopAxes, RefuseMoreAxesThanAMaskedCopyHolds) {
  const std::vector<int64_t> shape(2 * GUF_MAX_NDIM, 2), strides(shape.size(), 8);
  CallViewSample call("f", "", "", 1, {shaped({2}), shaped({2})});
  call.set_where(shaped({2}, {}, GUF_BOOL));
  const array::Layout layout = {GUF_F64, static_cast<int32_t>(shape.size()), shape.data(),
                                strides.data(), 0x10000};
  const auto copy = std::make_unique<call::MaskedCopy>();
  EXPECT_EQ(copy->prepare(call.view(), {layout, false}, {layout, false}, 0, &call.error),
            GUF_E_INTERNAL)
      << call.error.message;
  array::Layout fewer = layout;
  fewer.ndim = GUF_MAX_NDIM - 1;
  EXPECT_EQ(copy->prepare(call.view(), {fewer, false}, {fewer, false}, 0, &call.error),
            GUF_E_SHAPE);
}

}  // namespace
}  // namespace gufunc
