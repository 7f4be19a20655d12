// SPDX-License-Identifier: Apache-2.0
// Provides calls through the C ABI on memory that the test owns.
#ifndef GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H
#define GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <string>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"
#include "tests/support/ufuncs.h"

namespace gufunc {

// A call under construction. Inputs must be added before outputs.
class Call {
 public:
  explicit Call(guf_ufunc ufunc) : handle(ufunc) { args.struct_size = sizeof args; }
  explicit Call(const char *ufunc) : Call(find_ufunc(ufunc)) {}
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Call &in(const View &view) {
    inputs_.push_back(*operands_.tensor(view));
    return *this;
  }
  Call &out(const View &view) {
    outputs.push_back(*operands_.tensor(view));
    return *this;
  }
  Call &in(const guf_operand &operand) {
    inputs_.push_back(operand);
    return *this;
  }
  Call &out_missing() {
    outputs.push_back({});
    return *this;
  }
  Call &where(const View &view) {
    where_ = *operands_.tensor(view);
    args.where = &where_;
    return *this;
  }

  const guf_call_args *ready() {
    args.inputs = inputs_.data();
    args.ninputs = static_cast<int32_t>(inputs_.size());
    args.outputs = outputs.data();
    args.noutputs = static_cast<int32_t>(outputs.size());
    return &args;
  }
  guf_status run() {
    ready();
    return guf_call(handle, &args, &error);
  }

  guf_ufunc handle = nullptr;
  guf_call_args args = {};
  guf_error error = fresh_error();
  std::vector<guf_operand> outputs;

 private:
  std::vector<guf_operand> inputs_;
  Operands operands_;
  guf_operand where_ = {};
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H
