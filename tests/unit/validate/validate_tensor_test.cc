// SPDX-License-Identifier: Apache-2.0
// Tests every kind of tensor that a call rejects, and similar valid tensors. Some sizes and
// addresses are at the limits of the address space.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/validate/validate_call.h"

namespace gufunc::validate {
namespace {

using testing::HasSubstr;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kBig = int64_t{1} << 40;

guf_error no_error() {
  guf_error error = {};
  error.struct_size = sizeof error;
  return error;
}

struct TensorRow {
  const char *name;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // empty means NULL
  uint64_t address;
  guf_status status;
  const char *text = "";
  guf_dtype dtype = GUF_F64;
  uint32_t flags = 0;
};

void PrintTo(const TensorRow &row, std::ostream *out) {
  *out << row.name;
}

constexpr char kTooBig[] = "array is too big";
constexpr char kNegative[] = "negative dimensions are not allowed; axis 1: got -1";
constexpr char kAddresses[] = "argument 4: the addresses of the tensor's elements overflow";

const TensorRow kTensorRows[] = {
    {"Contiguous", {2, 3}, {}, 0x1000, GUF_OK},
    {"NegativeStride", {3}, {-8}, 0x1010, GUF_OK},
    {"Stretched", {kBig}, {0}, 0x1000, GUF_OK},
    {"EmptyAtZero", {3, 0}, {}, 0, GUF_OK},
    {"FlagsKnown", {3}, {}, 8, GUF_OK, "", GUF_F64, GUF_TENSOR_READ_ONLY | GUF_TENSOR_SWAPPED},
    {"LastAddress", {1}, {}, static_cast<uint64_t>(kMax) - 8, GUF_OK},
    {"FirstAddress", {3}, {-8}, 16, GUF_OK},

    {"NoDtype", {3}, {}, 8, GUF_E_DTYPE, "argument 4: 0x00000000 is not a dtype", 0},
    {"UnknownDtype", {3}, {}, 8, GUF_E_DTYPE, "argument 4: 0x7fffffff is not a dtype", 0x7FFFFFFF},
    {"UnknownFlag",
     {3},
     {},
     8,
     GUF_E_ARG,
     "argument 4: the tensor has unknown flags 0x8000",
     GUF_F64,
     0x8000},
    {"AddressZero", {3}, {}, 0, GUF_E_ARG, "argument 4: the tensor's address is 0"},
    {"ScalarAtZero", {}, {}, 0, GUF_E_ARG, "argument 4: the tensor's address is 0"},
    {"NegativeExtent", {3, -1}, {}, 8, GUF_E_SHAPE, kNegative},
    {"NegativeExtentBesideZero", {0, -1}, {}, 8, GUF_E_SHAPE, kNegative},
    {"TooBig", {kBig, kBig}, {}, 8, GUF_E_SHAPE, kTooBig},
    {"TooBigBehindZero", {0, kBig, kBig}, {}, 8, GUF_E_SHAPE, kTooBig},
    {"TooBigBeforeZero", {kBig, kBig, 0}, {}, 8, GUF_E_SHAPE, kTooBig},
    {"TooBigThoughStretched", {kBig, kBig}, {0, 0}, 8, GUF_E_SHAPE, kTooBig},
    {"StrideTimesExtent", {3}, {kMax}, 8, GUF_E_SHAPE, kAddresses},
    {"SumOfReaches", {2, 2}, {kMax / 2 + 1, kMax / 2 + 1}, 8, GUF_E_SHAPE, kAddresses},
    {"SumOfNegativeReaches",
     {2, 2},
     {-(kMax / 2) - 1, -(kMax / 2) - 2},
     8,
     GUF_E_SHAPE,
     kAddresses},
    {"BelowZero", {3}, {-8}, 15, GUF_E_SHAPE, kAddresses},
    {"PastTheLastAddress", {1}, {}, static_cast<uint64_t>(kMax) - 7, GUF_E_SHAPE, kAddresses},
    {"UpperHalf", {1}, {}, uint64_t{1} << 63, GUF_E_SHAPE, kAddresses},
};

class Tensors : public testing::TestWithParam<TensorRow> {};

TEST_P(Tensors, AreChecked) {
  const TensorRow &row = GetParam();
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = row.dtype;
  tensor.flags = row.flags;
  tensor.ndim = static_cast<int32_t>(row.shape.size());
  tensor.shape = row.shape.data();
  tensor.strides = row.strides.empty() ? nullptr : row.strides.data();
  tensor.address = row.address;
  int64_t buffer[GUF_MAX_NDIM] = {};
  array::Layout layout = {};
  guf_error error = no_error();
  EXPECT_EQ(check_tensor(tensor, 4, buffer, &layout, &error), row.status) << error.message;
  EXPECT_EQ(error.status, row.status);
  EXPECT_THAT(error.message, HasSubstr(row.text));
  if (row.status != GUF_OK) {
    EXPECT_EQ(layout.shape, nullptr) << "a rejected tensor has no layout";
    return;
  }
  EXPECT_EQ(layout.ndim, tensor.ndim);
  EXPECT_EQ(layout.shape, tensor.shape);
  EXPECT_EQ(layout.address, tensor.address);
  EXPECT_EQ(layout.strides, row.strides.empty() ? buffer : row.strides.data());
}

INSTANTIATE_TEST_SUITE_P(Rows, Tensors, testing::ValuesIn(kTensorRows),
                         [](const auto &row) { return std::string(row.param.name); });

guf_tensor tensor_of(int32_t ndim, const int64_t *shape) {
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = GUF_F64;
  tensor.ndim = ndim;
  tensor.shape = shape;
  tensor.address = 0x1000;
  return tensor;
}

TEST(ValidateTensor, TensorsGetContiguousStrides) {
  const int64_t shape[] = {2, 3, 4};
  int64_t buffer[GUF_MAX_NDIM] = {};
  array::Layout layout = {};
  ASSERT_EQ(check_tensor(tensor_of(3, shape), 0, buffer, &layout, nullptr), GUF_OK);
  EXPECT_THAT(std::vector<int64_t>(layout.strides, layout.strides + 3),
              testing::ElementsAre(96, 32, 8));
}

TEST(ValidateTensor, NumberOfDimensions) {
  const std::vector<int64_t> ones(GUF_MAX_NDIM + 1, 1);
  int64_t buffer[GUF_MAX_NDIM + 1] = {};
  array::Layout layout = {};
  guf_error error = no_error();
  EXPECT_EQ(check_tensor(tensor_of(GUF_MAX_NDIM, ones.data()), 0, buffer, &layout, &error), GUF_OK);
  for (const int32_t ndim : {-1, GUF_MAX_NDIM + 1, std::numeric_limits<int32_t>::max()}) {
    EXPECT_EQ(check_tensor(tensor_of(ndim, ones.data()), 2, buffer, &layout, &error), GUF_E_SHAPE);
    EXPECT_EQ(error.message, "argument 2: ndim: expected 0..64, got " + std::to_string(ndim));
    EXPECT_EQ(error.argument, 2);
  }
}

TEST(ValidateTensor, ShapesThatAreNull) {
  int64_t buffer[GUF_MAX_NDIM] = {};
  array::Layout layout = {};
  guf_error error = no_error();
  EXPECT_EQ(check_tensor(tensor_of(0, nullptr), 2, buffer, &layout, &error), GUF_OK);
  EXPECT_EQ(check_tensor(tensor_of(1, nullptr), 2, buffer, &layout, &error), GUF_E_ARG);
  EXPECT_STREQ(error.message, "argument 2: the tensor's shape is NULL");
  EXPECT_EQ(error.argument, 2);
}

}  // namespace
}  // namespace gufunc::validate
