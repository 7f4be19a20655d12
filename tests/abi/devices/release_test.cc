// SPDX-License-Identifier: Apache-2.0
// Tests that the release of a handle makes no driver call and does not wait, because garbage
// collectors call release functions. Later calls free the resources of released handles.
#include <thread>

#include "device_fixture.h"

namespace device_test {
namespace {

class Release : public Devices {
 protected:
  // The pool caches memory of the first size, and returns memory of the second size to the driver.
  static constexpr int64_t kSizes[] = {int64_t{1} << 18, int64_t{17} << 20};

  guf_array host_array(int32_t kind, int64_t size) {
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_alloc_host(device_, kind, GUF_F32, 1, &size, nullptr, GUF_ORDER_C, &made,
                                   &error_),
              GUF_OK)
        << error_.message;
    return made;
  }
  // Queues work on the stream. The work writes some elements of the array.
  void use(guf_array array, guf_stream stream) {
    const guf_array some = view(array, 0, 1 << 16);
    const guf_operand both = operand_of(some);
    EXPECT_EQ(call("add", {both, both}, both, stream), GUF_OK) << error_.message;
    let_go(some);
  }

  const guf_device device_ = device(0);
};

TEST_P(Release, CallsNoDriver) {
  NEEDS_SIM();
  for (const int64_t size : kSizes) {
    guf_stream busy = nullptr;
    guf_event recorded = nullptr;
    ASSERT_EQ(guf_stream_create(device_, 0, &busy, &error_), GUF_OK);
    ASSERT_EQ(guf_event_create(device_, 0, &recorded, &error_), GUF_OK);
    std::vector<guf_array> arrays;
    guf_array on_device = nullptr;
    ASSERT_EQ(
        guf_array_alloc(device_, GUF_F32, 1, &size, nullptr, GUF_ORDER_C, &on_device, &error_),
        GUF_OK);
    arrays.push_back(on_device);
    for (const int32_t kind : {GUF_HOST_PINNED, GUF_HOST_MAPPED, GUF_HOST_MANAGED}) {
      arrays.push_back(host_array(kind, size));
    }
    use(on_device, busy);  // the first call loads kernels, and loading waits
    ASSERT_EQ(guf_stream_synchronize(busy, UINT64_MAX, &error_), GUF_OK);
    Gate gate(backend_, busy);
    for (const guf_array array : {arrays[0], arrays[2], arrays[3]}) use(array, busy);
    ASSERT_EQ(guf_event_record(recorded, busy, &error_), GUF_OK) << error_.message;
    guf_poll(0, nullptr, nullptr);
    sim().clear_calls();
    std::thread collector([&] {
      for (const guf_array array : arrays) EXPECT_EQ(guf_array_release(array, nullptr), GUF_OK);
      EXPECT_EQ(guf_event_release(recorded, nullptr), GUF_OK);
      EXPECT_EQ(guf_stream_release(busy, nullptr), GUF_OK);
    });
    collector.join();
    EXPECT_EQ(sim().calls(nullptr), 0U);
    // guf_poll does not wait for the blocked stream.
    EXPECT_EQ(guf_poll(0, nullptr, &error_), GUF_OK);
    EXPECT_GT(sim().calls(nullptr), 0U);
    gate.open();
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
  }
}

INSTANTIATE_TEST_SUITE_P(On, Release, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
