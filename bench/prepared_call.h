// SPDX-License-Identifier: Apache-2.0
// Prepares a call of the library on a device, with its arrays and its plan, for benchmarks.
#ifndef GUFUNC_BENCH_PREPARED_CALL_H
#define GUFUNC_BENCH_PREPARED_CALL_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gufunc::bench {

// Throws a Failure with the library's message if the status is an error.
void check(guf_status status, const guf_error &error);

// Returns GUFUNC_BENCH_DEVICE, or cuda:0 if it is not set.
std::string device_spec();

// Loads <name>.so from the folders in GUFUNC_BENCH_MODULES, which are separated by colons. Each
// module is loaded once.
void load_module(const std::string &name);
std::string module_path(const std::string &name);

// The layout of an array. Strides are in bytes; empty strides mean C order.
struct Layout {
  std::vector<int64_t> shape, strides = {};
};

// A call of one ufunc on arrays of one dtype and layout. A call with one operand works in place.
// The work is queued on a separate stream if prepare() was called with on_stream, otherwise on the
// device's default stream.
class PreparedCall {
 public:
  PreparedCall() = default;
  PreparedCall(const PreparedCall &) = delete;
  PreparedCall &operator=(const PreparedCall &) = delete;
  ~PreparedCall();

  void prepare(const char *name, guf_dtype dtype, int noperands, const Layout &layout,
               bool on_stream = false);
  void launch() {
    check(guf_plan_launch(plan_, stream_, noperands_, address_, 0, &error_), error_);
  }
  void call() { check(guf_call(ufunc_, &args_, &error_), error_); }
  void wait() { check(guf_device_synchronize(device_, UINT64_MAX, &error_), error_); }

  uint64_t address(int operand) const { return address_[operand]; }
  const guf_operand &operand(int index) const { return operand_[index]; }

 private:
  guf_error error_ = {};
  guf_device device_ = nullptr;
  guf_ufunc ufunc_ = nullptr;
  guf_stream stream_ = nullptr;
  int noperands_ = 0;
  guf_array array_[3] = {};
  guf_operand operand_[3] = {};
  uint64_t address_[3] = {};
  guf_call_args args_ = {};
  guf_plan plan_ = nullptr;
};

}  // namespace gufunc::bench

#endif  // GUFUNC_BENCH_PREPARED_CALL_H
