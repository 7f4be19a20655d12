// SPDX-License-Identifier: Apache-2.0
// Provides helpers for tests of a plugin's slots: functions for calls that must succeed, and a
// check for leaked objects at the end of each test.
#ifndef GUFUNC_TESTS_GPU_DEVICE_CALLS_H
#define GUFUNC_TESTS_GPU_DEVICE_CALLS_H

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {

template <class T>
uint64_t address_of(const std::vector<T> &elements) {
  return reinterpret_cast<uint64_t>(elements.data());
}

class DeviceCalls : public testing::Test {
 protected:
  void SetUp() override {
    plugin();
    before_ = live_objects();
    violations_ = sim().violations();
    host_before_ = test_host().live.load();
  }
  void TearDown() override {
    sim().clear_faults();
    EXPECT_EQ(live_objects(), before_);
    for (uint32_t i = violations_; i < sim().violations(); ++i) {
      ADD_FAILURE() << sim().violation(i);
    }
    EXPECT_EQ(test_host().live.load(), host_before_) << "blocks of the host's memory";
  }

  uint64_t allocate(void *device, uint64_t bytes, int32_t kind = GUF_MEMORY_DEVICE,
                    void *stream = nullptr) {
    uint64_t address = 0;
    EXPECT_EQ(plugin().memory_alloc(device, bytes, kind, stream, &address, &error_), GUF_OK)
        << error_.message;
    return address;
  }
  void free(void *device, uint64_t address, uint64_t bytes, int32_t kind = GUF_MEMORY_DEVICE,
            void *stream = nullptr) {
    EXPECT_EQ(plugin().memory_free(device, address, bytes, kind, stream, &error_), GUF_OK)
        << error_.message;
  }
  void copy(void *device, void *stream, uint64_t dst, uint64_t src, uint64_t bytes, int32_t kind) {
    EXPECT_EQ(plugin().copy(device, stream, dst, src, bytes, kind, &error_), GUF_OK)
        << error_.message;
  }
  void *open_stream(void *device) {
    void *stream = nullptr;
    EXPECT_EQ(plugin().stream_open(device, 0, 0, &stream, &error_), GUF_OK) << error_.message;
    return stream;
  }
  void *open_event(void *device) {
    void *event = nullptr;
    EXPECT_EQ(plugin().event_open(device, &event, &error_), GUF_OK) << error_.message;
    return event;
  }

  guf_error error_ = fresh_error();

 private:
  std::string before_;
  uint32_t violations_ = 0;
  int64_t host_before_ = 0;
};

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_DEVICE_CALLS_H
