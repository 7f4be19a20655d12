// SPDX-License-Identifier: Apache-2.0
// Tests guf_apply, which calls a ufunc by its name on tensors.
#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <cmath>
#include <cstring>

#include "tests/support/fresh_error.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Apply : public testing::Test {
 protected:
  static guf_tensor tensor(void *data, guf_dtype dtype, int32_t ndim, const int64_t *shape) {
    return {sizeof(guf_tensor),
            dtype,
            ndim,
            0,
            reinterpret_cast<uint64_t>(data),
            shape,
            nullptr,
            nullptr};
  }
  void refuses(guf_status status, const char *message, const char *name, int32_t ntensors,
               const guf_tensor *tensors) {
    EXPECT_EQ(guf_apply(nullptr, name, ntensors, tensors, &error_), status) << error_.message;
    EXPECT_THAT(error_.message, HasSubstr(message));
    EXPECT_THAT(sum_, ElementsAre(0, 0, 0));
  }

  const int64_t three_[1] = {3};
  double a_[3] = {1, 2, 3}, sum_[3] = {};
  int32_t b_ = 10;
  guf_tensor tensors_[3] = {tensor(a_, GUF_F64, 1, three_), tensor(&b_, GUF_I32, 0, nullptr),
                            tensor(sum_, GUF_F64, 1, three_)};
  guf_error error_ = fresh_error();
};

TEST_F(Apply, BroadcastsAndCastsLikeACall) {
  ASSERT_EQ(guf_apply(nullptr, "add", 3, tensors_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(sum_, ElementsAre(11, 12, 13));
  ASSERT_EQ(guf_apply(nullptr, "add", 3, tensors_, nullptr), GUF_OK);
}

// Writes the integral part and the fractional part of each element.
void split(char **args, const int64_t *dimensions, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dimensions[0]; ++i) {
    double x = 0, whole = 0;
    std::memcpy(&x, args[0] + i * steps[0], sizeof x);
    const double fraction = std::modf(x, &whole);
    std::memcpy(args[1] + i * steps[1], &whole, sizeof whole);
    std::memcpy(args[2] + i * steps[2], &fraction, sizeof fraction);
  }
}

TEST_F(Apply, SeveralOutputs) {
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.name = "apply_split";
  desc.nin = 1;
  desc.nout = 2;
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error_), GUF_OK) << error_.message;
  const guf_dtype types[] = {GUF_F64, GUF_F64, GUF_F64};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_NUMPY;
  loop.ntypes = 3;
  loop.types = types;
  loop.numpy = split;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error_), GUF_OK) << error_.message;
  ASSERT_EQ(guf_ufunc_release(ufunc, &error_), GUF_OK);
  double whole[3] = {}, fraction[3] = {};
  double x[3] = {1.25, -2.5, 3};
  const guf_tensor tensors[] = {tensor(x, GUF_F64, 1, three_), tensor(whole, GUF_F64, 1, three_),
                                tensor(fraction, GUF_F64, 1, three_)};
  ASSERT_EQ(guf_apply(nullptr, "apply_split", 3, tensors, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(whole, ElementsAre(1, -2, 3));
  EXPECT_THAT(fraction, ElementsAre(0.25, -0.5, 0));
}

TEST_F(Apply, AContextOfTheProgram) {
  guf_context context = nullptr;
  ASSERT_EQ(guf_context_create(0, &context, &error_), GUF_OK);
  EXPECT_EQ(guf_apply(context, "add", 3, tensors_, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(sum_, ElementsAre(11, 12, 13));
  ASSERT_EQ(guf_context_release(context, &error_), GUF_OK);
  EXPECT_EQ(guf_apply(context, "add", 3, tensors_, &error_), GUF_E_HANDLE);
}

// A program that was compiled for a later version passes longer structs, whose new fields are 0.
TEST_F(Apply, TensorsOfAnotherSize) {
  struct Longer {
    guf_tensor tensor;
    uint64_t later;
  } longer[3] = {};
  for (int i = 0; i < 3; ++i) {
    longer[i].tensor = tensors_[i];
    longer[i].tensor.struct_size = sizeof(Longer);
  }
  ASSERT_EQ(guf_apply(nullptr, "add", 3, &longer[0].tensor, &error_), GUF_OK) << error_.message;
  EXPECT_THAT(sum_, ElementsAre(11, 12, 13));
  std::memset(sum_, 0, sizeof sum_);
  longer[1].later = 1;
  refuses(GUF_E_STRUCT, "operand.tensor", "add", 3, &longer[0].tensor);
  EXPECT_EQ(error_.argument, 1);
  longer[0].tensor.struct_size -= 4;
  refuses(GUF_E_STRUCT,
          "argument 0: tensors: struct_size: expected a multiple of 8 from 48 on, the same in all "
          "tensors, got 52",
          "add", 3, &longer[0].tensor);
}

TEST_F(Apply, Refuses) {
  refuses(GUF_E_ARG, "name is NULL", nullptr, 3, tensors_);
  refuses(GUF_E_NOT_FOUND, "ad", "ad", 3, tensors_);
  refuses(GUF_E_ARG, "ntensors: expected 3, the number of operands of add, got 2", "add", 2,
          tensors_);
  refuses(GUF_E_ARG, "got -1", "add", -1, tensors_);
  refuses(GUF_E_ARG, "tensors is NULL", "add", 3, nullptr);
  for (const uint32_t size : {0U, 8U, 0xFFFFFFFFU}) {
    tensors_[1].struct_size = size;
    refuses(GUF_E_STRUCT, "argument 1: tensors: struct_size: expected a multiple of 8", "add", 3,
            tensors_);
    EXPECT_EQ(error_.argument, 1);
  }
  tensors_[1].struct_size = sizeof(guf_tensor);
  for (guf_tensor &one : tensors_) one.struct_size = 40;
  refuses(GUF_E_STRUCT, "tensors", "add", 3, tensors_);
  EXPECT_EQ(error_.argument, 0);
  for (guf_tensor &one : tensors_) one.struct_size = sizeof(guf_tensor);
  tensors_[1].dtype = 7;
  refuses(GUF_E_DTYPE, "argument 1: 0x00000007 is not a dtype", "add", 3, tensors_);
  tensors_[1] = tensor(nullptr, GUF_I32, 0, nullptr);
  refuses(GUF_E_ARG, "argument 1", "add", 3, tensors_);
}

// Every error of a tensor contains the index of its operand.
TEST_F(Apply, ReportsTheOperandAtFault) {
  const guf_tensor good = tensors_[1];
  guf_tensor dead = good;
  dead.device = reinterpret_cast<guf_device>(&sum_);
  const int64_t negative[] = {-1}, huge[] = {INT64_MAX};
  const std::pair<guf_status, guf_tensor> cases[] = {
      {GUF_E_SHAPE, tensor(&sum_, GUF_I32, 1, negative)},
      {GUF_E_SHAPE, tensor(&sum_, GUF_I32, 1, huge)},
      {GUF_E_SHAPE, tensor(&sum_, GUF_I32, -3, negative)},
      {GUF_E_HANDLE, dead}};
  for (const auto &[status, bad] : cases) {
    tensors_[1] = bad;
    refuses(status, "", "add", 3, tensors_);
    EXPECT_EQ(error_.argument, 1) << error_.message;
  }
  guf_operand operands[3] = {};
  for (int i = 0; i < 3; ++i) operands[i].kind = GUF_OPERAND_TENSOR, operands[i].tensor = &good;
  operands[1].tensor = nullptr;
  guf_ufunc add = nullptr;
  ASSERT_EQ(guf_ufunc_find(nullptr, "add", &add, &error_), GUF_OK);
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = 2, args.noutputs = 1, args.inputs = operands, args.outputs = operands + 2;
  EXPECT_EQ(guf_call(add, &args, &error_), GUF_E_ARG);
  EXPECT_EQ(error_.argument, 1);
  EXPECT_STREQ(error_.message, "operand.tensor is NULL");
  guf_ufunc_release(add, nullptr);
}

}  // namespace
