// SPDX-License-Identifier: Apache-2.0
// Simulates a machine with more devices than a process can open. A process can open any of the
// devices, but no more devices than the limit.
#include "device_fixture.h"

namespace device_test {
namespace {

constexpr int kDevices = 40;    // number of devices of each vendor
constexpr int kMaxOpened = 16;  // limit of open devices, not counting the cpu

class DeviceLimit : public Devices {};

// Devices of both vendors count towards one limit. This test opens as many devices as the limit
// allows.
TEST_P(DeviceLimit, HasTheSameMessageEachTime) {
  std::vector<guf_device> opened;
  const auto get = [&](const std::string &spec) {
    guf_device found = nullptr;
    error_ = fresh_error();
    const guf_status status = guf_device_get(nullptr, spec.c_str(), &found, &error_);
    if (status == GUF_OK) opened.push_back(found);
    return status;
  };
  // The devices with the highest indices are opened first, because the index of a device has no
  // effect on the limit.
  for (int i = 0; i < kMaxOpened / 2; ++i) {
    ASSERT_EQ(get("cuda:" + std::to_string(kDevices - 1 - i)), GUF_OK) << error_.message;
    ASSERT_EQ(get("roc:" + std::to_string(kDevices - 1 - i)), GUF_OK) << error_.message;
  }
  for (const guf_device each : opened) {
    const guf_array x = filled(each, 100, 1);
    EXPECT_EQ(call("add", {operand_of(x), operand_of(x)}, operand_of(x), nullptr), GUF_OK)
        << error_.message;
    EXPECT_THAT(values(x), testing::Each(2.0F));
  }
  const uint64_t contexts = sim().calls("cuDevicePrimaryCtxRetain");
  EXPECT_EQ(contexts, kMaxOpened / 2);
  for (int time = 0; time < 3; ++time) {
    for (const char *const spec : {"cuda:0", "roc:16", "cuda:16"}) {
      EXPECT_EQ(get(spec), GUF_E_NO_DEVICE);
      EXPECT_EQ(std::string(error_.message),
                std::string("device ") + spec +
                    " cannot be opened: a process can open at most 16 devices besides the cpu");
    }
    EXPECT_EQ(get("cuda:40"), GUF_E_NO_DEVICE);
    EXPECT_STREQ(error_.message, "no device cuda:40; backend cuda has 40 device(s)");
  }
  EXPECT_EQ(sim().calls("cuDevicePrimaryCtxRetain"), contexts) << "the driver is not called";
  EXPECT_EQ(get("cuda:39"), GUF_OK) << "open devices stay open";
  EXPECT_EQ(opened.back(), opened.front());
}

INSTANTIATE_TEST_SUITE_P(On, DeviceLimit, testing::Values("cuda"), name_of);

}  // namespace
}  // namespace device_test
