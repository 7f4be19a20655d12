// SPDX-License-Identifier: Apache-2.0
// Compares reduce with simple loops on shapes of up to 64 axes with extents 0, 1 and 2. The
// operands are between inaccessible pages. The tests vary the axes, masks and initial values, and
// also the strides that must not have an effect.
#include <cmath>
#include <functional>
#include <optional>

#include "tests/support/requests.h"
#include "tests/unit/method/guarded_arrays.h"
#include "tests/unit/method/state_fixture.h"

namespace gufunc {
namespace {

// The operands, axes and options of one call.
struct Plan {
  std::vector<int64_t> axes;
  uint64_t folded = 0;  // the reduced axes as a bit mask
  bool all = false;
  bool keepdims = false;
  Shape result;
  Shape kept;  // shape of the input, with extent 1 for each reduced axis
};

Plan plan_reduction(const Shape &shape, int which, std::mt19937 &bits) {
  Plan plan;
  plan.axes.reserve(1);  // the data pointer of an empty list must not be NULL
  const auto fold = [&](size_t axis) {
    const auto number = static_cast<int64_t>(axis);
    plan.axes.push_back(bits() % 2 != 0 ? number : number - static_cast<int64_t>(shape.size()));
    plan.folded |= uint64_t{1} << axis;
  };
  plan.all = which == 0;
  plan.keepdims = bits() % 2 != 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (which == 0 || (which == 1 && bits() % 8 != 0) || (which == 2 && bits() % 2 != 0))
      fold(axis);
  }
  if (which == 3 && !shape.empty()) fold(bits() % shape.size());
  // If a reduced axis has extent 0, the input is empty, but the result could have more than 64
  // elements. In this case, further axes of extent 2 are reduced.
  const auto is_folded = [&](size_t axis) { return (plan.folded >> axis & 1U) != 0; };
  int64_t count = 1;
  for (size_t axis = 0; which != 3 && axis < shape.size(); ++axis)
    if (!is_folded(axis)) count = std::min<int64_t>(count * shape[axis], 128);
  for (size_t axis = 0; count > 64 && axis < shape.size(); ++axis)
    if (!is_folded(axis) && shape[axis] == 2) fold(axis);
  std::shuffle(plan.axes.begin(), plan.axes.end(), bits);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool folded = is_folded(axis);
    plan.kept.push_back(folded ? 1 : shape[axis]);
    if (!folded || plan.keepdims) plan.result.push_back(plan.kept.back());
  }
  return plan;
}

template <class In, class Out>
struct Function {
  const char *name;  // name of a function of the library, or test_scale
  guf_dtype in, out;
  std::optional<Out> identity;
  std::function<Out(Out, In)> fold;
  bool one_axis = false;  // the function rejects several axes, because their order matters
};

const Function<double, double> kSum = {"add", GUF_F64, GUF_F64, 0.0, std::plus<>()};
const Function<int64_t, int64_t> kCount = {"add", GUF_I64, GUF_I64, 0, std::plus<>()};
const Function<double, double> kProduct = {"multiply", GUF_F64, GUF_F64, 1.0, std::multiplies<>()};
const Function<int64_t, int64_t> kLargest = {
    "maximum", GUF_I64, GUF_I64, {}, [](int64_t a, int64_t b) { return std::max(a, b); }};
const Function<int32_t, double> kScaled = {
    "test_scale", GUF_I32, GUF_F64, {}, [](double a, int32_t b) { return std::ldexp(a, b); }, true};

// Computes f * 2^i, with a loop of mixed dtypes.
guf_ufunc scale() {
  static const guf_ufunc made = make_ufunc(
      "test_scale", nullptr, 2, 1, {},
      [](char **args, const int64_t *dims, const int64_t *steps, void *) {
        for (int64_t n = 0; n < dims[0]; ++n) {
          const double value = std::ldexp(load_value<double>(args[0] + n * steps[0]),
                                          load_value<int32_t>(args[1] + n * steps[1]));
          store_value(args[2] + n * steps[2], value);
        }
      },
      {GUF_F64, GUF_I32, GUF_F64}, 0, GUF_LOOP_ANY_THREAD);
  return made;
}

guf_ufunc ufunc_of(const std::string &name) {
  if (name != "test_scale") return find_ufunc(name.c_str());
  guf_ufunc_retain(scale(), nullptr);
  return scale();
}

Shape shape_of_mask(const Shape &shape, std::mt19937 &bits) {
  Shape mask(shape.begin() + static_cast<int64_t>(bits() % (shape.size() + 1)), shape.end());
  for (int64_t &extent : mask) extent = bits() % 3 == 0 ? 1 : extent;
  return bounded(mask);
}

template <class In, class Out>
void check(const Function<In, Out> &function, const Shape &shape, int which, std::mt19937 &bits) {
  SCOPED_TRACE(testing::Message() << function.name << " of " << testing::PrintToString(shape));
  const Plan plan = plan_reduction(shape, function.one_axis ? 3 : which, bits);
  if (!is_empty(plan.result) && bounded(plan.result) != plan.result) return;
  GuardedArray<In> input(function.in, shape, bits);
  input.fill([](int64_t n) { return 1 + n % 2; });
  GuardedArray<bool> mask(GUF_BOOL, shape_of_mask(shape, bits), bits);
  mask.fill([](int64_t n) { return n % 3 != 1; });
  GuardedArray<Out> output(function.out, plan.result, bits);

  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.flags = plan.keepdims ? uint32_t{GUF_CALL_KEEPDIMS} : 0;
  args.input = &input.operand();
  args.axis = plan.axes.data();
  args.naxis =
      plan.all ? static_cast<int32_t>(GUF_ALL_AXES) : static_cast<int32_t>(plan.axes.size());
  guf_operand result = output.operand();
  args.output = &result;
  const bool masked = bits() % 3 == 0;
  if (masked) args.where = &mask.operand();
  const bool begins = bits() % 3 != 0 || (masked && !function.identity);
  const guf_operand initial = std::is_floating_point_v<Out> ? weak_float_of(1) : weak_int_of(1);
  if (begins) args.initial = &initial;

  const guf_ufunc ufunc = ufunc_of(function.name);
  guf_error error = fresh_error();
  const guf_status status = guf_reduce(ufunc, &args, &error);
  const bool folds_nothing = [&] {
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if ((plan.folded >> axis & 1U) != 0 && shape[axis] == 0) return true;
    return false;
  }();
  EXPECT_TRUE(output.untouched_outside() && input.untouched_outside());
  if (!begins && !function.identity && folds_nothing) {
    EXPECT_EQ(status, GUF_E_VALUE);
    guf_ufunc_release(ufunc, nullptr);
    return;
  }
  ASSERT_EQ(status, GUF_OK) << error.message;
  expect_resolution(requests::resolve_reduce, requests::explain_reduce, ufunc, args, plan.result);
  guf_ufunc_release(ufunc, nullptr);

  const std::optional<Out> start = begins ? std::optional<Out>(Out{1}) : function.identity;
  std::vector<std::optional<Out>> expected(static_cast<size_t>(output.count()), start);
  for (int64_t n = 0; n < input.count(); ++n) {
    if (masked && !mask.at(stretched(n, shape, mask.shape()))) continue;
    std::optional<Out> &value = expected[static_cast<size_t>(stretched(n, shape, plan.kept))];
    value = value ? function.fold(*value, input.at(n)) : static_cast<Out>(input.at(n));
  }
  for (int64_t n = 0; n < output.count(); ++n)
    ASSERT_EQ(output.at(n), expected[static_cast<size_t>(n)]) << "element " << n;
}

TEST(ReduceShapes, EveryShapeAndAxis) {
  std::mt19937 bits(20260801);
  const std::vector<Shape> shapes = shapes_of_small_extents(6, 20, 7);
  for (const Shape &shape : shapes) {
    for (int which = 0; which < 4; ++which) {
      check(kSum, shape, which, bits);
      check(kCount, shape, which, bits);
      check(kProduct, shape, which, bits);
      check(kLargest, shape, which, bits);
      check(kScaled, shape, which, bits);
      if (HasFailure()) return;
    }
  }
  RecordProperty("shapes", static_cast<int>(shapes.size()));
  EXPECT_GE(shapes.size(), 2300U);
}

// Compares each result with an accumulator that visits the elements in C order. All elements fit
// into one base block.
void check_states(const Shape &shape, int which, std::mt19937 &bits) {
  const Plan plan = plan_reduction(shape, which, bits);
  if (!is_empty(plan.result) && bounded(plan.result) != plan.result) return;
  GuardedArray<int32_t> input(GUF_I32, shape, bits);
  input.fill([](int64_t n) { return n; });
  GuardedArray<bool> mask(GUF_BOOL, shape_of_mask(shape, bits), bits);
  mask.fill([](int64_t n) { return n % 3 != 1; });
  GuardedArray<uint64_t> hash(GUF_U64, plan.result, bits);
  GuardedArray<int64_t> count(GUF_I64, plan.result, bits);
  guf_operand results[] = {hash.operand(), count.operand()};
  guf_reduce_args args = {};
  args.struct_size = sizeof args;
  args.flags = plan.keepdims ? uint32_t{GUF_CALL_KEEPDIMS} : 0;
  args.input = &input.operand();
  args.axis = plan.axes.data();
  args.naxis = static_cast<int32_t>(plan.axes.size());
  args.outputs = results;
  args.noutputs = 2;
  const bool masked = bits() % 2 != 0;
  if (masked) args.where = &mask.operand();
  guf_error error = fresh_error();
  const guf_status status = guf_reduce(trace(), &args, &error);
  EXPECT_TRUE(hash.untouched_outside() && count.untouched_outside());
  const auto folded = static_cast<size_t>(__builtin_popcountll(plan.folded));
  if (shape.size() - folded > GUF_MAX_NDIM - 2) {
    EXPECT_EQ(status, GUF_E_SHAPE);
    return;
  }
  ASSERT_EQ(status, GUF_OK) << error.message;
  expect_resolution(requests::resolve_reduce, requests::explain_reduce, trace(), args, plan.result);
  std::vector<Trace> expected(static_cast<size_t>(count.count()), Trace{0, 0});
  std::vector<uint64_t> numbers(expected.size(), 0);
  for (int64_t n = 0; n < input.count(); ++n) {
    const auto place = static_cast<size_t>(stretched(n, shape, plan.kept));
    const uint64_t number = numbers[place]++;
    if (masked && !mask.at(stretched(n, shape, mask.shape()))) continue;
    expected[place] = seen(expected[place], number, input.at(n));
  }
  for (int64_t n = 0; n < count.count(); ++n) {
    ASSERT_EQ(hash.at(n), expected[static_cast<size_t>(n)].hash) << n;
    ASSERT_EQ(count.at(n), expected[static_cast<size_t>(n)].count) << n;
  }
}

TEST(ReduceShapes, StatesOfEveryShape) {
  std::mt19937 bits(20260802);
  for (const Shape &shape : shapes_of_small_extents(4, 6, 8)) {
    SCOPED_TRACE(testing::PrintToString(shape));
    for (int which = 0; which < 4; ++which) check_states(shape, which, bits);
    if (HasFailure()) return;
  }
}

// The strides of an empty array must not change the address of the result. The array has 27 axes,
// half of them with extent 0.
TEST(ReduceShapes, AnEmptyArrayWritesItsResultOnly) {
  double around[64];
  std::fill_n(around, std::size(around), 1.5);
  double nothing = 0;
  Shape shape(27, 2);
  for (size_t axis = 0; axis < shape.size(); axis += 2) shape[axis] = 0;
  const Shape strides(27, 8);
  Reduce reduce("add", {GUF_F64, &nothing, shape, strides, 0});
  reduce.args.naxis = GUF_ALL_AXES;
  reduce.into({GUF_F64, &around[32], {}, {}, 0});
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  for (size_t k = 0; k < std::size(around); ++k) EXPECT_EQ(around[k], k == 32 ? 0.0 : 1.5) << k;
  EXPECT_EQ(nothing, 0);
}

}  // namespace
}  // namespace gufunc
