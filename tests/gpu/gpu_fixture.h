// SPDX-License-Identifier: Apache-2.0
// Opens a GPU plugin with a host table and its simulated driver. The variable GUFUNC_TEST_BACKEND
// names the plugin, so the same tests run for every vendor.
#ifndef GUFUNC_TESTS_GPU_GPU_FIXTURE_H
#define GUFUNC_TESTS_GPU_GPU_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/backend_gpu.h>
#include <gufunc/backend_kernels.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc::gpu_test {

// Functions that the simulated driver exports for tests, declared in tests/sim/sim_control.h.
struct Sim {
  int (*set)(const char *name, const char *value);
  int (*fault)(const char *faults);
  void (*clear_faults)(void);
  uint64_t (*calls)(const char *function);
  void (*clear_calls)(void);
  const char *(*function)(uint32_t index);
  uint64_t (*live)(const char *kind);
  uint64_t (*used_bytes)(void);
  uint64_t (*ptx)(const char *what);
  uint32_t (*violations)(void);
  const char *(*violation)(uint32_t index);
  int (*hide)(const char *function, int hidden);
  void (*heal)(void);
  uint64_t (*current)(void);
  void *library;  // handle of the driver library, for looking up the vendor's functions
};
const Sim &sim();
// Returns and clears the error of this thread that hipGetLastError returns. With CUDA, the result
// is always 0.
int last_error();

// Counts the memory that the plugin allocates from the host, and stores its log messages.
struct TestHost {
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> fail_at{-1};  // number of allocations before the failing allocation, or -1
                                     // if none fails
  std::vector<std::string> log;
};
TestHost &test_host();

bool is_cuda();
// Returns the first name if the plugin is cuda, and otherwise the second name.
inline const char *pick(const char *cuda, const char *hip) {
  return is_cuda() ? cuda : hip;
}

// Return the plugin's function table. The first call opens the plugin. plugin() also probes the
// driver.
const guf_backend_api &opened_plugin();
const guf_backend_api &plugin();
const guf_gpu_api &gpu_extension();
const guf_kernels_api &kernels_extension();

// Opens a device of the plugin. The destructor closes the device. A failure to open the device
// fails the test.
class OpenDevice {
 public:
  explicit OpenDevice(int32_t index = 0);
  ~OpenDevice();
  OpenDevice(const OpenDevice &) = delete;
  OpenDevice &operator=(const OpenDevice &) = delete;
  operator void *() const { return device_; }  // NOLINT(google-explicit-constructor)
  const guf_backend_device_info &info() const { return info_; }

 private:
  void *device_ = nullptr;
  guf_backend_device_info info_ = {};
};

// Returns the number of live driver objects by kind, as text. Equal texts before and after a test
// mean that nothing leaked.
std::string live_objects();

template <class T>
uint64_t address_of(const std::vector<T> &elements) {
  return reinterpret_cast<uint64_t>(elements.data());
}

// Provides helpers for tests of a plugin's slots: functions for calls that must succeed, and a
// check for leaked objects at the end of each test.
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

#endif  // GUFUNC_TESTS_GPU_GPU_FIXTURE_H
