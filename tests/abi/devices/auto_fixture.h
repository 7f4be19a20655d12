// SPDX-License-Identifier: Apache-2.0
// Device auto where GUFUNC_TEST_AUTO says what it is: "cuda", "roc", or "cpu".
#ifndef GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H
#define GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H

#include <list>

#include "device_fixture.h"

namespace device_test {

const char *chosen();

class Auto : public Devices {
 protected:
  Auto();

  // Elements and shape of host memory; both live as long as the test.
  guf_operand here(std::vector<double> &values, std::vector<int64_t> shape);
  guf_operand here(std::vector<double> &values) {
    return here(values, {static_cast<int64_t>(values.size())});
  }
  // Of one value, stretched.
  guf_operand stretched(double &value, std::vector<int64_t> shape);
  // An item for each compute unit of the simulated device, all of them the same.
  guf_operand looped(std::vector<double> &values);
  guf_operand looped(std::vector<float> &values);
  static constexpr int64_t kUnits = 132;  // GUFUNC_SIM_UNITS of the CMake test

  // Arguments of a call on device auto. An output that is allocated is kept.
  guf_call_args *ready(std::vector<guf_operand> inputs, std::vector<guf_operand> outputs);
  guf_status run(const char *name, std::vector<guf_operand> inputs, guf_operand output);
  // The line about device auto, and before it where the call runs.
  std::string explain(const char *name, std::vector<guf_operand> inputs);

  uint64_t launches() const;
  bool ran_there();  // since it was asked last
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

// "LINE" of a text that begins with `begin`; "" if there is none.
std::string line_of(const std::string &text, const std::string &begin);

}  // namespace device_test

#endif  // GUFUNC_TESTS_ABI_DEVICES_AUTO_FIXTURE_H
