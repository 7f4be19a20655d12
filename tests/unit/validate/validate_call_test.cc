// SPDX-License-Identifier: Apache-2.0
// Tests every error of arguments, operands and tensors that is detected before type resolution.
// Also tests valid calls that are similar to the invalid calls. Some sizes and addresses are at the
// limits of the address space.
#include "core/validate/validate_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/unit/call_view_sample.h"

namespace gufunc::validate {
namespace {

using testing::HasSubstr;

// ---- arguments

struct ArgsRow {
  const char *name;
  void (*change)(guf_call_args *args);
  const char *text;  // expected in the error message; nullptr means valid
  int32_t argument = -1;
};

void PrintTo(const ArgsRow &row, std::ostream *out) {
  *out << row.name;
}

const guf_dtype kTypes[3] = {};
const guf_core_axes kAxes[1] = {};
const guf_core_axes kAxesWithoutList[1] = {{nullptr, 1, 0}};
const int64_t kAxis = 0;
const guf_core_axes kNegativeAxisCount[1] = {{&kAxis, -1, 0}};
const guf_core_axes kLongEntry[1] = {{&kAxis, GUF_MAX_NDIM + 1, 0}};
const guf_core_axes kReservedEntry[1] = {{&kAxis, 1, 3}};
const guf_dim kDims[3] = {{"n", 1}, {nullptr, 2}, {"m", 3}};
guf_operand operands[3] = {};

const ArgsRow kArgsRows[] = {
    {"AsTheyAre", [](guf_call_args *) {}, nullptr},
    {"TooFewInputs", [](guf_call_args *a) { a->ninputs = 1; },
     "inputs of add(): expected 2, got 1"},
    {"TooManyInputs", [](guf_call_args *a) { a->ninputs = 3; }, "expected 2, got 3"},
    {"NegativeInputs", [](guf_call_args *a) { a->ninputs = -1; }, "expected 2, got -1"},
    {"TooManyOutputs", [](guf_call_args *a) { a->noutputs = 2; },
     "outputs of add(): expected 1, got 2"},
    {"NegativeOutputs", [](guf_call_args *a) { a->noutputs = -1; }, "expected 1, got -1"},
    {"NoOutputs", [](guf_call_args *a) { a->noutputs = 0; }, nullptr},
    {"NoInputList", [](guf_call_args *a) { a->inputs = nullptr; }, "args->inputs is NULL"},
    {"NoOutputList", [](guf_call_args *a) { a->outputs = nullptr; }, "args->outputs is NULL"},
    {"NoOutputsAndNoList",
     [](guf_call_args *a) {
       a->noutputs = 0;
       a->outputs = nullptr;
     },
     nullptr},
    {"Keepdims", [](guf_call_args *a) { a->flags = GUF_CALL_KEEPDIMS; }, nullptr},
    {"UnknownFlag", [](guf_call_args *a) { a->flags = 2 | GUF_CALL_KEEPDIMS; },
     "args->flags: expected 0 or GUF_CALL_KEEPDIMS, got 3"},
    {"UnsafeCasting", [](guf_call_args *a) { a->casting = GUF_CASTING_UNSAFE; }, nullptr},
    {"UnknownCasting", [](guf_call_args *a) { a->casting = GUF_CASTING_UNSAFE + 1; },
     "args->casting: expected a guf_casting, got "},
    {"NegativeCasting", [](guf_call_args *a) { a->casting = -1; },
     "args->casting: expected a guf_casting, got -1"},
    {"AnyOrder", [](guf_call_args *a) { a->order = GUF_ORDER_ANY; }, nullptr},
    {"UnknownOrder", [](guf_call_args *a) { a->order = GUF_ORDER_ANY + 1; },
     "args->order: expected a guf_order, got "},
    {"NegativeOrder", [](guf_call_args *a) { a->order = -1; },
     "args->order: expected a guf_order, got "},
    {"LastPolicy", [](guf_call_args *a) { a->host_policy = GUF_HOST_COPY_AND_WARN; }, nullptr},
    {"UnknownPolicy", [](guf_call_args *a) { a->host_policy = GUF_HOST_COPY_AND_WARN + 1; },
     "args->host_policy: expected a guf_host_policy, got "},
    {"NegativePolicy", [](guf_call_args *a) { a->host_policy = -1; },
     "args->host_policy: expected a guf_host_policy, got "},
    {"Signature",
     [](guf_call_args *a) {
       a->nsignature = 3;
       a->signature = kTypes;
     },
     nullptr},
    {"ShortSignature",
     [](guf_call_args *a) {
       a->nsignature = 2;
       a->signature = kTypes;
     },
     "types in a signature of add(): expected 3, got 2"},
    {"EmptySignature", [](guf_call_args *a) { a->signature = kTypes; },
     "types in a signature of add(): expected 3, got 0"},
    {"SignatureWithoutList", [](guf_call_args *a) { a->nsignature = 3; }, "args->nsignature"},
    {"NegativeSignature",
     [](guf_call_args *a) {
       a->nsignature = -1;
       a->signature = kTypes;
     },
     "args->nsignature"},
    {"LongSignature",
     [](guf_call_args *a) {
       a->nsignature = GUF_MAX_OPERANDS + 1;
       a->signature = kTypes;
     },
     "args->nsignature: expected 0..32, got 33"},
    {"Axes",
     [](guf_call_args *a) {
       a->naxes = 1;
       a->axes = kAxes;
     },
     nullptr},
    {"AxesWithoutList", [](guf_call_args *a) { a->naxes = 1; }, "args->naxes"},
    {"NegativeAxes",
     [](guf_call_args *a) {
       a->naxes = -1;
       a->axes = kAxes;
     },
     "args->naxes"},
    {"TooManyAxes",
     [](guf_call_args *a) {
       a->naxes = GUF_MAX_OPERANDS + 1;
       a->axes = kAxes;
     },
     "args->naxes: expected 0..32, got 33"},
    {"EntryWithoutAxes", [](guf_call_args *a) { a->naxes = 1, a->axes = kAxesWithoutList; },
     "args->axes[0].axis is NULL", 0},
    {"EntryWithANegativeCount",
     [](guf_call_args *a) { a->naxes = 1, a->axes = kNegativeAxisCount; },
     "args->axes[0].naxis: expected 0..64, got -1", 0},
    {"EntryWithTooManyAxes", [](guf_call_args *a) { a->naxes = 1, a->axes = kLongEntry; },
     "args->axes[0].naxis: expected 0..64, got 65", 0},
    {"EntryWithReserved", [](guf_call_args *a) { a->naxes = 1, a->axes = kReservedEntry; },
     "args->axes[0].reserved: expected 0, got 3", 0},
    {"UnknownFlagToReport", [](guf_call_args *a) { a->options.fp_report = 1U << 5; },
     "args->options.fp_report: expected flags of guf_fp_flag, got 32"},
    {"UnknownFlagToFailFor", [](guf_call_args *a) { a->options.fp_fail = 1U << 5; },
     "args->options.fp_fail: expected flags of guf_fp_flag, got 32"},
    {"FlagsToReportNowhere", [](guf_call_args *a) { a->options.fp_report = 1; },
     "args->options.fp_flags is NULL"},
    {"FlagsToFailFor", [](guf_call_args *a) { a->options.fp_fail = 31; }, nullptr},
    {"Dims",
     [](guf_call_args *a) {
       a->ndims = 1;
       a->dims = kDims;
     },
     nullptr},
    {"DimsWithoutList", [](guf_call_args *a) { a->ndims = 1; }, "args->ndims"},
    {"NegativeDims",
     [](guf_call_args *a) {
       a->ndims = -1;
       a->dims = kDims;
     },
     "args->ndims"},
    {"TooManyDims",
     [](guf_call_args *a) {
       a->ndims = GUF_MAX_CORE_NAMES + 1;
       a->dims = kDims;
     },
     "args->ndims: expected 0..16, got 17"},
    {"DimWithoutName",
     [](guf_call_args *a) {
       a->ndims = 3;
       a->dims = kDims;
     },
     "args->dims[1].name is NULL", 1},
};

guf_call_args good_args(int32_t ninputs, int32_t noutputs) {
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = ninputs;
  args.noutputs = noutputs;
  args.inputs = operands;
  args.outputs = operands;
  return args;
}

class Arguments : public testing::TestWithParam<ArgsRow> {};

TEST_P(Arguments, AreCheckedBeforeOperands) {
  const View x = shaped({3});
  CallViewSample add("add", "", "", 2, {x, x, x});
  guf_call_args args = good_args(2, 1);
  GetParam().change(&args);
  guf_error error = fresh_error();
  const guf_status status = check_args(add.ufunc(), args, &error);
  if (GetParam().text == nullptr) {
    EXPECT_EQ(status, GUF_OK) << error.message;
    return;
  }
  EXPECT_EQ(status, GUF_E_ARG);
  EXPECT_EQ(error.status, GUF_E_ARG);
  EXPECT_THAT(error.message, HasSubstr(GetParam().text));
  EXPECT_EQ(error.argument, GetParam().argument);
  EXPECT_EQ(check_args(add.ufunc(), args, nullptr), GUF_E_ARG);
}

INSTANTIATE_TEST_SUITE_P(Rows, Arguments, testing::ValuesIn(kArgsRows),
                         [](const auto &row) { return std::string(row.param.name); });

// The signature has two operands, one of them inout, and no output. A call may pass no output, or
// one output in place of the inout operand.
TEST(ValidateCall, OutputsOfASignatureWithoutOutputs) {
  op::Ufunc ufunc;
  ufunc.name = "sort";
  ufunc.signature.nin = 2;
  ufunc.signature.role = {GUF_ROLE_IN, GUF_ROLE_INOUT};
  guf_error error = fresh_error();
  EXPECT_EQ(check_args(ufunc, good_args(2, 0), &error), GUF_OK);
  EXPECT_EQ(check_args(ufunc, good_args(2, 1), &error), GUF_OK);
  EXPECT_EQ(check_args(ufunc, good_args(2, 2), &error), GUF_E_ARG);
  EXPECT_THAT(error.message, HasSubstr("outputs of sort(): expected 1, got 2"));
}

// ---- operands

struct OperandRow {
  const char *name;
  int32_t operand;  // index of the operand in (x, y) -> z
  std::vector<int64_t> shape, strides;
  uint32_t flags;
  guf_status status;
  const char *text = "";
};

void PrintTo(const OperandRow &row, std::ostream *out) {
  *out << row.name;
}

constexpr char kShares[] = "argument 2 is written, and elements of it share memory";

const OperandRow kOperandRows[] = {
    {"Plain", 2, {2, 3}, {24, 8}, 0, GUF_OK},
    {"Missing", 2, {2}, {0}, op::kMissing | op::kReadOnly, GUF_OK},
    {"Transposed", 2, {3, 2}, {8, 24}, 0, GUF_OK},
    {"Reversed", 2, {3}, {-8}, 0, GUF_OK},
    {"OneElementStretched", 2, {1, 3}, {0, 8}, 0, GUF_OK},
    {"EmptyStretched", 2, {0, 3}, {0, 0}, 0, GUF_OK},
    {"InputReadOnly", 1, {3}, {8}, op::kReadOnly, GUF_OK},
    {"InputStretched", 0, {3}, {0}, 0, GUF_OK},
    {"InputScalar", 0, {}, {}, op::kScalar, GUF_OK},

    {"ReadOnly",
     2,
     {3},
     {8},
     op::kReadOnly,
     GUF_E_READ_ONLY,
     "output array is read-only; argument 2"},
    {"Scalar",
     2,
     {},
     {},
     op::kScalar,
     GUF_E_ARG,
     "return arrays must be of ArrayType; argument 2 is written: expected an array or a tensor, "
     "got a scalar"},
    {"Stretched", 2, {3}, {0}, 0, GUF_E_OVERLAP, kShares},
    {"HalfAnElementApart", 2, {3}, {4}, 0, GUF_E_OVERLAP, kShares},
    {"SlidingWindow", 2, {3, 2}, {8, 8}, 0, GUF_E_OVERLAP, kShares},
    {"ReversedWindow", 2, {3, 2}, {-8, 8}, 0, GUF_E_OVERLAP, kShares},
};

class CallOperands : public testing::TestWithParam<OperandRow> {};

TEST_P(CallOperands, AreChecked) {
  const OperandRow &row = GetParam();
  const View plain = shaped({3});
  std::vector<View> given(3, plain);
  given[static_cast<size_t>(row.operand)] = shaped(row.shape, row.strides);
  CallViewSample call("add", "", "", 2, given);
  call.view().operand[row.operand].flags |= row.flags;
  guf_error error = fresh_error();
  EXPECT_EQ(check_operands(call.view(), &error), row.status) << error.message;
  EXPECT_THAT(error.message, HasSubstr(row.text));
  EXPECT_EQ(error.argument, row.status == GUF_OK ? 0 : row.operand);
}

INSTANTIATE_TEST_SUITE_P(Rows, CallOperands, testing::ValuesIn(kOperandRows),
                         [](const auto &row) { return std::string(row.param.name); });

// If an inout operand has a separate output, the call only reads the operand, so the operand may be
// read-only.
TEST(ValidateCall, SeparateOutputsAreWritten) {
  const View plain = shaped({3});
  CallViewSample call("sort", "", "", 1, {plain, plain});
  call.ufunc().signature.nin = 1;
  call.ufunc().signature.nout = 0;
  call.ufunc().signature.role = {GUF_ROLE_INOUT};
  call.view().noperands = 1;
  call.view().operand[0].flags = op::kReadOnly;
  guf_error error = fresh_error();
  EXPECT_EQ(check_operands(call.view(), &error), GUF_E_READ_ONLY);
  EXPECT_EQ(error.argument, 0);

  call.view().nseparate = 1;
  call.view().operand[0].flags |= op::kHasSeparateOutput;
  EXPECT_EQ(check_operands(call.view(), &error), GUF_OK);
  call.view().operand[1].flags = op::kReadOnly;
  EXPECT_EQ(check_operands(call.view(), &error), GUF_E_READ_ONLY);
  EXPECT_EQ(error.argument, 1);
}

TEST(ValidateCall, TheMaskIsBool) {
  const View plain = shaped({3});
  CallViewSample call("negative", "", "", 1, {plain, plain});
  guf_error error = fresh_error();
  call.set_where(shaped({3}, {}, GUF_BOOL));
  EXPECT_EQ(check_operands(call.view(), &error), GUF_OK);
  for (const guf_dtype dtype : {GUF_U8, GUF_F64}) {
    call.set_where(shaped({3}, {}, dtype));
    EXPECT_EQ(check_operands(call.view(), &error), GUF_E_CASTING);
    EXPECT_THAT(error.message, HasSubstr("to dtype('bool') according to the rule 'safe'; where: "));
    EXPECT_EQ(error.argument, 2);
  }
  call.view().where.flags |= op::kSwapped;
  EXPECT_EQ(check_operands(call.view(), &error), GUF_E_CASTING);
  EXPECT_THAT(error.message,
              HasSubstr("Cannot cast array data from dtype('>f8') to dtype('bool')"));
}

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kBig = int64_t{1} << 40;

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
  guf_error error = fresh_error();
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
  guf_error error = fresh_error();
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
  guf_error error = fresh_error();
  EXPECT_EQ(check_tensor(tensor_of(0, nullptr), 2, buffer, &layout, &error), GUF_OK);
  EXPECT_EQ(check_tensor(tensor_of(1, nullptr), 2, buffer, &layout, &error), GUF_E_ARG);
  EXPECT_STREQ(error.message, "argument 2: the tensor's shape is NULL");
  EXPECT_EQ(error.argument, 2);
}

}  // namespace

}  // namespace gufunc::validate
