// SPDX-License-Identifier: Apache-2.0
// Tests every error of accumulate, reduceat and at: status, NumPy's message, and unchanged outputs.
#include <functional>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

void expect(guf_status found, const guf_error &error, guf_status expected, const char *text) {
  EXPECT_EQ(found, expected) << error.message;
  EXPECT_EQ(std::string(error.message).rfind(text, 0), 0u) << error.message;
}

TEST(MethodErrors, OfAccumulate) {
  const MethodOperands ground;
  Accumulate scalar("add", ground.input({}));
  expect(scalar.run(), scalar.error, GUF_E_DTYPE, "cannot accumulate on a scalar");
  Accumulate axis("add", ground.input({3}));
  axis.args.axis = 1;
  expect(axis.run(), axis.error, GUF_E_AXIS, "axis 1 is out of bounds for array of dimension 1");
  Accumulate unary("sin", ground.input({3}));
  expect(unary.run(), unary.error, GUF_E_VALUE, "accumulate only supported for binary functions");
  Accumulate indices("add", ground.input({3}));
  indices.args.indices = indices.weak_int(0);
  expect(indices.run(), indices.error, GUF_E_ARG, "args->indices must be NULL for accumulate");
  Accumulate size("add", ground.input({4}));
  size.into(ground.output({3}));
  expect(size.run(), size.error, GUF_E_SHAPE,
         "provided out is the wrong size for the accumulation.");
  Accumulate shape("add", ground.input({2, 3}));
  shape.into(ground.output({2, 4}));
  expect(shape.run(), shape.error, GUF_E_SHAPE,
         "operands could not be broadcast together with remapped shapes [original->remapped]: "
         "(2,4)->(2,4) (2,3)->(2,3) ");
  Accumulate fewer("add", ground.input({2, 3, 4}));
  fewer.into(ground.output({2, 3}));
  expect(
      fewer.run(), fewer.error, GUF_E_SHAPE,
      "Iterator input op_axes[0][0] (==2) is not a valid axis of op[0], which has 2 dimensions ");
  Accumulate reserved("add", ground.input({3}));
  reserved.args.options.reserved = 1;
  expect(reserved.run(), reserved.error, GUF_E_ARG, "args->options.reserved");
  Accumulate flags("add", ground.input({3}));
  flags.args.flags = GUF_CALL_KEEPDIMS;
  expect(flags.run(), flags.error, GUF_E_ARG, "args->flags");
  EXPECT_EQ(ground.result, std::vector<double>(24, 7.0));
}

TEST(MethodErrors, OfReduceat) {
  const MethodOperands ground;
  Accumulate range("add", ground.input({4}));
  expect(range.run_at(view(GUF_I64, ground.indices)), range.error, GUF_E_INDEX,
         "index 4 out-of-bounds in add.reduceat [0, 4)");
  const std::vector<int8_t> negative = {-1};
  Accumulate below("add", ground.input({4}));
  expect(below.run_at(view(GUF_I8, negative)), below.error, GUF_E_INDEX,
         "index -1 out-of-bounds in add.reduceat [0, 4)");
  Accumulate type("add", ground.input({4}));
  expect(type.run_at(ground.input({2})), type.error, GUF_E_CASTING,
         "Cannot cast array data from dtype('float64') to dtype('int64') according to the rule "
         "'safe'");
  Accumulate deep("add", ground.input({4}));
  expect(deep.run_at({GUF_I64, ground.indices.data(), {1, 2}, {}, 0}), deep.error, GUF_E_SHAPE,
         "object too deep for desired array");
  Accumulate flat("add", ground.input({4}));
  expect(flat.run_at({GUF_I64, ground.indices.data(), {}, {}, 0}), flat.error, GUF_E_SHAPE,
         "object of too small depth for desired array");
  Accumulate scalar("add", ground.input({}));
  expect(scalar.run_at(view(GUF_I64, ground.indices)), scalar.error, GUF_E_DTYPE,
         "cannot reduceat on a scalar");
  Accumulate none("add", ground.input({4}));
  expect(guf_reduceat(none.handle, &none.args, &none.error), none.error, GUF_E_ARG,
         "args->indices is NULL");
}

// Calls `at` on four numbers with one operand. A failing call must leave the numbers unchanged.
class AtErrors : public testing::Test {
 protected:
  using Change = std::function<void(At *)>;

  void run(const char *ufunc, const Change &change, guf_status status, const char *text) {
    At at(ufunc, view(GUF_F64, data_));
    change(&at);
    expect(at.run(), at.error, status, text);
  }
  static Change with(const View &index, const View &value) {
    return [index, value](At *at) {
      at->index(index);
      at->with(value);
    };
  }
  void TearDown() override { EXPECT_EQ(data_, std::vector<double>(4, 7.0)); }

  std::vector<double> data_ = std::vector<double>(4, 7.0);
  const std::vector<int64_t> good_ = {0, 1}, far_ = {0, 10}, longer_ = {0, 0, 0};
  const double one_ = 1;
  const View operand_ = {GUF_F64, &one_, {}, {}, 0};
};

TEST_F(AtErrors, OfOperands) {
  run(
      "add", [&](At *at) { at->index(view(GUF_I64, far_)); }, GUF_E_VALUE,
      "second operand needed for ufunc");
  run(
      "sqrt", [&](At *at) { at->with(operand_); }, GUF_E_VALUE,
      "second operand provided when ufunc is unary");
  run(
      "matmul", [&](At *at) { at->with(operand_); }, GUF_E_DTYPE,
      "matmul.at does not support ufunc with non-trivial signature: matmul has signature "
      "(n?,k),(k,m?)->(n?,m?).");
  const std::vector<double> three(3, 1.0);
  run("add", with(view(GUF_I64, good_), view(GUF_F64, three)), GUF_E_SHAPE,
      "array is not broadcastable to correct shape");
  run("bitwise_or", with(view(GUF_I64, far_), operand_), GUF_E_NO_LOOP,
      "ufunc 'bitwise_or' not supported for the input types");
  At locked("add", {GUF_F64, data_.data(), {4}, {}, GUF_TENSOR_READ_ONLY});
  locked.with(operand_);
  expect(locked.run(), locked.error, GUF_E_READ_ONLY, "output array is read-only");
  At stretched("add", {GUF_F64, data_.data(), {4}, {0}, 0});
  stretched.with(operand_);
  expect(stretched.run(), stretched.error, GUF_E_OVERLAP, "argument 2 is written");
}

TEST_F(AtErrors, OfIndices) {
  run("add", with(view(GUF_I64, far_), operand_), GUF_E_INDEX,
      "index 10 is out of bounds for axis 0 with size 4");
  run("add", with(view(GUF_F64, data_), operand_), GUF_E_INDEX,
      "arrays used as indices must be of integer (or boolean) type");
  run(
      "add",
      [&](At *at) {
        at->index(view(GUF_I64, good_));
        at->index(view(GUF_I64, good_));
        at->with(operand_);
      },
      GUF_E_INDEX, "too many indices for array: array is 1-dimensional, but 2 were indexed");
  At shapes("add", matrix(GUF_F64, data_, 2, 2));
  shapes.index(view(GUF_I64, good_));
  shapes.index(view(GUF_I64, longer_));
  shapes.with(operand_);
  expect(shapes.run(), shapes.error, GUF_E_INDEX,
         "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,) ");
  // A scalar index is checked before the shapes, even if the call has no elements.
  const int64_t three_down = -3;
  for (const std::vector<int64_t> &beside : {longer_, std::vector<int64_t>{}}) {
    At single("add", matrix(GUF_F64, data_, 2, 2));
    single.index(view(GUF_I64, beside));
    single.index({GUF_I64, &three_down, {}, {}, 0});
    single.with(operand_);
    expect(single.run(), single.error, GUF_E_INDEX,
           "index -3 is out of bounds for axis 1 with size 2");
  }
}

TEST_F(AtErrors, OfItsArguments) {
  run("add", [](At *at) { at->args.nindices = -1; }, GUF_E_ARG, "args->nindices");
  run("add", [](At *at) { at->args.nindices = 65; }, GUF_E_ARG, "args->nindices");
  run("add", [](At *at) { at->args.nindices = 1; }, GUF_E_ARG, "args->indices is NULL");
  run("add", [](At *at) { at->args.array = nullptr; }, GUF_E_ARG, "args->array is NULL");
  run("add", [](At *at) { at->args.flags = 1; }, GUF_E_ARG, "args->flags");
}

}  // namespace
}  // namespace gufunc
