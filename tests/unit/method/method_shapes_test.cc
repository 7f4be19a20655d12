// SPDX-License-Identifier: Apache-2.0
// Tests accumulate, reduceat, at, outer, calls, plans and chunked calls, and guf_resolve and
// guf_explain for all of them, on shapes of up to 64 axes with extents 0, 1 and 2. The operands are
// between inaccessible pages, and the results are compared with simple loops.
#include <complex>
#include <cstring>

#include "tests/support/requests.h"
#include "tests/unit/method/guarded_arrays.h"
#include "tests/unit/method/state_fixture.h"

namespace gufunc {
namespace {

// The products of the extents before an axis, along the axis, and after the axis.
struct Stretch {
  int64_t outer, length, inner;
};
Stretch stretch_of(const Shape &shape, size_t axis) {
  const auto at = shape.begin() + static_cast<int64_t>(axis);
  return {count_of({shape.begin(), at}), shape[axis], count_of({at + 1, shape.end()})};
}

void check_accumulate(guf_ufunc ufunc, const Shape &shape, size_t axis, std::mt19937 &bits) {
  GuardedArray<int64_t> input(GUF_I64, shape, bits), output(GUF_I64, shape, bits);
  input.fill([](int64_t n) { return 1 + n; });
  guf_operand result = output.operand();
  guf_accumulate_args args = {};
  args.struct_size = sizeof args;
  args.input = &input.operand();
  args.output = &result;
  args.axis = static_cast<int64_t>(axis);
  guf_error error = fresh_error();
  expect_resolution(requests::resolve_accumulate, requests::explain_accumulate, ufunc, args, shape);
  ASSERT_EQ(guf_accumulate(ufunc, &args, &error), GUF_OK) << error.message;
  EXPECT_TRUE(output.untouched_outside());
  const Stretch all = stretch_of(shape, axis);
  for (int64_t n = 0; n < output.count(); ++n) {
    const bool first = n / all.inner % all.length == 0;
    ASSERT_EQ(output.at(n), input.at(n) + (first ? 0 : output.at(n - all.inner))) << n;
  }
}

void check_reduceat(guf_ufunc ufunc, const Shape &shape, size_t axis, std::mt19937 &bits) {
  const int64_t extent = shape[axis];
  Shape longer = shape;
  longer[axis] = extent == 0 ? 0 : static_cast<int64_t>(bits() % 4);
  const int64_t count = longer[axis];
  GuardedArray<int64_t> input(GUF_I64, shape, bits), output(GUF_I64, longer, bits);
  GuardedArray<int64_t> indices(GUF_I64, {count}, bits);
  input.fill([](int64_t n) { return 1 + n; });
  indices.fill([&](int64_t) { return static_cast<int64_t>(bits()) % extent; });
  guf_operand result = output.operand();
  guf_accumulate_args args = {};
  args.struct_size = sizeof args;
  args.input = &input.operand();
  args.indices = &indices.operand();
  args.output = &result;
  args.axis = static_cast<int64_t>(axis) - static_cast<int64_t>(shape.size());
  guf_error error = fresh_error();
  expect_resolution(requests::resolve_reduceat, requests::explain_reduceat, ufunc, args, longer);
  ASSERT_EQ(guf_reduceat(ufunc, &args, &error), GUF_OK) << error.message;
  EXPECT_TRUE(output.untouched_outside());
  const Stretch all = stretch_of(shape, axis);
  for (int64_t n = 0; n < output.count(); ++n) {
    const int64_t inner = n % all.inner, k = n / all.inner % count, outer = n / all.inner / count;
    const int64_t from = indices.at(k);
    const int64_t next = k + 1 < count ? indices.at(k + 1) : extent;
    int64_t sum = 0;
    for (int64_t i = from; i < std::max(next, from + 1); ++i)
      sum += input.at((outer * extent + i) * all.inner + inner);
    ASSERT_EQ(output.at(n), sum) << n;
  }
}

// Returns an operand shape that broadcasts to `shape`.
Shape smaller(const Shape &shape, std::mt19937 &bits) {
  Shape own(shape.begin() + static_cast<int64_t>(bits() % 4 == 0 ? bits() % (shape.size() + 1) : 0),
            shape.end());
  for (int64_t &extent : own) extent = bits() % 4 == 0 ? 1 : extent;
  return bounded(own);
}

void check_at(guf_ufunc ufunc, const Shape &shape, std::mt19937 &bits) {
  const size_t nindices = bits() % (std::min<size_t>(shape.size(), 3) + 1);
  const Shape own(shape.begin() + static_cast<int64_t>(nindices), shape.end());
  const bool none = is_empty({shape.begin(), shape.begin() + static_cast<int64_t>(nindices)});
  static const Shape kShapes[] = {{}, {1}, {2}, {2, 1}, {0}, {2, 0}};
  Shape places = none && nindices != 0 ? Shape{0} : kShapes[bits() % std::size(kShapes)];
  if (nindices == 0 || places.size() + own.size() > GUF_MAX_NDIM) places.clear();
  if (none && nindices != 0 && places.empty()) return;
  GuardedArray<int64_t> array(GUF_I64, shape, bits);
  array.fill([](int64_t n) { return n; });
  std::vector<std::unique_ptr<GuardedArray<int64_t>>> indices;
  std::vector<guf_operand> operands;
  for (size_t k = 0; k < nindices; ++k) {
    indices.push_back(std::make_unique<GuardedArray<int64_t>>(GUF_I64, places, bits));
    indices[k]->fill([&](int64_t) { return static_cast<int64_t>(bits()) % shape[k]; });
    operands.push_back(indices[k]->operand());
  }
  Shape indexed = places;
  indexed.insert(indexed.end(), own.begin(), own.end());
  GuardedArray<int64_t> operand(GUF_I64, smaller(indexed, bits), bits);
  operand.fill([](int64_t n) { return 100 + n; });
  std::vector<int64_t> expected(static_cast<size_t>(array.count()));
  for (int64_t n = 0; n < array.count(); ++n) expected[static_cast<size_t>(n)] = array.at(n);
  const int64_t nplaces = count_of(places), each = is_empty(own) ? 0 : count_of(own);
  for (int64_t place = 0; place < nplaces && array.count() != 0; ++place) {
    int64_t row = 0;
    for (size_t k = 0; k < nindices; ++k) row = row * shape[k] + indices[k]->at(place);
    for (int64_t i = 0; i < each; ++i) {
      expected[static_cast<size_t>(row * each + i)] +=
          operand.at(stretched(place * each + i, indexed, operand.shape()));
    }
  }
  guf_at_args args = {};
  args.struct_size = sizeof args;
  args.array = &array.operand();
  args.indices = operands.data();
  args.nindices = static_cast<int32_t>(nindices);
  args.operand = &operand.operand();
  guf_error error = fresh_error();
  expect_resolution(requests::resolve_at, requests::explain_at, ufunc, args, shape);
  ASSERT_EQ(guf_at(ufunc, &args, &error), GUF_OK) << error.message;
  EXPECT_TRUE(array.untouched_outside());
  for (int64_t n = 0; n < array.count(); ++n)
    ASSERT_EQ(array.at(n), expected[static_cast<size_t>(n)]) << n;
}

void check_outer(guf_ufunc ufunc, const Shape &first, const Shape &second, std::mt19937 &bits) {
  Shape both = first;
  both.insert(both.end(), second.begin(), second.end());
  GuardedArray<int64_t> a(GUF_I64, first, bits), b(GUF_I64, second, bits);
  guf_error error = fresh_error();
  if (both.size() > GUF_MAX_NDIM || (!is_empty(both) && count_of(both) > 512)) return;
  // The library rejects a result if the product of its nonzero extents overflows.
  if (std::count(both.begin(), both.end(), 2) > 59) return;
  GuardedArray<int64_t> output(GUF_I64, both, bits);
  a.fill([](int64_t n) { return n; });
  b.fill([](int64_t n) { return 100 * n; });
  ASSERT_EQ(
      run(guf_outer, ufunc, {a.operand(), b.operand()}, {output.operand()}, nullptr, both, &error),
      GUF_OK)
      << error.message;
  EXPECT_TRUE(output.untouched_outside());
  for (int64_t n = 0; n < output.count(); ++n)
    ASSERT_EQ(output.at(n), a.at(n / b.count()) + b.at(n % b.count())) << n;
}

// If the call has a mask and a result of a different dtype, it writes through a temporary buffer.
template <class Out>
void check_call(guf_ufunc ufunc, guf_dtype dtype, const Shape &shape, std::mt19937 &bits) {
  GuardedArray<double> a(GUF_F64, smaller(shape, bits), bits),
      b(GUF_F64, smaller(shape, bits), bits);
  GuardedArray<bool> mask(GUF_BOOL, smaller(shape, bits), bits);
  GuardedArray<Out> output(dtype, shape, bits);
  a.fill([](int64_t n) { return n; });
  b.fill([](int64_t n) { return 100 * n; });
  mask.fill([](int64_t n) { return n % 3 != 1; });
  output.fill([](int64_t) { return -1; });
  const bool masked = bits() % 2 != 0;
  constexpr CallFunction kVariants[] = {guf_call, run_plan, run_in_chunks};
  const CallFunction call = kVariants[bits() % 3];
  guf_error error = fresh_error();
  ASSERT_EQ(run(call, ufunc, {a.operand(), b.operand()}, {output.operand()},
                masked ? &mask.operand() : nullptr, shape, &error),
            GUF_OK)
      << error.message;
  EXPECT_TRUE(output.untouched_outside());
  for (int64_t n = 0; n < output.count(); ++n) {
    const bool skipped = masked && !mask.at(stretched(n, shape, mask.shape()));
    const double sum = a.at(stretched(n, shape, a.shape())) + b.at(stretched(n, shape, b.shape()));
    ASSERT_EQ(output.at(n), Out(skipped ? -1 : sum)) << n;
  }
}

// `shape` contains the loop dimensions. Each core dimension has extent 0, 1 or 2.
void check_matmul(guf_ufunc ufunc, const Shape &shape, std::mt19937 &bits) {
  if (shape.size() + 2 > GUF_MAX_NDIM || std::count(shape.begin(), shape.end(), 2) > 55) return;
  const int64_t n = bits() % 3, k = bits() % 3, m = bits() % 3;
  const auto with = [](Shape loop, int64_t rows, int64_t columns) {
    loop.push_back(rows);
    loop.push_back(columns);
    return loop;
  };
  const Shape loop_a = smaller(shape, bits), loop_b = smaller(shape, bits);
  GuardedArray<double> a(GUF_F64, with(loop_a, n, k), bits), b(GUF_F64, with(loop_b, k, m), bits);
  GuardedArray<double> output(GUF_F64, with(shape, n, m), bits);
  a.fill([](int64_t i) { return i; });
  b.fill([](int64_t i) { return 1 + i; });
  guf_error error = fresh_error();
  const CallFunction call = bits() % 2 != 0 ? guf_call : run_in_chunks;
  ASSERT_EQ(run(call, ufunc, {a.operand(), b.operand()}, {output.operand()}, nullptr,
                output.shape(), &error),
            GUF_OK)
      << error.message;
  EXPECT_TRUE(output.untouched_outside());
  for (int64_t i = 0; i < output.count(); ++i) {
    const int64_t item = i / (n * m), row = i / m % n, column = i % m;
    const int64_t in_a = stretched(item, shape, loop_a), in_b = stretched(item, shape, loop_b);
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += a.at((in_a * n + row) * k + j) * b.at((in_b * k + j) * m + column);
    ASSERT_EQ(output.at(i), sum) << i;
  }
}

// Computes x, y = y, x + z on each row. z has one element per row.
void swap_and_add(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    const auto z = load_value<double>(args[2] + item * steps[2]);
    for (int64_t k = 0; k < dims[1]; ++k) {
      char *const x = args[0] + item * steps[0] + k * steps[3];
      char *const y = args[1] + item * steps[1] + k * steps[4];
      const double sum = load_value<double>(x) + z;
      store_value(x, load_value<double>(y));
      store_value(y, sum);
    }
  }
}

// The last axis of `shape` is the core dimension. The call must leave x and y unchanged.
void check_separate(guf_ufunc ufunc, const Shape &shape, std::mt19937 &bits) {
  if (shape.empty()) return;
  const Shape loop(shape.begin(), shape.end() - 1);
  const auto row = [&](Shape own) {
    own.push_back(shape.back());
    return own;
  };
  GuardedArray<double> x(GUF_F64, row(smaller(loop, bits)), bits),
      y(GUF_F64, row(smaller(loop, bits)), bits), z(GUF_F64, smaller(loop, bits), bits);
  GuardedArray<bool> mask(GUF_BOOL, smaller(loop, bits), bits);
  GuardedArray<float> first(GUF_F32, shape, bits);
  GuardedArray<double> second(GUF_F64, shape, bits);
  x.fill([](int64_t n) { return n; });
  y.fill([](int64_t n) { return 100 + n; });
  z.fill([](int64_t n) { return 1000 * n; });
  mask.fill([](int64_t n) { return n % 3 != 1; });
  first.fill([](int64_t) { return -1; });
  second.fill([](int64_t) { return -2; });
  const bool masked = bits() % 2 != 0;
  guf_error error = fresh_error();
  std::vector<guf_operand> inputs = {x.operand(), y.operand(), z.operand()};
  std::vector<guf_operand> outputs = {first.operand(), second.operand()};
  guf_call_args args = make_args(&inputs, &outputs, masked ? &mask.operand() : nullptr);
  expect_resolution(requests::resolve_call, requests::explain_call, ufunc, args, shape);
  ASSERT_EQ(guf_call(ufunc, &args, &error), GUF_OK) << error.message;
  EXPECT_TRUE(first.untouched_outside() && second.untouched_outside());
  for (int64_t n = 0; n < first.count(); ++n) {
    const int64_t item = n / shape.back();
    const bool skipped = masked && !mask.at(stretched(item, loop, mask.shape()));
    const double sum =
        x.at(stretched(n, shape, x.shape())) + z.at(stretched(item, loop, z.shape()));
    ASSERT_EQ(first.at(n), skipped ? -1 : y.at(stretched(n, shape, y.shape()))) << n;
    ASSERT_EQ(second.at(n), skipped ? -2 : sum) << n;
  }
  for (int64_t n = 0; n < x.count(); ++n) ASSERT_EQ(x.at(n), n);
  for (int64_t n = 0; n < y.count(); ++n) ASSERT_EQ(y.at(n), 100 + n);
}

class MethodShapes : public testing::Test {
 protected:
  template <class Check>
  void for_every_shape(size_t all, int random, Check check) {
    const std::vector<Shape> shapes = shapes_of_small_extents(all, random, 9);
    for (const Shape &shape : shapes) {
      SCOPED_TRACE(testing::PrintToString(shape));
      check(shape);
      if (HasFailure()) return;
    }
    RecordProperty("shapes", static_cast<int>(shapes.size()));
    EXPECT_GE(shapes.size(), 700U);
  }

  const guf_ufunc add_ = find_ufunc("add");
  std::mt19937 bits_{20260803};
};

TEST_F(MethodShapes, AccumulateAndReduceat) {
  for_every_shape(5, 8, [&](const Shape &shape) {
    for (size_t k = 0; k < std::min<size_t>(shape.size(), 5); ++k) {
      const size_t axis = shape.size() <= 5 ? k : bits_() % shape.size();
      check_accumulate(add_, shape, axis, bits_);
      check_reduceat(add_, shape, axis, bits_);
    }
  });
}

TEST_F(MethodShapes, At) {
  for_every_shape(5, 12, [&](const Shape &shape) {
    for (int k = 0; k < 4; ++k) check_at(add_, shape, bits_);
  });
}

TEST_F(MethodShapes, Outer) {
  Shape before;
  for_every_shape(5, 8, [&](const Shape &shape) {
    check_outer(add_, before, shape, bits_);
    check_outer(add_, shape, {2, 0, 1}, bits_);
    before = shape;
  });
}

TEST_F(MethodShapes, CallsAndPlans) {
  for_every_shape(5, 8, [&](const Shape &shape) {
    for (int k = 0; k < 2; ++k) {
      check_call<double>(add_, GUF_F64, shape, bits_);
      check_call<float>(add_, GUF_F32, shape, bits_);
      check_call<std::complex<double>>(add_, GUF_C128, shape, bits_);
    }
  });
}

TEST_F(MethodShapes, CallsWithCoreDimensions) {
  const guf_ufunc matmul = find_ufunc("matmul");
  for_every_shape(5, 8, [&](const Shape &shape) {
    for (int k = 0; k < 4; ++k) check_matmul(matmul, shape, bits_);
  });
}

TEST_F(MethodShapes, CallsWithSeparateOutputs) {
  const guf_ufunc swapping = make_ufunc("test_swap_rows", "(n),(n),()", 0, 0,
                                        {GUF_ROLE_INOUT, GUF_ROLE_INOUT, GUF_ROLE_IN}, swap_and_add,
                                        {GUF_F64, GUF_F64, GUF_F64}, 0, GUF_LOOP_ANY_THREAD);
  for_every_shape(5, 8, [&](const Shape &shape) {
    for (int k = 0; k < 2; ++k) check_separate(swapping, shape, bits_);
  });
  guf_ufunc_release(swapping, nullptr);
}

// With keepdims, each of the 30 outputs has 31 kept dimensions. The text of the error must be built
// for more dimensions than one array can have.
TEST_F(MethodShapes, ARefusalNamesAnyNumberOfKeptDimensions) {
  const guf_loop_numpy nothing = [](char **, const int64_t *, const int64_t *, void *) {};
  std::string side = "(";
  for (int k = 0; k < 31; ++k) side += k == 0 ? "n" : ",n";
  side += ")";
  std::string signature = side + "," + side + "->()";
  std::vector<guf_dtype> types(2, GUF_F64);
  for (int k = 1; k < 30; ++k) signature += ",()";
  types.resize(32, GUF_F64);
  const guf_ufunc ufunc =
      make_ufunc("test_many_kept", signature.c_str(), 2, 30, {}, nothing, types);
  const double one = 1;
  Shape first(33, 1), second(33, 1);
  first[0] = 2;
  second[0] = 3;
  Call call(ufunc);
  call.in({GUF_F64, &one, first, Shape(33, 0), 0});
  call.in({GUF_F64, &one, second, Shape(33, 0), 0});
  call.args.flags = GUF_CALL_KEEPDIMS;
  call.outputs.resize(30);
  ASSERT_EQ(call.run(), GUF_E_SHAPE);
  std::string expected =
      "operands could not be broadcast together with remapped shapes [original->remapped]: (2";
  for (int k = 1; k < 33; ++k) expected += ",1";
  expected += ")->(2,1";
  for (int k = 2; k < 63; ++k) expected += ",newaxis";
  // The message consists of a truncated list of shapes and of details that begin with "; argument".
  // Only "; ar" of the details fits into the message.
  constexpr const char *kCut = "; ar";
  expected.resize(sizeof call.error.message - 1 - std::strlen(kCut));
  EXPECT_EQ(call.error.message, expected + kCut);
  guf_ufunc_release(ufunc, nullptr);
}

}  // namespace
}  // namespace gufunc
