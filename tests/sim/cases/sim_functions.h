// SPDX-License-Identifier: Apache-2.0
// The driver interface of one simulated driver, for tests. The library is opened with dlopen, as
// plugins do. Functions that both vendors have are virtual functions with a common name, and
// functions of only one vendor are called through entry().
#ifndef GUFUNC_TESTS_SIM_CASES_SIM_FUNCTIONS_H
#define GUFUNC_TESTS_SIM_CASES_SIM_FUNCTIONS_H

#include <gtest/gtest.h>
#include <cstdint>
#include <string>

#include "tests/sim/cases/test_kernels.h"

namespace sim_test {

class DriverInterface {
 public:
  // Opens the library at the path `library`.
  explicit DriverInterface(const std::string &library);
  virtual ~DriverInterface() = default;

  // Returns the library's function with this name, or null if the function is hidden.
  void *symbol(const std::string &name) const;
  template <class F>
  F *entry(const std::string &name) const {
    return reinterpret_cast<F *>(symbol(name));
  }

  // Call the control functions of the simulator (sim_control.h).
  void set(const char *name, const std::string &value) const;
  void reset() const;
  void fault(const std::string &text) const;
  uint64_t calls(const char *name) const;
  uint64_t live(const char *kind) const;
  uint32_t violations() const;
  std::string violation(uint32_t index) const;
  void clear_violations() const;

  // Initializes the driver and makes device 0 current on this thread.
  virtual int start() = 0;
  virtual bool is_cuda() const = 0;
  // Returns the vendor's name of a function, for faults and call counters. `verb` is a common name,
  // e.g. "alloc".
  virtual std::string name_of(const std::string &verb) const = 0;
  // Returns an image that the emulation file lists and the device accepts.
  virtual std::string image() const = 0;

  virtual int alloc(uint64_t *out, uint64_t bytes) = 0;
  virtual int free(uint64_t address) = 0;
  virtual int alloc_async(uint64_t *out, uint64_t bytes, void *stream) = 0;
  virtual int free_async(uint64_t address, void *stream) = 0;
  virtual int host_alloc(void **out, uint64_t bytes) = 0;
  virtual int host_free(void *memory) = 0;
  virtual int host_register(void *memory, uint64_t bytes) = 0;
  virtual int host_unregister(void *memory) = 0;
  virtual int managed(uint64_t *out, uint64_t bytes) = 0;
  virtual int memory_info(uint64_t *free, uint64_t *total) = 0;

  virtual int to_device(uint64_t to, const void *from, uint64_t bytes, void *stream) = 0;
  virtual int to_host(void *to, uint64_t from, uint64_t bytes, void *stream) = 0;
  virtual int on_device(uint64_t to, uint64_t from, uint64_t bytes, void *stream) = 0;
  virtual int fill32(uint64_t to, uint32_t value, uint64_t count, void *stream) = 0;
  virtual int fill16(uint64_t to, uint16_t value, uint64_t count, void *stream) = 0;

  virtual int stream(void **out, bool blocking) = 0;
  virtual int stream_destroy(void *stream) = 0;
  virtual int stream_query(void *stream) = 0;
  virtual int stream_sync(void *stream) = 0;
  virtual int stream_wait(void *stream, void *event) = 0;
  virtual int device_sync() = 0;
  virtual int host_call(void *stream, void (*function)(void *), void *data) = 0;
  virtual int event(void **out, bool timing) = 0;
  virtual int event_destroy(void *event) = 0;
  virtual int event_record(void *event, void *stream) = 0;
  virtual int event_query(void *event) = 0;
  virtual int event_sync(void *event) = 0;
  virtual int event_elapsed(float *milliseconds, void *start, void *stop) = 0;

  virtual int module_load(void **out, const void *image) = 0;
  virtual int module_unload(void *module) = 0;
  virtual int module_function(void **out, void *module, const char *name) = 0;
  virtual int launch(void *function, uint32_t blocks, uint32_t threads, uint32_t shared,
                     void *stream, const void *block) = 0;
  // Launches with all arguments in one buffer of the given size.
  virtual int launch_extra(void *function, void *stream, void *block, uint64_t bytes) = 0;

  virtual int capture_begin(void *stream, int mode) = 0;
  virtual int capture_end(void *stream, void **graph) = 0;
  virtual int capture_status(void *stream, int *status) = 0;
  virtual int capture_mode(int *mode) = 0;
  virtual int graph_instantiate(void **exec, void *graph) = 0;
  virtual int graph_update(void *exec, void *graph, int *result) = 0;
  virtual int graph_launch(void *exec, void *stream) = 0;
  virtual int graph_destroy(void *graph) = 0;
  virtual int graph_exec_destroy(void *exec) = 0;

 private:
  void *handle_ = nullptr;
};

// Return the two simulated drivers. Each library is opened at the first use.
DriverInterface &cuda_interface();
DriverInterface &hip_interface();

// A test that runs once with each driver, after a reset of the driver. A violation of the driver's
// rules fails the test unless the test clears the violations.
class SimTest : public testing::TestWithParam<const char *> {
 protected:
  SimTest();
  ~SimTest() override;

  // Changes one setting and resets the driver.
  void restart(const char *name, const std::string &value);

  DriverInterface &driver_;
};

// Asserts that a call returns 0.
#define SIM_OK(call) ASSERT_EQ((call), 0)

#define SIM_BOTH(fixture)                                                    \
  INSTANTIATE_TEST_SUITE_P(Drivers, fixture, testing::Values("cuda", "hip"), \
                           [](const auto &one) { return std::string(one.param); })

}  // namespace sim_test

#endif  // GUFUNC_TESTS_SIM_CASES_SIM_FUNCTIONS_H
