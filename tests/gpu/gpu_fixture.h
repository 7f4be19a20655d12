// SPDX-License-Identifier: Apache-2.0
// A GPU plugin over its simulated driver, and a host for it. The variable GUFUNC_TEST_BACKEND names
// the plugin: the same tests serve every vendor.
#ifndef GUFUNC_TESTS_GPU_GPU_FIXTURE_H
#define GUFUNC_TESTS_GPU_GPU_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/backend_gpu.h>
#include <gufunc/backend_kernels.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace gufunc::gpu_test {

// What the simulated driver exports for tests: tests/sim/sim_control.h.
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
  void *library;  // for the vendor's own functions
};
const Sim &sim();
// What HIP keeps for hipGetLastError on this thread; asking clears it. 0 with CUDA.
int last_error();

// The host's memory that the plugin holds, and what it logged.
struct TestHost {
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> fail_at{-1};  // the allocation of that number fails, counting down
  std::vector<std::string> log;
};
TestHost &test_host();

bool is_cuda();
// The driver's function of either vendor.
inline const char *pick(const char *cuda, const char *hip) {
  return is_cuda() ? cuda : hip;
}

// The plugin's table; opened at the first call. Probed too by `plugin()`.
const guf_backend_api &opened_plugin();
const guf_backend_api &plugin();
const guf_gpu_api &gpu_extension();
const guf_kernels_api &kernels_extension();

guf_error fresh_error();

// One device of the plugin, open from here to there. Fails the test where it cannot be opened.
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

// What is alive in the driver now, kind by kind, as text: equal before and after means balanced.
std::string live_objects();

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_GPU_FIXTURE_H
