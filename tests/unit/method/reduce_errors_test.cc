// SPDX-License-Identifier: Apache-2.0
// Tests every error of reduce: status, NumPy's message, and unchanged outputs.
#include <functional>

#include "tests/unit/method/method_fixture.h"

namespace gufunc {
namespace {

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
