// SPDX-License-Identifier: Apache-2.0
// Tests copies between the host and a device whose memory the host cannot access. Only contiguous
// bytes are transferred, and each device converts between contiguous bytes and its own strides.
#include "core/memory/transfer.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/unit/memory/fake_device.h"

namespace gufunc::memory {
namespace {

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
  guf_error error = {};
  error.struct_size = sizeof error;
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
