// SPDX-License-Identifier: Apache-2.0
// Tests rules such as n=value(1), which read the size of a core dimension from an operand.
#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

namespace {

using gufunc::Operands;
using testing::HasSubstr;

class ValueRule : public testing::Test {
 protected:
  ~ValueRule() override {
    for (const guf_ufunc ufunc : ufuncs_) guf_ufunc_release(ufunc, nullptr);
  }

  guf_ufunc make(const char *name, const char *signature, const char *rules,
                 const std::vector<guf_dtype> &types, guf_loop_numpy run) {
    guf_ufunc made = nullptr;
    guf_ufunc_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.name = name;
    desc.signature = signature;
    desc.rules = rules;
    EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &made, &error_), GUF_OK) << error_.message;
    guf_loop_desc loop = {};
    loop.struct_size = sizeof loop;
    loop.kind = GUF_LOOP_NUMPY;
    loop.flags = GUF_LOOP_ANY_THREAD;
    loop.ntypes = static_cast<int32_t>(types.size());
    loop.types = types.data();
    loop.numpy = run;
    EXPECT_EQ(guf_ufunc_add_loop(made, &loop, &error_), GUF_OK) << error_.message;
    ufuncs_.push_back(made);
    return made;
  }

  guf_status call(guf_ufunc ufunc, guf_stream stream, const guf_operand *inputs, int32_t ninputs,
                  guf_operand *output) {
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = inputs;
    args.ninputs = ninputs;
    args.outputs = output;
    args.noutputs = 1;
    args.options.stream = stream;
    return guf_call(ufunc, &args, &error_);
  }

  guf_error error_ = fresh_error();
  std::vector<guf_ufunc> ufuncs_;
};

void ones(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    for (int64_t k = 0; k < dims[1]; ++k) {
      const double one = 1;
      std::memcpy(args[1] + i * steps[1] + k * steps[2], &one, sizeof one);
    }
  }
}

// A rule cannot read a size from a structured element. The element in this test is the largest
// possible one, and would not fit into a buffer for an element of a numeric dtype.
TEST_F(ValueRule, RefusesStructuredDtypes) {
  guf_dtype structured = 0;
  ASSERT_EQ(
      guf_dtype_register("value_rule_large", GUF_MAX_STRUCTURED_ITEMSIZE, 1, &structured, &error_),
      GUF_OK);
  const guf_ufunc ufunc =
      make("value_rule_structured", "()->(n)", "n=value(0)", {structured, GUF_F64}, ones);
  const std::vector<char> data(GUF_MAX_STRUCTURED_ITEMSIZE, 1);
  Operands operands;
  const guf_operand *const input = operands.tensor({structured, data.data(), {}, {}, 0});
  guf_operand output = {};
  EXPECT_EQ(call(ufunc, nullptr, input, 1, &output), GUF_E_VALUE);
  EXPECT_THAT(error_.message, HasSubstr("the rule n=value(0) needs a size; argument 0"));
  EXPECT_EQ(output.kind, GUF_OPERAND_NONE);
}

void slow_copy(char **args, const int64_t *, const int64_t *, void *) {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::memcpy(args[1], args[0], sizeof(int64_t));
}

TEST_F(ValueRule, WaitsForTheStream) {
  const guf_ufunc slow = make("value_rule_slow", "()->()", nullptr, {GUF_I64, GUF_I64}, slow_copy);
  const guf_ufunc ufunc =
      make("value_rule_ones", "()->(n)", "n=value(0)", {GUF_I64, GUF_F64}, ones);
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error_), GUF_OK);
  const int64_t five = 5;
  int64_t size = 2;
  Operands operands;
  const guf_operand source = *operands.tensor({GUF_I64, &five, {}, {}, 0});
  guf_operand target = *operands.tensor({GUF_I64, &size, {}, {}, 0});
  ASSERT_EQ(call(slow, stream, &source, 1, &target), GUF_OK) << error_.message;
  guf_operand output = {};
  ASSERT_EQ(call(ufunc, stream, &target, 1, &output), GUF_OK) << error_.message;
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(output.array, &info, &error_), GUF_OK);
  EXPECT_EQ(info.shape[0], 5);
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error_), GUF_OK);
  guf_array_release(output.array, nullptr);
  guf_stream_release(stream, nullptr);
}

}  // namespace
