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

namespace gufunc {

// A call under construction. Inputs must be added before outputs.
class Call {
 public:
  explicit Call(guf_ufunc ufunc) : handle(ufunc) { args.struct_size = sizeof args; }
  explicit Call(const char *ufunc) : Call(guf_ufunc{}) {
    EXPECT_EQ(guf_ufunc_find(nullptr, ufunc, &handle, &error), GUF_OK) << error.message;
  }
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

// Makes a ufunc with one loop.
inline guf_ufunc make_ufunc(const char *name, const char *signature, int32_t nin, int32_t nout,
                            const std::vector<int32_t> &roles, guf_loop_numpy function,
                            const std::vector<guf_dtype> &types, uint32_t flags = 0,
                            uint32_t loop_flags = 0) {
  guf_error error = fresh_error();
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = nin;
  desc.nout = nout;
  desc.flags = flags;
  desc.name = name;
  desc.signature = signature;
  desc.roles = roles.empty() ? nullptr : roles.data();
  desc.nroles = static_cast<int32_t>(roles.size());
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.flags = loop_flags;
  loop.ntypes = static_cast<int32_t>(types.size());
  loop.types = types.data();
  loop.numpy = function;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error), GUF_OK) << error.message;
  return ufunc;
}

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H
