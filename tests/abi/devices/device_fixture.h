// SPDX-License-Identifier: Apache-2.0
// Provides GPUs of simulated drivers for tests through the C API. GUFUNC_SIM_ORDER selects the
// execution order of their streams, and every test must pass in all orders. If
// GUFUNC_TEST_REAL_DRIVER is set, the fixture uses no function that only simulated drivers have.
// Tests that need no such function also pass on a real device; tools/gpu-check selects these tests
// by name.
#ifndef GUFUNC_TESTS_ABI_DEVICES_DEVICE_FIXTURE_H
#define GUFUNC_TESTS_ABI_DEVICES_DEVICE_FIXTURE_H

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

namespace device_test {

using gufunc::operand_of;
using gufunc::scalar_of;
using gufunc::weak_int_of;

// Functions that the simulated driver of a backend exports for tests (tests/sim/sim_control.h), and
// one function of the vendor, which both the simulated and the real driver export.
struct Sim {
  int (*set)(const char *name, const char *value);
  int (*fault)(const char *faults);
  void (*clear_faults)(void);
  uint64_t (*calls)(const char *function);
  void (*clear_calls)(void);
  uint64_t (*live)(const char *kind);
  uint64_t (*used_bytes)(void);
  uint32_t (*violations)(void);
  const char *(*violation)(uint32_t index);
  int (*host_function)(void *stream, void (*function)(void *), void *user);
  void *library;
};
const Sim &sim_of(const std::string &backend);

// Returns the execution order of streams: "eager", "lazy" or "adversarial".
std::string sim_order();

// These macros skip tests that need a simulated driver or two GPUs.
bool on_real_driver();
#define NEEDS_SIM() \
  if (on_real_driver()) GTEST_SKIP() << "requires the simulated driver"
#define NEEDS_TWO_DEVICES() \
  if (!has_device(1)) GTEST_SKIP() << "one device"

// Makes the context of a device current. Functions of CUDA require that the context of a stream's
// device is current. Functions of HIP have no such requirement.
class Current {
 public:
  Current(const Sim &sim, int device);
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
  ~Current();

 private:
  int device_;
  int (*pop_)(void **) = nullptr;
  int (*release_)(int) = nullptr;
};

// Blocks the work that is queued on a stream after the gate is made. In eager order, the work is
// blocked until the gate opens. In lazy order, where work runs only when a caller waits or queries,
// the work is blocked for some dozens of queries. In adversarial order, which may run any work at
// any time, the work is not blocked.
class Gate {
 public:
  Gate(const std::string &backend, guf_stream stream);
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;
  ~Gate() { open(); }
  void open();

 private:
  static void pass(void *gate);
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool opened = false;
  };
  State *state_;  // outlives the gate, because the driver may use it later
};

// The parameter of a test is a backend: "cuda" or "roc", or "cpu" if the test supports it.
class Devices : public testing::TestWithParam<const char *> {
 protected:
  Devices();
  void TearDown() override;

  bool on_cpu() const { return backend_ == "cpu"; }
  const Sim &sim() const { return sim_of(backend_); }
  bool has_device(int index) const;
  guf_device device(int index) const;

  guf_array keep(guf_array array) {
    arrays_.push_back(array);
    return array;
  }
  void let_go(guf_array array);

  guf_array empty(guf_device device, std::vector<int64_t> shape, guf_dtype dtype = GUF_F32);
  // Makes a vector on the device, and waits until it is complete.
  guf_array floats(guf_device device, const std::vector<float> &values);
  guf_array filled(guf_device device, int64_t size, float value);
  guf_array view(guf_array array, int64_t start, int64_t step);
  // Waits for all queued work, and returns the elements of the array.
  std::vector<float> values(guf_array array);

  guf_stream stream(guf_device device);
  guf_event event(guf_device device);
  guf_ufunc find(const char *name);

  // Calls the ufunc `name` on a stream.
  guf_status call(const char *name, const std::vector<guf_operand> &inputs, guf_operand out,
                  guf_stream stream);
  guf_status reduce(const char *name, guf_operand input, guf_operand out, guf_stream stream);
  void synchronize(guf_stream stream);

  // Makes many new arrays of the given size on a separate stream, so that the arrays reuse freed
  // memory and overwrite its content. At the end of the test, these arrays must be unchanged.
  void reuse_memory(guf_device device, int64_t size);

  const std::string backend_ = GetParam();
  guf_error error_ = fresh_error();
  std::vector<guf_array> arrays_;
  std::vector<guf_stream> streams_;
  std::vector<guf_event> events_;
  std::vector<guf_ufunc> ufuncs_;

 private:
  std::vector<guf_array> strangers_;
  uint32_t violations_ = 0;
};

inline std::string name_of(const testing::TestParamInfo<const char *> &info) {
  return info.param;
}

}  // namespace device_test

#endif  // GUFUNC_TESTS_ABI_DEVICES_DEVICE_FIXTURE_H
