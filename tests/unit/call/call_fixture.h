// SPDX-License-Identifier: Apache-2.0
// Provides calls through the C ABI on memory that the test owns.
#ifndef GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H
#define GUFUNC_TESTS_UNIT_CALL_CALL_FIXTURE_H

#include <gtest/gtest.h>
#include <gufunc/gufunc.h>

#include <list>
#include <string>
#include <vector>

#include "tests/support/fresh_error.h"

namespace gufunc {

// Describes the tensor of one operand, and owns its shape and strides.
struct View {
  guf_dtype dtype = GUF_F64;
  const void *data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty means C-contiguous
  uint32_t flags = 0;
};

// Makes operands from views, and keeps the tensors that the operands refer to.
class Tensors {
 public:
  guf_operand operand(const View &view) {
    views_.push_back(view);
    const View &kept = views_.back();
    guf_tensor made = {};
    made.struct_size = sizeof made;
    made.dtype = kept.dtype;
    made.ndim = static_cast<int32_t>(kept.shape.size());
    made.flags = kept.flags;
    made.address = reinterpret_cast<uint64_t>(kept.data);
    made.shape = kept.shape.data();
    made.strides = kept.strides.empty() ? nullptr : kept.strides.data();
    tensors_.push_back(made);
    guf_operand operand = {};
    operand.kind = GUF_OPERAND_TENSOR;
    operand.tensor = &tensors_.back();
    return operand;
  }

 private:
  std::list<View> views_;
  std::list<guf_tensor> tensors_;
};

// A call under construction. Inputs must be added before outputs.
class Call {
 public:
  explicit Call(const char *ufunc) {
    EXPECT_EQ(guf_ufunc_find(nullptr, ufunc, &handle, &error), GUF_OK) << error.message;
    prepare();
  }
  explicit Call(guf_ufunc ufunc) : handle(ufunc) { prepare(); }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  Call &in(const View &view) {
    inputs_.push_back(tensors_.operand(view));
    return *this;
  }
  Call &out(const View &view) {
    outputs.push_back(tensors_.operand(view));
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
    where_ = tensors_.operand(view);
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

  static guf_operand weak_int(int64_t value) {
    guf_operand operand = {};
    operand.kind = GUF_OPERAND_WEAK_INT;
    operand.value[0] = static_cast<uint64_t>(value);
    return operand;
  }

  guf_ufunc handle = nullptr;
  guf_call_args args = {};
  guf_error error = fresh_error();
  std::vector<guf_operand> outputs;

 private:
  void prepare() { args.struct_size = sizeof args; }

  std::vector<guf_operand> inputs_;
  Tensors tensors_;
  guf_operand where_ = {};
};

template <class T>
View view(guf_dtype dtype, const std::vector<T> &data) {
  return {dtype, data.data(), {static_cast<int64_t>(data.size())}, {}, 0};
}

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
