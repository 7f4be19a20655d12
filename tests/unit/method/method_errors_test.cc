// SPDX-License-Identifier: Apache-2.0
// Tests every error of accumulate, reduceat, at and reduce: status, NumPy's message, and unchanged
// outputs.
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

struct Row {
  const char *name;
  const char *ufunc;
  std::vector<int64_t> shape;
  std::function<void(const MethodOperands &, Reduce *)> change;
  guf_status status;
  const char *text;  // start of the error message
};

const Row kReduceRows[] = {
    {"NotBinary",
     "sin",
     {3},
     [](auto &, auto *) {},
     GUF_E_VALUE,
     "reduce only supported for binary functions"},
    {"CoreDimensions",
     "matmul",
     {3},
     [](auto &, auto *) {},
     GUF_E_VALUE,
     "Reduction not defined on ufunc with signature"},
    {"AxisOutOfRange",
     "add",
     {3, 2},
     [](auto &, Reduce *r) { r->axes({2}); },
     GUF_E_AXIS,
     "axis 2 is out of bounds for array of dimension 2"},
    {"AxisTwice",
     "add",
     {3, 2},
     [](auto &, Reduce *r) { r->axes({0, -2}); },
     GUF_E_AXIS,
     "duplicate value in 'axis'"},
    {"AxisOfAScalar",
     "add",
     {},
     [](auto &, Reduce *r) { r->axes({1}); },
     GUF_E_AXIS,
     "axis 1 is out of bounds for array of dimension 0"},
    {"OrderMatters",
     "subtract",
     {3, 2},
     [](auto &, Reduce *r) { r->args.naxis = GUF_ALL_AXES; },
     GUF_E_VALUE,
     "reduction operation 'subtract' is not reorderable, so at most one axis may be specified"},
    {"NoElements",
     "maximum",
     {0, 3},
     [](auto &, auto *) {},
     GUF_E_VALUE,
     "zero-size array to reduction operation maximum which has no identity"},
    {"NoElementsNorInitial",
     "add",
     {0},
     [](auto &, Reduce *r) { r->args.initial = r->none(); },
     GUF_E_VALUE,
     "zero-size array to reduction operation add which has no identity"},
    {"MaskWithoutInitial",
     "maximum",
     {3, 2},
     [](const MethodOperands &g, Reduce *r) { r->args.where = r->tensor(g.where({2})); },
     GUF_E_VALUE,
     "reduction operation 'maximum' does not have an identity, so to use a where mask one has to "
     "specify 'initial'"},
    {"MaskTooLong",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) { r->args.where = r->tensor(g.where({4})); },
     GUF_E_SHAPE,
     "operands could not be broadcast together with remapped shapes [original->remapped]: (2,3) "
     "(4,) "},
    {"MaskWithMoreDimensions",
     "add",
     {3},
     [](const MethodOperands &g, Reduce *r) { r->args.where = r->tensor(g.where({1, 3})); },
     GUF_E_SHAPE,
     "input operand has more dimensions than allowed by the axis remapping"},
    {"MaskWiderThanTheInput",
     "add",
     {1, 3},
     [](const MethodOperands &g, Reduce *r) { r->args.where = r->tensor(g.where({4, 3})); },
     GUF_E_SHAPE,
     "non-broadcastable operand with shape (1,3) doesn't match the broadcast shape (4,3)"},
    {"MaskOfAnotherType",
     "add",
     {3},
     [](const MethodOperands &g, Reduce *r) { r->args.where = r->tensor(g.input({3})); },
     GUF_E_CASTING,
     "Cannot cast array data from dtype('float64') to dtype('bool') according to the rule 'safe'"},
    {"WeakMask",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.where = r->weak_int(1); },
     GUF_E_CASTING,
     "Cannot cast array data to dtype('bool')"},
    {"OutputOfOtherDimensions",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) { r->into(g.output({1, 3})); },
     GUF_E_SHAPE,
     "output parameter for reduction operation add has the wrong number of dimensions: Found 2 but "
     "expected 1"},
    {"OutputTooShort",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) { r->into(g.output({2})); },
     GUF_E_SHAPE,
     "operands could not be broadcast together with remapped shapes [original->remapped]: "
     "(2,)->(2) (2,3) "},
    {"OutputOfOne",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) { r->into(g.output({1})); },
     GUF_E_SHAPE,
     "output operand requires a reduction along dimension 0, but the reduction is not enabled. The "
     "dimension size of 1 does not match the expected output shape."},
    {"OutputWiderThanTheInput",
     "add",
     {2, 1},
     [](const MethodOperands &g, Reduce *r) { r->into(g.output({3})); },
     GUF_E_SHAPE,
     "non-broadcastable operand with shape (2,1) doesn't match the broadcast shape (2,3)"},
    {"KeptAxisIsLong",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) {
       r->args.flags = GUF_CALL_KEEPDIMS;
       r->into(g.output({2, 3}));
     },
     GUF_E_SHAPE,
     "operand was set up as a reduction along axis 0, but the length of the axis is 2 (it has to "
     "be 1)"},
    {"OutputIsReadOnly",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) {
       View view = g.output({3});
       view.flags = GUF_TENSOR_READ_ONLY;
       r->into(view);
     },
     GUF_E_READ_ONLY,
     "output array is read-only"},
    {"OutputOverlapsItself",
     "add",
     {2, 3},
     [](const MethodOperands &g, Reduce *r) {
       View view = g.output({3});
       view.strides = {4};
       r->into(view);
     },
     GUF_E_OVERLAP,
     "argument 2 is written, and elements of it share memory"},
    {"OutputIsAScalar",
     "add",
     {3},
     [](auto &, Reduce *r) { r->output = *r->weak_int(1); },
     GUF_E_ARG,
     "return arrays must be of ArrayType"},
    {"InitialOfSeveral",
     "add",
     {3},
     [](const MethodOperands &g, Reduce *r) { r->args.initial = r->tensor(g.input({2})); },
     GUF_E_VALUE,
     "setting an array element with a sequence."},
    {"InitialTooLarge",
     "bitwise_or",
     {3},
     [](auto &, Reduce *r) {
       r->args.dtype = GUF_U8;
       r->args.initial = r->weak_int(300);
     },
     GUF_E_OVERFLOW,
     "Python integer 300 out of bounds for uint8"},
    {"NoLoop",
     "bitwise_or",
     {3},
     [](auto &, auto *) {},
     GUF_E_NO_LOOP,
     "ufunc 'bitwise_or' not supported for the input types"},
    {"UnknownDtype",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.dtype = 77; },
     GUF_E_DTYPE,
     "args->dtype"},
    {"UnknownFlags",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.flags = 2; },
     GUF_E_ARG,
     "args->flags"},
    {"UnknownOrder",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.order = 9; },
     GUF_E_ARG,
     "args->order"},
    {"BadNaxis",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.naxis = -2; },
     GUF_E_ARG,
     "args->naxis"},
    {"NaxisWithoutAxis",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.naxis = 1; },
     GUF_E_ARG,
     "args->axis is NULL"},
    {"NoInput",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.input = nullptr; },
     GUF_E_ARG,
     "args->input is NULL"},
    {"NoOutput",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.output = nullptr; },
     GUF_E_ARG,
     "args->output is NULL"},
    {"InputIsNone",
     "add",
     {3},
     [](auto &, Reduce *r) { r->args.input = r->none(); },
     GUF_E_ARG,
     "argument 1: kind 0 is GUF_OPERAND_NONE"},
    {"OldStruct", "add", {3}, [](auto &, Reduce *r) { r->args.struct_size = 8; }, GUF_E_STRUCT, ""},
};

TEST(MethodErrors, OfReduce) {
  for (const Row &row : kReduceRows) {
    const MethodOperands ground;
    Reduce reduce(row.ufunc, ground.input(row.shape));
    row.change(ground, &reduce);
    EXPECT_EQ(reduce.run(), row.status) << row.name << ": " << reduce.error.message;
    EXPECT_EQ(std::string(reduce.error.message).rfind(row.text, 0), 0u)
        << row.name << ": " << reduce.error.message;
    EXPECT_EQ(ground.result, std::vector<double>(24, 7.0)) << row.name;
    if (reduce.output.kind == GUF_OPERAND_ARRAY) ADD_FAILURE() << row.name << " allocated";
  }
}

}  // namespace

}  // namespace gufunc
