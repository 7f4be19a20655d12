// SPDX-License-Identifier: Apache-2.0
// Tests which operands are staged, in which order their copies are made and written back, and the
// layout of the copies.
#include "core/call/staging.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/unit/call_view_sample.h"

namespace gufunc::call {
namespace {

using testing::ElementsAre;

constexpr bool kLoad = true;
constexpr bool kStore = true;

// Describes a staged operand: its index, whether it is loaded, and whether it is stored.
using Entry = std::tuple<int32_t, bool, bool>;

std::vector<Entry> entries(const Staging &staging) {
  std::vector<Entry> found;
  for (const StagedOperand &staged : staging)
    found.emplace_back(staged.operand, staged.load, staged.store);
  return found;
}

View at(uint64_t address) {
  return shaped({3}, {}, GUF_F64, address);
}

View mask_at(uint64_t address) {
  return shaped({3}, {}, GUF_BOOL, address);
}

class StagedCall {
 public:
  StagedCall(int32_t nin, std::vector<View> operands)
      : sample_("staged", "", "", nin, std::move(operands)) {
    sample_.view().host_copies = op::HostCopies::kNone;
    loop_.types.fill(GUF_F64);
    device_.host_memory = false;
  }

  // Sets the roles of the operands, of which the last `nseparate` are separate outputs.
  void set_roles(const std::vector<int32_t> &roles, int32_t nseparate) {
    std::copy(roles.begin(), roles.end(), sample_.ufunc().signature.role.begin());
    sample_.view().noperands -= nseparate;
    sample_.view().nseparate = nseparate;
  }
  // Runs the call on a device that cannot access host memory. The given operands are in its memory.
  void run_on_device(const std::vector<int32_t> &device_operands) {
    sample_.view().host_copies = op::HostCopies::kSome;
    sample_.view().device = &device_;
    for (const int32_t i : device_operands) sample_.view().operand[i].device = &device_;
  }
  void set_where(View mask) { sample_.set_where(std::move(mask)); }

  std::vector<Entry> of_call() {
    OverlapCopies copies;
    const bool overlaps = find_overlaps(view(), &copies);
    return entries(Staging::of_call(view(), {&loop_, 0, 0}, overlaps ? &copies : nullptr));
  }
  std::vector<Entry> of_plan() {
    OverlapCopies copies = {0, 0, false};
    find_overlaps(view(), &copies);
    return entries(Staging::of_plan(view(), copies));
  }
  op::CallView &view() { return sample_.view(); }

 private:
  CallViewSample sample_;
  op::Loop loop_;
  backend::Device device_;
};

TEST(Staging, NothingIsStagedWithoutAReason) {
  StagedCall call(1, {at(0x1000), at(0x2000), at(0x3000)});
  call.set_where(mask_at(0x4000));
  EXPECT_THAT(call.of_call(), ElementsAre());
  EXPECT_THAT(call.of_plan(), ElementsAre());
}

// The first output overlaps the input and the mask. The second output overlaps the first output.
TEST(Staging, IsInTheOrderOfTheOperandsWithTheMaskLast) {
  StagedCall call(1, {at(0x1008), at(0x1000), at(0x1010)});
  call.set_where(mask_at(0x1001));
  const auto expected =
      ElementsAre(Entry{0, kLoad, !kStore}, Entry{2, kLoad, kStore}, Entry{3, kLoad, !kStore});
  EXPECT_THAT(call.of_call(), expected);
  EXPECT_THAT(call.of_plan(), expected);
}

// A launch of a plan may pass a mask that an earlier output overwrites.
TEST(Staging, PlanCopiesTheMaskOfAStagedOutput) {
  StagedCall call(1, {at(0x8000), at(0x1000), at(0x1010)});
  call.set_where(mask_at(0x4000));
  EXPECT_THAT(call.of_call(), ElementsAre(Entry{2, kLoad, kStore}));
  EXPECT_THAT(call.of_plan(), ElementsAre(Entry{2, kLoad, kStore}, Entry{3, kLoad, !kStore}));
}

// Two overlapping outputs are in managed memory, the first as host memory and the second as device
// memory. They are staged for different reasons, but written back in the order of the operands.
TEST(Staging, OutputsOnTwoDevicesAreInTheOrderOfTheOperands) {
  StagedCall call(1, {at(0x8000), at(0x1000), at(0x1010)});
  call.run_on_device({0, 2});
  EXPECT_THAT(call.of_call(), ElementsAre(Entry{1, !kLoad, kStore}, Entry{2, kLoad, kStore}));
  EXPECT_THAT(call.of_plan(), ElementsAre(Entry{2, kLoad, kStore}));
}

TEST(Staging, TransfersOperandsThatTheDeviceCannotAccess) {
  StagedCall call(0, {at(0x1000), at(0x2000), at(0x3000), at(0x4000)});
  call.set_roles({GUF_ROLE_IN, GUF_ROLE_INOUT, GUF_ROLE_OUT, GUF_ROLE_OUT}, 0);
  call.set_where(mask_at(0x5000));
  call.run_on_device({3});
  EXPECT_THAT(call.of_call(), ElementsAre(Entry{0, kLoad, !kStore}, Entry{1, kLoad, kStore},
                                          Entry{2, !kLoad, kStore}, Entry{4, kLoad, !kStore}));
  EXPECT_THAT(call.of_plan(), ElementsAre());
}

// Operand 0 is replaced by its separate output, which is the same view as the input.
TEST(Staging, CopiesAnInputThatASeparateOutputOverwrites) {
  StagedCall call(0, {at(0x1000), at(0x1000), at(0x1000)});
  call.set_roles({GUF_ROLE_INOUT, GUF_ROLE_IN}, 1);
  EXPECT_THAT(call.of_call(), ElementsAre(Entry{1, kLoad, !kStore}));
}

TEST(Staging, ComputesMaskedAndCastSeparateOutputsInACopy) {
  StagedCall masked(0, {at(0x1000), at(0x2000), at(0x1000)});
  masked.set_roles({GUF_ROLE_INOUT, GUF_ROLE_IN}, 1);
  masked.set_where(mask_at(0x3000));
  EXPECT_THAT(masked.of_call(), ElementsAre(Entry{0, !kLoad, kStore}));
  StagedCall cast(0, {shaped({3}, {}, GUF_F32, 0x1000), at(0x2000), at(0x1000)});
  cast.set_roles({GUF_ROLE_OUT, GUF_ROLE_IN}, 1);
  EXPECT_THAT(cast.of_call(), ElementsAre(Entry{0, kLoad, kStore}));
}

// The launch writes every element of the copy, so the old values are not transferred to the device.
TEST(Staging, DoesNotLoadASeparateOutputFromAnotherDevice) {
  StagedCall call(0, {at(0x1000), at(0x2000), at(0x1000)});
  call.set_roles({GUF_ROLE_OUT, GUF_ROLE_IN}, 1);
  call.run_on_device({1});
  EXPECT_THAT(call.of_call(), ElementsAre(Entry{0, !kLoad, kStore}));
}

TEST(Staging, CopiesAnInputThatTheKernelOverwrites) {
  const View matrix = shaped({3, 100, 100}, {}, GUF_F64, 0x100000);
  CallViewSample sample("staged", "(n,n)->()", "", 1, {matrix, shaped({3}, {}, GUF_F64, 0x1000)});
  sample.view().host_copies = op::HostCopies::kNone;
  const OverlapCopies none = {0, 0, false};
  const auto expected = ElementsAre(Entry{0, kLoad, !kStore});
  EXPECT_THAT(entries(Staging::of_call(sample.view(), {nullptr, 0, 0}, nullptr, true)), expected);
  const Staging staging = Staging::of_plan(sample.view(), none, true);
  EXPECT_THAT(entries(staging), expected);
  EXPECT_TRUE(staging.begin()->whole);
}

// Host loops copy small items themselves. Host functions of a program do not overwrite inputs.
TEST(Staging, KnowsWhichLaunchesOverwriteAnInput) {
  CallViewSample sample("staged", "(n,n)->()", "", 1, {shaped({2, 45, 45}), shaped({2})});
  backend::Device device;
  device.host_memory = true;
  sample.view().device = &device;
  op::Loop kernel;
  kernel.types.fill(GUF_F64);
  broadcast::LoopShape loop;
  loop.items = 2;
  loop.core_size[0] = 45;
  const auto overwrites = [&] { return overwrites_first(sample.view(), {&kernel, 0, 0}, loop); };
  EXPECT_FALSE(overwrites());
  sample.ufunc().flags = GUF_FUNCTION_OVERWRITES;
  EXPECT_FALSE(overwrites());
  loop.core_size[0] = 46;
  EXPECT_TRUE(overwrites());
  device.host_memory = false;
  loop.core_size[0] = 2;
  EXPECT_TRUE(overwrites());
  loop.core_size[0] = 0;
  EXPECT_FALSE(overwrites());
  loop.core_size[0] = 2;
  loop.items = 0;
  EXPECT_FALSE(overwrites());
  loop.items = 2;
  guf_module_function function = {};
  kernel.function = &function;  // a loop of a module, which another ufunc calls
  EXPECT_FALSE(overwrites());
  function.flags = GUF_FUNCTION_OVERWRITES;
  sample.ufunc().flags = 0;
  EXPECT_TRUE(overwrites());
  kernel.host = [] {};
  EXPECT_FALSE(overwrites());
}

TEST(StagedLayout, SpreadsAnOperandOverAllItems) {
  CallViewSample sample("staged", "(n,n)->()", "", 1,
                        {shaped({3, 1, 2, 2}, {64, 8, 8, 16}), shaped({4, 3, 5})});
  broadcast::LoopShape loop;
  loop.ndim = 3;
  std::copy_n(std::vector<int64_t>{4, 3, 5}.data(), 3, loop.extent);
  loop.core_ndim[0] = 2;
  loop.core_size[0] = 2;
  loop.missing = 0;
  SpreadLayout all;
  ASSERT_EQ(spread(sample.view(), loop, 0, &all, nullptr), GUF_OK);
  EXPECT_TRUE(all.repeats);
  EXPECT_THAT(std::vector<int64_t>(all.shape, all.shape + all.ndim), ElementsAre(4, 3, 5, 2, 2));
  EXPECT_THAT(std::vector<int64_t>(all.strides, all.strides + all.ndim),
              ElementsAre(0, 64, 0, 8, 16));
  const array::Layout operand = {GUF_F64, all.ndim, all.shape, all.strides, 0x1000};
  StagedLayout copy;
  ASSERT_EQ(lay_out_copy(operand, GUF_F64, true, &copy, nullptr), GUF_OK);
  EXPECT_EQ(copy.nbytes, 4U * 3 * 5 * 4 * 8);
  EXPECT_THAT(std::vector<int64_t>(copy.broadcast_strides, copy.broadcast_strides + 5),
              ElementsAre(480, 160, 32, 16, 8));
}

TEST(StagedLayout, ContainsBroadcastElementsOnce) {
  const int64_t shape[] = {4, 5, 6}, strides[] = {-48, 0, 8};
  const array::Layout operand = {GUF_F64, 3, shape, strides, 0x1000};
  StagedLayout copy;
  ASSERT_EQ(lay_out_copy(operand, GUF_F32, false, &copy, nullptr), GUF_OK);
  EXPECT_THAT(std::vector<int64_t>(copy.shape, copy.shape + 3), ElementsAre(4, 1, 6));
  EXPECT_THAT(std::vector<int64_t>(copy.strides, copy.strides + 3), ElementsAre(24, 24, 4));
  EXPECT_THAT(std::vector<int64_t>(copy.broadcast_strides, copy.broadcast_strides + 3),
              ElementsAre(24, 0, 4));
  EXPECT_EQ(copy.nbytes, 96U);
}

TEST(StagedLayout, CopiesInAWorkspaceAreAligned) {
  StagedLayout copy;
  copy.nbytes = 96;
  uint64_t size = 0, offset = 1;
  ASSERT_EQ(append_copy(copy, 0, &size, &offset, nullptr), GUF_OK);
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(size, 128U);
  ASSERT_EQ(append_copy(copy, 1, &size, &offset, nullptr), GUF_OK);
  EXPECT_EQ(offset, 128U);
  EXPECT_EQ(size, 256U);
  guf_error error = fresh_error();
  size = UINT64_MAX - 63;
  EXPECT_EQ(append_copy(copy, 2, &size, &offset, &error), GUF_E_SHAPE);
  EXPECT_EQ(error.argument, 2);
}

}  // namespace
}  // namespace gufunc::call
