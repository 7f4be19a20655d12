// SPDX-License-Identifier: Apache-2.0
// Provides a fixture for device auto. GUFUNC_TEST_AUTO names the expected choice: "cuda", "roc" or
// "cpu".
#ifndef GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H
#define GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H

#include <list>

#include "device_fixture.h"

namespace device_test {

const char *chosen();

class Auto : public Devices {
 protected:
  Auto();

  // Makes an operand over host memory. `values` must exist until the end of the test.
  guf_operand here(std::vector<double> &values, std::vector<int64_t> shape);
  guf_operand here(std::vector<double> &values) {
    return here(values, {static_cast<int64_t>(values.size())});
  }
  // Makes an operand of the given shape in which one value is broadcast.
  guf_operand stretched(double &value, std::vector<int64_t> shape);
  // Makes an operand with kUnits equal items, which is one item for each compute unit of the
  // simulated device.
  guf_operand looped(std::vector<double> &values);
  guf_operand looped(std::vector<float> &values);
  static constexpr int64_t kUnits = 132;  // equals GUFUNC_SIM_UNITS in CMakeLists.txt

  // Returns the arguments of a call on device auto. The arguments are valid until the next call of
  // this function.
  guf_call_args *ready(std::vector<guf_operand> inputs, std::vector<guf_operand> outputs);
  guf_status run(const char *name, std::vector<guf_operand> inputs, guf_operand output);
  // Returns the lines of guf_explain about device auto and about the device of the call.
  std::string explain(const char *name, std::vector<guf_operand> inputs);

  uint64_t launches() const;
  bool ran_on_device();  // returns whether a kernel ran on the GPU since the last query
  std::string spec_of(guf_device device);
  std::string place_of(guf_array array);
  std::string there() const { return backend_ == "cpu" ? "cpu" : backend_ + ":0"; }

  guf_device auto_ = nullptr, cpu_ = nullptr;
  guf_call_args args_ = {};
  std::vector<guf_operand> inputs_, outputs_;
  std::list<std::vector<int64_t>> shapes_;
  std::list<guf_tensor> tensors_;
  uint64_t seen_ = 0;
};

// Returns the line of `text` that begins with `begin`, or "".
std::string line_of(const std::string &text, const std::string &begin);

}  // namespace device_test

#endif  // GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H
