// SPDX-License-Identifier: Apache-2.0
// Tests copies of elements. The launch blocks that the core passes to the convert slot have few
// dimensions, the dimension with the smallest stride is first, and the flags are correct. Between
// the host and a device whose memory the host cannot access, only contiguous bytes are transferred,
// and each device converts between contiguous bytes and its own strides.
#include "core/memory/transfer.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/backend/backend.h"
#include "tests/support/fresh_error.h"

namespace gufunc::memory {
namespace {

// Addresses of device memory that the host cannot access are shifted, so that a host access
// crashes.
constexpr uint64_t kShift = uint64_t{1} << 62;

// Provides a device that runs plain loops and counts its calls. The test chooses whether the host
// can access the memory of the device.
struct FakeDevice {
  explicit FakeDevice(bool host_memory, const char *spec) {
    backend.name = spec;
    backend.api.memory_alloc = alloc;
    backend.api.memory_free = free_memory;
    backend.api.copy = copy;
    backend.api.convert = convert;
    device.backend = &backend;
    device.native = this;
    device.host_memory = host_memory;
    device.spec = spec;
  }

  static guf_status alloc(void *device, uint64_t size, int32_t, void *, uint64_t *out_address,
                          guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    *out_address = reinterpret_cast<uint64_t>(std::malloc(size)) + self->shift();
    ++self->blocks;
    return GUF_OK;
  }
  static guf_status free_memory(void *device, uint64_t address, uint64_t, int32_t, void *,
                                guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    std::free(reinterpret_cast<void *>(address - self->shift()));
    --self->blocks;
    return GUF_OK;
  }
  static guf_status copy(void *device, void *, uint64_t dst, uint64_t src, uint64_t size,
                         int32_t kind, guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    if (kind != GUF_COPY_HOST_TO_DEVICE) src -= self->shift();
    if (kind != GUF_COPY_DEVICE_TO_HOST) dst -= self->shift();
    std::memcpy(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), size);
    ++self->copies;
    return GUF_OK;
  }

  // Copies elements between operands of the same dtype, and swaps bytes if the byte orders differ.
  // Rejects operands of different dtypes.
  static guf_status convert(void *device, void *, const guf_launch_block *block, guf_error *) {
    auto *const self = static_cast<FakeDevice *>(device);
    self->blocks_seen.push_back(*block);
    if (block->dtype[0] != block->dtype[1]) return GUF_E_DTYPE;
    const size_t itemsize = dtype::itemsize(block->dtype[0]);
    const bool swap_bytes =
        ((block->operand_flags[0] ^ block->operand_flags[1]) & GUF_LAUNCH_OPERAND_SWAPPED) != 0;
    for (uint64_t n = 0; n < block->items; ++n) {
      uint64_t rest = n;
      uint64_t from = block->address[0] - self->shift();
      uint64_t to = block->address[1] - self->shift();
      for (int32_t d = 0; d < block->nloop; ++d) {
        const auto extent =
            static_cast<uint64_t>(d == 0 ? block->size[0] : block->outer_size[d - 1]);
        const int64_t *const step = d == 0 ? block->step : block->outer_step[d - 1];
        from += rest % extent * static_cast<uint64_t>(step[0]);
        to += rest % extent * static_cast<uint64_t>(step[1]);
        rest /= extent;
      }
      std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), itemsize);
      auto *const bytes = reinterpret_cast<unsigned char *>(to);
      for (size_t i = 0; swap_bytes && i < itemsize / 2; ++i) {
        std::swap(bytes[i], bytes[itemsize - 1 - i]);
      }
    }
    return GUF_OK;
  }

  uint64_t shift() const { return device.host_memory ? 0 : kShift; }

  backend::Backend backend;
  backend::Device device;
  int blocks = 0;
  int copies = 0;
  std::vector<guf_launch_block> blocks_seen;
};

struct Row {
  const char *name;
  std::vector<int64_t> shape;
  std::vector<int64_t> to;    // strides in bytes
  std::vector<int64_t> from;  // strides in bytes
  int32_t loops;
  size_t blocks;
};

const Row kRows[] = {
    {"ScalarIsOneItem", {}, {}, {}, 0, 1},
    {"ContiguousIsOneLoop", {2, 3, 4}, {48, 16, 4}, {48, 16, 4}, 1, 1},
    {"FortranIsOneLoopToo", {2, 3, 4}, {4, 8, 24}, {4, 8, 24}, 1, 1},
    {"TransposeKeepsTwo", {3, 4}, {16, 4}, {4, 12}, 2, 1},
    {"BothBackwardsIsOneLoop", {3, 4}, {-16, -4}, {-16, -4}, 1, 1},
    {"OnesVanish", {1, 5, 1}, {999, 4, 7}, {3, 4, 5}, 1, 1},
    {"BroadcastRow", {3, 4}, {16, 4}, {0, 4}, 2, 1},
    {"EmptyIsNothing", {3, 0}, {4, 4}, {4, 4}, 0, 0},
    // The ten axes cannot be coalesced, and two of them are iterated outside the block.
    {"TenAxes",
     {2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
     {2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4},
     {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048},
     8,
     4},
};

array::Layout layout_of(const Row &row, const std::vector<int64_t> &strides, void *data) {
  uint64_t address = reinterpret_cast<uint64_t>(data);
  for (size_t axis = 0; axis < row.shape.size(); ++axis) {
    if (strides[axis] < 0) address -= static_cast<uint64_t>(strides[axis] * (row.shape[axis] - 1));
  }
  return {GUF_I32, static_cast<int32_t>(row.shape.size()), row.shape.data(), strides.data(),
          address};
}

TEST(ConvertBlocks, HaveTheFewestDimensions) {
  for (const Row &row : kRows) {
    FakeDevice fake(true, "fake");
    std::vector<int32_t> from(1100);
    std::vector<int32_t> to(1100, -1);
    std::iota(from.begin(), from.end(), 0);
    const CopyOperand target = {layout_of(row, row.to, to.data()), false};
    const CopyOperand source = {layout_of(row, row.from, from.data()), false};
    ASSERT_EQ(convert(fake.device, nullptr, target, source, nullptr), GUF_OK) << row.name;
    ASSERT_EQ(fake.blocks_seen.size(), row.blocks) << row.name;
    for (const guf_launch_block &block : fake.blocks_seen) EXPECT_EQ(block.nloop, row.loops);
    // All elements are compared, in C order.
    std::vector<int64_t> index(row.shape.size());
    uint64_t size = 1;
    for (const int64_t extent : row.shape) size *= static_cast<uint64_t>(extent);
    for (uint64_t n = 0; n < size; ++n) {
      uint64_t at = target.layout.address;
      uint64_t expected = source.layout.address;
      for (size_t axis = 0; axis < index.size(); ++axis) {
        at += static_cast<uint64_t>(index[axis] * row.to[axis]);
        expected += static_cast<uint64_t>(index[axis] * row.from[axis]);
      }
      ASSERT_EQ(*reinterpret_cast<int32_t *>(at), *reinterpret_cast<int32_t *>(expected))
          << row.name;
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < row.shape[axis]) break;
        index[axis] = 0;
      }
    }
  }
}

// If two dimensions have strides of 2^62 bytes, the product of stride and extent overflows int64.
TEST(ConvertBlocks, StepsWhoseProductOverflowsDoNotMerge) {
  static guf_launch_block seen;
  FakeDevice fake(true, "fake");
  fake.backend.api.convert = [](void *, void *, const guf_launch_block *block, guf_error *) {
    seen = *block;
    return guf_status{GUF_OK};
  };
  constexpr int64_t kFar = int64_t{1} << 62;
  const int64_t shape[] = {2, 2};
  const int64_t to[] = {8, 4}, from[] = {0, kFar};
  const array::Layout target = {GUF_I32, 2, shape, to, 8}, source = {GUF_I32, 2, shape, from, 8};
  ASSERT_EQ(convert(fake.device, nullptr, {target, false}, {source, false}, nullptr), GUF_OK);
  EXPECT_EQ(seen.nloop, 2);
  EXPECT_EQ(seen.items, 4U);
}

TEST(ConvertBlocks, RefuseMoreAxesThanAnArrayHas) {
  FakeDevice fake(true, "fake");
  const std::vector<int64_t> shape(2 * GUF_MAX_NDIM, 2), strides(shape.size(), 4);
  const array::Layout layout = {GUF_I32, static_cast<int32_t>(shape.size()), shape.data(),
                                strides.data(), 4096};
  guf_error error = fresh_error();
  EXPECT_EQ(convert(fake.device, nullptr, {layout, false}, {layout, false}, &error),
            GUF_E_INTERNAL);
  EXPECT_STREQ(error.message, "expected a copy of at most 64 axes, got 128");
  EXPECT_TRUE(fake.blocks_seen.empty());
}

TEST(ConvertBlocks, FlagsReportByteOrderAlignmentAndCasts) {
  FakeDevice fake(true, "fake");
  alignas(8) unsigned char memory[32] = {};
  const int64_t shape = 2;
  const int64_t four = 4;
  const int64_t five = 5;
  const auto at = [&](int64_t offset, const int64_t *stride, guf_dtype dtype) {
    return array::Layout{dtype, 1, &shape, stride,
                         reinterpret_cast<uint64_t>(memory) + static_cast<uint64_t>(offset)};
  };
  ASSERT_EQ(convert(fake.device, nullptr, {at(16, &four, GUF_I32), true},
                    {at(0, &five, GUF_I32), false}, nullptr),
            GUF_OK);
  const guf_launch_block &first = fake.blocks_seen[0];
  EXPECT_EQ(first.flags, GUF_LAUNCH_ANY_THREAD | GUF_LAUNCH_SWAPPED);
  EXPECT_EQ(first.operand_flags[0], GUF_LAUNCH_OPERAND_READ | GUF_LAUNCH_OPERAND_UNALIGNED);
  EXPECT_EQ(first.operand_flags[1], GUF_LAUNCH_OPERAND_WRITTEN | GUF_LAUNCH_OPERAND_SWAPPED);
  EXPECT_EQ(convert(fake.device, nullptr, {at(16, &four, GUF_F32), false},
                    {at(0, &four, GUF_I32), false}, nullptr),
            GUF_E_DTYPE);
  EXPECT_EQ(fake.blocks_seen[1].flags, GUF_LAUNCH_ANY_THREAD | GUF_LAUNCH_CAST);
}

TEST(ConvertBlocks, OverlapIsStagedAndTheSameViewIsNot) {
  FakeDevice fake(true, "fake");
  int32_t memory[] = {0, 1, 2, 3, 4, 5};
  const int64_t shape = 5;
  const int64_t stride = 4;
  const auto address = reinterpret_cast<uint64_t>(memory);
  const CopyOperand low = {{GUF_I32, 1, &shape, &stride, address}, false};
  const CopyOperand high = {{GUF_I32, 1, &shape, &stride, address + 4}, false};
  ASSERT_EQ(copy_overlapping(fake.device, nullptr, high, low, nullptr), GUF_OK);
  EXPECT_THAT(memory, testing::ElementsAre(0, 0, 1, 2, 3, 4));
  EXPECT_EQ(fake.blocks_seen.size(), 2U);
  ASSERT_EQ(copy_overlapping(fake.device, nullptr, high, high, nullptr), GUF_OK);
  EXPECT_EQ(fake.blocks_seen.size(), 2U);
  base::collect();
  EXPECT_EQ(fake.blocks, 0);
}

using testing::ElementsAreArray;

class Transfer : public testing::Test {
 protected:
  ~Transfer() override { base::collect(); }

  // Makes a 2 x 3 array with the given strides on the device `far_`.
  base::Ref<array::Array> far_array(const int64_t *strides) {
    base::Ref<array::Array> made;
    const int64_t shape[] = {2, 3};
    EXPECT_EQ(allocate(far_.device, GUF_I32, 2, shape, strides, GUF_ORDER_C, &made, nullptr),
              GUF_OK);
    return made;
  }
  CopyEndpoint host(std::vector<int32_t> &data) {
    static const int64_t shape[] = {2, 3};
    static const int64_t strides[] = {12, 4};
    const auto address = reinterpret_cast<uint64_t>(data.data());
    return {{{GUF_I32, 2, shape, strides, address}, false}, &near_.device};
  }
  std::vector<int32_t> read(array::Array &array) {
    std::vector<int32_t> out(6);
    EXPECT_EQ(transfer(host(out), endpoint_of(array, far_.device), nullptr, nullptr), GUF_OK);
    return out;
  }

  FakeDevice near_{true, "near"};
  FakeDevice far_{false, "far"};
  std::vector<int32_t> values_{1, 2, 3, 4, 5, 6};
};

TEST_F(Transfer, ContiguousIsOneCopy) {
  const auto array = far_array(nullptr);
  ASSERT_EQ(transfer(endpoint_of(*array, far_.device), host(values_), nullptr, nullptr), GUF_OK);
  EXPECT_EQ(far_.copies, 1);
  EXPECT_TRUE(far_.blocks_seen.empty());
  EXPECT_THAT(read(*array), ElementsAreArray(values_));
  EXPECT_EQ(far_.copies, 2);
}

TEST_F(Transfer, WithinTheDeviceNothingCrosses) {
  const int64_t transposed[] = {4, 8};
  const auto from = far_array(nullptr);
  const auto to = far_array(transposed);
  ASSERT_EQ(transfer(endpoint_of(*from, far_.device), host(values_), nullptr, nullptr), GUF_OK);
  const int copies = far_.copies;
  ASSERT_EQ(
      transfer(endpoint_of(*to, far_.device), endpoint_of(*from, far_.device), nullptr, nullptr),
      GUF_OK);
  EXPECT_EQ(far_.copies, copies);
  EXPECT_EQ(far_.blocks_seen.size(), 1U);
}

TEST_F(Transfer, StreamsOfOtherDevicesAreRefused) {
  FakeDevice other(false, "other");
  backend::Stream stream;
  stream.device = &other.device;
  guf_error error = fresh_error();
  EXPECT_EQ(check_stream(&stream, near_.device, far_.device, &error), GUF_E_DEVICE_MISMATCH);
  EXPECT_THAT(error.message, testing::HasSubstr("the stream is of device other"));
  stream.device = &near_.device;
  EXPECT_EQ(check_stream(&stream, near_.device, far_.device, nullptr), GUF_E_DEVICE_MISMATCH);
  EXPECT_EQ(check_stream(&stream, near_.device, near_.device, nullptr), GUF_OK);
  stream.device = &far_.device;
  EXPECT_EQ(check_stream(&stream, near_.device, far_.device, nullptr), GUF_OK);
}

}  // namespace

}  // namespace gufunc::memory
