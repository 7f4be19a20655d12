// SPDX-License-Identifier: Apache-2.0
// Tests calls end to end: allocated outputs, casts, masks, streams and errors.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tests/support/requests.h"
#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<double> values_of(guf_operand *operand, std::vector<int64_t> *out_shape = nullptr) {
  guf_error error = fresh_error();
  EXPECT_EQ(operand->kind, GUF_OPERAND_ARRAY);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(operand->array, &info, &error), GUF_OK) << error.message;
  if (out_shape != nullptr) out_shape->assign(info.shape, info.shape + info.ndim);
  EXPECT_EQ(info.dtype, static_cast<guf_dtype>(GUF_F64));
  std::vector<double> values(info.size);
  EXPECT_EQ(guf_array_copy_to_host(operand->array, values.data(), info.nbytes, GUF_ORDER_C, nullptr,
                                   &error),
            GUF_OK)
      << error.message;
  guf_array_release(operand->array, nullptr);
  return values;
}

TEST(CallPipeline, AddsWithBroadcastingIntoAGivenOutput) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> row = {10, 20, 30};
  std::vector<float> y(6);
  Call call("add");
  call.in({GUF_F32, x.data(), {2, 3}, {}, 0})
      .in(view(GUF_F32, row))
      .out({GUF_F32, y.data(), {2, 3}, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(y, ElementsAre(11, 22, 33, 14, 25, 36));
}

TEST(CallPipeline, AllocatesOutputsAndCasts) {
  const std::vector<float> x = {1, 2};
  const std::vector<int32_t> z = {3, 4};
  Call call("add");
  call.in({GUF_F32, x.data(), {2, 1}, {}, 0}).in(view(GUF_I32, z)).out_missing();
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  std::vector<int64_t> shape;
  EXPECT_THAT(values_of(&call.outputs[0], &shape), ElementsAre(4, 5, 5, 6));
  EXPECT_THAT(shape, ElementsAre(2, 2));
}

TEST(CallPipeline, ZeroOutputsAllocatesAll) {
  const std::vector<double> x = {1, 4};
  Call call("sqrt");
  call.in(view(GUF_F64, x)).out_missing();
  call.ready();
  call.args.noutputs = 0;
  ASSERT_EQ(guf_call(call.handle, &call.args, &call.error), GUF_OK) << call.error.message;
  EXPECT_THAT(values_of(&call.outputs[0]), ElementsAre(1, 2));
}

TEST(CallPipeline, UnalignedAndSwappedOperands) {
  alignas(8) unsigned char bytes[64] = {};
  const double one = 1.5;
  const double two = 2.5;
  std::memcpy(bytes + 3, &one, 8);
  std::memcpy(bytes + 11, &two, 8);
  std::vector<uint64_t> swapped = {__builtin_bswap64(0x4000000000000000ULL),   // 2.0
                                   __builtin_bswap64(0x4008000000000000ULL)};  // 3.0
  std::vector<double> y(2);
  Call call("multiply");
  call.in({GUF_F64, bytes + 3, {2}, {}, 0})
      .in({GUF_F64, swapped.data(), {2}, {}, GUF_TENSOR_SWAPPED})
      .out(view(GUF_F64, y));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(y, ElementsAre(3, 7.5));
}

TEST(CallPipeline, MaskKeepsWhereFalse) {
  const std::vector<double> x = {1, 2, 3};
  const std::vector<uint8_t> mask = {1, 0, 1};
  std::vector<double> y = {-1, -1, -1};
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, y)).where(view(GUF_BOOL, mask));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_THAT(y, ElementsAre(-1, -1, -3));
}

TEST(CallPipeline, MoreDimensionsThanABlockHolds) {
  // The array has 12 dimensions of extent 2, whose order in memory is permuted. No two dimensions
  // can be coalesced.
  constexpr int kNdim = 12;
  std::vector<int64_t> shape(kNdim, 2);
  std::vector<int64_t> strides(kNdim);
  for (int k = 0; k < kNdim; ++k) strides[static_cast<size_t>(k)] = int64_t{4} << ((k * 5) % kNdim);
  std::vector<float> x(1 << kNdim);
  std::vector<float> y(1 << kNdim);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  Call call("add");
  call.in({GUF_F32, x.data(), shape, strides, 0})
      .in(weak_int_of(1))
      .out({GUF_F32, y.data(), shape, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  for (size_t item = 0; item < y.size(); ++item) {
    size_t from = 0;
    for (int k = 0; k < kNdim; ++k) {
      if ((item >> (kNdim - 1 - k) & 1U) != 0)
        from += static_cast<size_t>(strides[static_cast<size_t>(k)]) / 4;
    }
    ASSERT_EQ(y[item], x[from] + 1) << item;
  }
}

TEST(CallPipeline, StreamKeepsScalarsAndResults) {
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  guf_error error = fresh_error();
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK) << error.message;
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK) << error.message;
  const std::vector<double> x(1 << 20, 3.0);
  std::vector<guf_operand> results;
  for (int round = 0; round < 8; ++round) {
    Call call("multiply");
    call.in(view(GUF_F64, x)).in(weak_int_of(round)).out_missing();
    call.args.options.stream = stream;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
    results.push_back(call.outputs[0]);
  }
  ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_OK) << error.message;
  for (size_t round = 0; round < results.size(); ++round) {
    const std::vector<double> values = values_of(&results[round]);
    EXPECT_EQ(std::count(values.begin(), values.end(), 3.0 * static_cast<double>(round)), 1 << 20);
  }
  guf_stream_release(stream, nullptr);
}

TEST(Resolution, ReturnsTypesAndShapes) {
  const std::vector<float> x(6);
  const std::vector<int32_t> z(3);
  Call call("add");
  call.in({GUF_F32, x.data(), {2, 1, 3}, {}, 0}).in(view(GUF_I32, z)).out_missing();
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  ASSERT_EQ(requests::resolve_call(call.handle, call.ready(), &resolution, &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(resolution.noperands, 3);
  EXPECT_EQ(resolution.dtypes[0], static_cast<guf_dtype>(GUF_F32));
  EXPECT_EQ(resolution.dtypes[2], static_cast<guf_dtype>(GUF_F64));
  EXPECT_EQ(resolution.loop_dtypes[1], static_cast<guf_dtype>(GUF_F64));
  ASSERT_EQ(resolution.output_ndims[0], 3);
  EXPECT_EQ(resolution.output_shapes[0][1], 1);
}

struct Refusal {
  const char *name;
  guf_status status;
  const char *text;
  void (*prepare)(Call *call);
};

std::vector<double> three = {1, 2, 3};
std::vector<double> four = {1, 2, 3, 4};

const Refusal kRefusals[] = {
    {"Shapes", GUF_E_SHAPE,
     "operands could not be broadcast together with shapes (3,) (4,) ; argument 1, axis 0: "
     "expected 3, got 4",
     [](Call *call) { call->in(view(GUF_F64, three)).in(view(GUF_F64, four)).out_missing(); }},
    {"SmallOutput", GUF_E_SHAPE,
     "non-broadcastable output operand with shape (1,) doesn't match the broadcast shape (3,)",
     [](Call *call) {
       call->in(view(GUF_F64, three))
           .in(view(GUF_F64, three))
           .out({GUF_F64, four.data(), {1}, {}, 0});
     }},
    {"ReadOnly", GUF_E_READ_ONLY, "output array is read-only; argument 2",
     [](Call *call) {
       call->in(view(GUF_F64, three))
           .in(view(GUF_F64, three))
           .out({GUF_F64, four.data(), {3}, {}, GUF_TENSOR_READ_ONLY});
     }},
    {"OverlapsItself", GUF_E_OVERLAP, "argument 2 is written, and elements of it share memory",
     [](Call *call) {
       call->in(view(GUF_F64, three))
           .in(view(GUF_F64, three))
           .out({GUF_F64, four.data(), {3}, {4}, 0});
     }},
    {"ScalarOutput", GUF_E_ARG, "return arrays must be of ArrayType",
     [](Call *call) {
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three));
       call->outputs.push_back(weak_int_of(1));
     }},
    {"MissingInput", GUF_E_ARG, "argument 0: kind 0 is GUF_OPERAND_NONE",
     [](Call *call) { call->in(guf_operand{}).in(view(GUF_F64, three)).out_missing(); }},
    {"UnknownKind", GUF_E_ARG, "argument 0: kind 99 is not a guf_operand_kind",
     [](Call *call) {
       guf_operand odd = {};
       odd.kind = 99;
       call->in(odd).in(view(GUF_F64, three)).out_missing();
     }},
    {"OperandFlags", GUF_E_ARG, "operand.flags and operand.reserved: expected 0, got 0x0 and 1",
     [](Call *call) {
       guf_operand odd = weak_int_of(1);
       odd.reserved = 1;
       call->in(odd).in(view(GUF_F64, three)).out_missing();
     }},
    {"TooFewInputs", GUF_E_ARG, "inputs of add(): expected 2, got 1",
     [](Call *call) { call->in(view(GUF_F64, three)).out_missing(); }},
    {"TooManyOutputs", GUF_E_ARG, "outputs of add(): expected 1, got 2",
     [](Call *call) {
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three)).out_missing().out_missing();
     }},
    {"UnknownFlag", GUF_E_ARG, "args->flags: expected 0 or GUF_CALL_KEEPDIMS, got 8",
     [](Call *call) {
       call->args.flags = 8;
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three)).out_missing();
     }},
    {"UnknownCasting", GUF_E_ARG, "args->casting: expected a guf_casting, got 6",
     [](Call *call) {
       call->args.casting = 6;
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three)).out_missing();
     }},
    {"UnknownOrder", GUF_E_ARG, "args->order: expected a guf_order, got -1",
     [](Call *call) {
       call->args.order = -1;
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three)).out_missing();
     }},
    {"MaskOfDoubles", GUF_E_CASTING,
     "Cannot cast array data from dtype('float64') to dtype('bool') according to the rule 'safe'",
     [](Call *call) {
       call->in(view(GUF_F64, three))
           .in(view(GUF_F64, three))
           .out_missing()
           .where(view(GUF_F64, three));
     }},
    {"NegativeExtent", GUF_E_SHAPE, "negative dimensions are not allowed",
     [](Call *call) {
       call->in({GUF_F64, three.data(), {-1}, {}, 0}).in(view(GUF_F64, three)).out_missing();
     }},
    {"SizeOverflows", GUF_E_SHAPE, "array is too big",
     [](Call *call) {
       call->in({GUF_F64, three.data(), {1LL << 40, 1LL << 40}, {0, 0}, 0})
           .in(view(GUF_F64, three))
           .out_missing();
     }},
    {"AddressesWrap", GUF_E_SHAPE, "the addresses of the tensor's elements overflow",
     [](Call *call) {
       call->in({GUF_F64, three.data(), {3}, {1LL << 62}, 0})
           .in(view(GUF_F64, three))
           .out_missing();
     }},
    {"AddressZero", GUF_E_ARG, "argument 0: the tensor's address is 0",
     [](Call *call) {
       call->in({GUF_F64, nullptr, {3}, {}, 0}).in(view(GUF_F64, three)).out_missing();
     }},
    {"TensorFlags", GUF_E_ARG, "the tensor has unknown flags 0x80",
     [](Call *call) {
       call->in({GUF_F64, three.data(), {3}, {}, 0x80}).in(view(GUF_F64, three)).out_missing();
     }},
    {"TensorDtype", GUF_E_DTYPE, "argument 0: 0x00000007 is not a dtype",
     [](Call *call) {
       call->in({7, three.data(), {3}, {}, 0}).in(view(GUF_F64, three)).out_missing();
     }},
    {"Axis", GUF_E_ARG, "add() got an unexpected keyword argument 'axis'",
     [](Call *call) {
       static const int64_t axis = 0;
       call->args.axis = &axis;
       call->in(view(GUF_F64, three)).in(view(GUF_F64, three)).out_missing();
     }},
};

void PrintTo(const Refusal &row, std::ostream *out) {
  *out << row.name;
}

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NamesTheReasonAndLeavesOutputs) {
  Call call("add");
  GetParam().prepare(&call);
  const std::vector<double> before = four;
  EXPECT_EQ(call.run(), GetParam().status);
  EXPECT_THAT(call.error.message, HasSubstr(GetParam().text));
  EXPECT_EQ(four, before);
  for (const guf_operand &output : call.outputs) EXPECT_NE(output.kind, GUF_OPERAND_ARRAY);
}

INSTANTIATE_TEST_SUITE_P(Rows, Refusals, testing::ValuesIn(kRefusals),
                         [](const auto &row) { return row.param.name; });

}  // namespace
}  // namespace gufunc
