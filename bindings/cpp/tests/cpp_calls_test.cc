// SPDX-License-Identifier: Apache-2.0
// Tests gufunc.hpp: calls, methods, plans, chunks, host loops and kernels.
#include <gtest/gtest.h>
#include <gufunc/gufunc.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace {

using gufunc::Array;
using gufunc::CallKeywords;
using gufunc::Operand;
using gufunc::Ufunc;
using Doubles = gufunc::TypedArray<double>;
using Values = std::vector<double>;

Values values(const Array &array) {
  return Doubles::from(array).to_vector();
}

// Returns the error that `call` throws.
template <class Call>
gufunc::Error failure(Call call) {
  try {
    call();
  } catch (const gufunc::Error &error) {
    return error;
  }
  return {GUF_OK, "no failure"};
}

TEST(CppCalls, KeywordsOfCalls) {
  const Ufunc add("add"), matmul("matmul"), vecdot("vecdot"), divide("divide");
  Values a{1, 2, 3}, out{7, 7, 7};
  const bool flags[] = {true, false, true};
  add({a, 1}, {out}, CallKeywords().where(Operand(flags, {3})));
  EXPECT_EQ(out, (Values{2, 7, 4}));
  std::vector<int> whole(3);
  EXPECT_EQ(failure([&] { add({a, 1}, {whole}); }).status(), GUF_E_CASTING);
  add({a, 1}, {whole}, CallKeywords().casting(GUF_CASTING_UNSAFE));
  EXPECT_EQ(whole, (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(add({a, 1}, CallKeywords().dtype(GUF_C128)).dtype(), GUF_C128);
  EXPECT_EQ(add({whole, 1}, CallKeywords().signature({{}, {}, GUF_F64})).dtype(), GUF_F64);
  const Doubles square = Doubles::wrap(a.data(), {1, 3});
  EXPECT_EQ(values(vecdot({square, square}, CallKeywords().axis(0))), (Values{1, 4, 9}));
  EXPECT_EQ(vecdot({square, square}, CallKeywords().keepdims()).ndim(), 2);
  const Array outer =
      matmul({square, square}, CallKeywords().axes({{1, 0}, {0, 1}, {1, 0}}).order(GUF_ORDER_C));
  EXPECT_EQ(values(outer), (Values{1, 2, 3, 2, 4, 6, 3, 6, 9}));
  uint32_t fp_flags = 0;
  divide({a, 0.0}, CallKeywords().report_fp_flags(&fp_flags).threads(1));
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_DIVIDE});
  const auto fails = [&] { divide({a, 0.0}, CallKeywords().fail_on(GUF_FP_DIVIDE)); };
  EXPECT_EQ(failure(fails).status(), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(failure(fails).what(), "divide by zero encountered in divide");
}

TEST(CppCalls, FailuresNameTheArgumentAndAxis) {
  Values a{1, 2, 3}, b{1, 2};
  const gufunc::Error error = failure([&] { Ufunc("add")({a, b}); });
  EXPECT_EQ(error.status(), GUF_E_SHAPE);
  EXPECT_EQ(std::string(error.what())
                .rfind("operands could not be broadcast together with shapes "
                       "(3,) (2,) ",
                       0),
            0U)
      << error.what();
  EXPECT_EQ(failure([&] { Ufunc("add").reduce(a, gufunc::ReduceKeywords().axis(4)); }).axis(), 4);
  EXPECT_EQ(failure([] { Ufunc("ad"); }).status(), GUF_E_NOT_FOUND);
  const Values locked{1, 2, 3};
  const gufunc::Error written = failure([&] { Ufunc("add")({a, a}, {locked}); });
  EXPECT_EQ(written.status(), GUF_E_READ_ONLY);
  EXPECT_EQ(written.argument(), 2);
}

TEST(CppCalls, SeveralOutputs) {
  const Values x{7.5, -2.25};
  const std::vector<gufunc::Array> both = Ufunc("divmod").call({x, 2}, {});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(values(both[0]), (Values{3, -2}));
  EXPECT_EQ(values(both[1]), (Values{1.5, 1.75}));
  Values fraction(2), whole(2);
  Ufunc("modf")({x}, {fraction, whole});
  EXPECT_EQ(fraction, (Values{.5, -.25}));
  EXPECT_EQ(whole, (Values{7, -2}));
  std::vector<int32_t> exponent(2);
  const std::vector<gufunc::Array> rest =
      Ufunc("frexp").call(gufunc::Operands{x}, gufunc::Operands{Operand(), exponent});
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(values(rest[0]), (Values{.9375, -.5625}));
  EXPECT_EQ(exponent, (std::vector<int32_t>{3, 2}));
  EXPECT_EQ(failure([&] { Ufunc("modf")({x}); }).status(), GUF_E_ARG);
}

TEST(CppCalls, Methods) {
  const Ufunc add("add"), maximum("maximum"), negative("negative");
  Values x{1, 2, 3, 4, 5, 6};
  const Operand matrix(x.data(), {2, 3});
  EXPECT_EQ(values(add.reduce(matrix)), (Values{5, 7, 9}));
  const gufunc::ReduceKeywords rows = gufunc::ReduceKeywords().axis(1);
  EXPECT_EQ(values(add.reduce(matrix, gufunc::ReduceKeywords(rows).initial(10))), (Values{16, 25}));
  EXPECT_EQ(values(add.reduce(matrix, gufunc::ReduceKeywords().all_axes())), (Values{21}));
  EXPECT_EQ(add.reduce(matrix, gufunc::ReduceKeywords().axes({0, 1}).keepdims()).ndim(), 2);
  const bool flags[] = {true, false, true};
  const auto masked = gufunc::ReduceKeywords(rows).where(Operand(flags, {3}));
  EXPECT_EQ(values(add.reduce(matrix, masked)), (Values{4, 10}));
  EXPECT_EQ(failure([&] { maximum.reduce(matrix, masked); }).status(), GUF_E_VALUE);
  Values sums(2);
  add.reduce_into(matrix, sums, rows);
  EXPECT_EQ(sums, (Values{6, 15}));
  EXPECT_EQ(values(add.accumulate(x)), (Values{1, 3, 6, 10, 15, 21}));
  add.accumulate_into(matrix, matrix, gufunc::AccumulateKeywords().axis(-1));
  EXPECT_EQ(x, (Values{1, 3, 6, 4, 9, 15}));
  std::vector<int64_t> starts{0, 2};
  Values parts(2);
  EXPECT_EQ(values(add.reduceat(x, starts)), (Values{4, 34}));
  add.reduceat_into(x, starts, parts);
  EXPECT_EQ(parts, (Values{4, 34}));
  // An output that is allocated for this empty operand would have no owner.
  EXPECT_EQ(failure([&] { add.reduce_into(matrix, Operand()); }).status(), GUF_E_ARG);
  EXPECT_EQ(failure([&] { add.accumulate_into(x, Operand()); }).status(), GUF_E_ARG);
  EXPECT_EQ(failure([&] { add.reduceat_into(x, starts, Operand()); }).status(), GUF_E_ARG);
  EXPECT_EQ(failure([&] { add({x, x}, {Operand()}); }).status(), GUF_E_ARG);
  EXPECT_EQ(failure([&] { add({x, x}, gufunc::Operands{}); }).status(), GUF_E_ARG);
  EXPECT_EQ(values(add.outer(parts, starts)), (Values{4, 6, 34, 36}));
  EXPECT_EQ(add.outer_into(parts, parts, gufunc::Operands{Operand()}).size(), 1U);
  std::vector<int64_t> indices{1, 1, 0};
  add.at(parts, gufunc::Operands{indices}, 10);
  EXPECT_EQ(parts, (Values{14, 54}));
  negative.at(parts, gufunc::Operands{indices});
  EXPECT_EQ(parts, (Values{-14, 54}));
}

TEST(CppCalls, ExplainAndResolveDescribeTheCall) {
  const Ufunc add("add");
  Values a{1, 2, 3};
  std::vector<int64_t> starts{0};
  const gufunc::Resolution report = add.resolve({a, 1});
  EXPECT_EQ(report.output_shapes.at(0)[0], 3);
  EXPECT_EQ(report.types.at(2), gufunc::DType(GUF_F64));
  EXPECT_EQ(add.resolve_reduce(a).output_shapes.at(0).size(), 0U);
  EXPECT_EQ(add.resolve_accumulate(a).output_shapes.at(0)[0], 3);
  EXPECT_EQ(add.resolve_reduceat(a, starts).output_shapes.at(0)[0], 1);
  EXPECT_EQ(add.resolve_outer(a, a).output_shapes.at(0).size(), 2U);
  EXPECT_EQ(add.resolve_at(a, {starts}, 1).types.size(), 3U);
  for (const std::string &text :
       {add.explain({a, 1}), add.explain_reduce(a), add.explain_accumulate(a),
        add.explain_reduceat(a, starts), add.explain_outer(a, a), add.explain_at(a, {starts}, 1)})
    EXPECT_NE(text.find("float64"), std::string::npos) << text;
  EXPECT_EQ(failure([&] { add.explain({a, a, a}); }).status(), GUF_E_ARG);
}

TEST(CppCalls, Plans) {
  const Ufunc add("add");
  Values a{1, 2}, b{3, 4}, out(2);
  const gufunc::Plan plan = add.plan({a, b}, {out});
  EXPECT_EQ(plan.workspace().nbytes, 0U);
  plan.launch({a.data(), b.data(), out.data()});
  EXPECT_EQ(out, (Values{4, 6}));
  EXPECT_NE(plan.explain().find("add"), std::string::npos);
  EXPECT_EQ(failure([&] { plan.launch({a.data()}); }).status(), GUF_E_ARG);
}

TEST(CppCalls, Chunks) {
  const Ufunc add("add");
  Values a(10000, 1), out(10000);
  gufunc::ChunkOptions options;
  options.chunk_bytes = 8192;
  int calls = 0;
  options.progress = [&](int64_t, int64_t items) { return ++calls, items == 10000; };
  EXPECT_EQ(add.call_chunked({a, 2}, {out}, options), 10000);
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(out[9999], 3);
  int64_t done = -1;
  options.out_items = &done;
  options.progress = [](int64_t, int64_t) { return false; };
  EXPECT_EQ(failure([&] { add.call_chunked({a, 2}, {out}, options); }).status(), GUF_E_CANCELLED);
  EXPECT_EQ(done, 1024);
  options.progress = [](int64_t, int64_t) -> bool { throw std::out_of_range("mine"); };
  EXPECT_THROW(add.call_chunked({a, 2}, {out}, options), std::out_of_range);
}

void expect_failure(const gufunc::Error &error, guf_status status, const char *text,
                    int argument = -1, int axis = -1, int native_code = 0) {
  EXPECT_EQ(error.status(), status);
  EXPECT_STREQ(error.what(), text);
  EXPECT_EQ(error.argument(), argument);
  EXPECT_EQ(error.axis(), axis);
  EXPECT_EQ(error.native_code(), native_code);
}

// Returns a text of two-byte characters that is longer than the message of an error record.
std::string long_text() {
  std::string text = "!";
  for (int k = 0; k < 1000; ++k) text += "\u00e9";
  return text;
}

TEST(CppCalls, HostLoops) {
  const gufunc::Context context = gufunc::Context::create();
  const Ufunc hypot = Ufunc::create("cpp_hypot", 2, 1, {}, context);
  const auto kept = std::make_shared<int>(0);
  hypot.add_function<double(double, double)>([kept](double x, double y) {
    ++*kept;
    return std::sqrt(x * x + y * y);
  });
  hypot.add_loop({GUF_F32, GUF_F32, GUF_F32}, [](const gufunc::Loop &loop) {
    if (loop.items() > 5) throw gufunc::Error(GUF_OK, "not quite");
    if (loop.items() > 4) return loop.fail(GUF_E_INDEX, "one too many", 1, -3);
    if (loop.items() > 3) throw gufunc::Error(GUF_E_VALUE, "too many", 1, 0, 42);
    if (loop.items() > 2) throw 3;
    if (loop.items() > 1) throw std::runtime_error("of the program's own");
    throw std::runtime_error(long_text());
  });
  Values x{3, 6}, y{4, 8};
  EXPECT_EQ(values(hypot({x, y})), (Values{5, 10}));
  EXPECT_EQ(*kept, 2);
  const auto fail = [&](size_t size) {
    std::vector<float> items(size);
    return failure([&] { hypot({items, items}); });
  };
  expect_failure(fail(2), GUF_E_LOOP, "of the program's own");
  expect_failure(fail(3), GUF_E_LOOP, "the callback threw an object that is not a std::exception");
  expect_failure(fail(4), GUF_E_VALUE, "too many", 1, 0, 42);
  expect_failure(fail(5), GUF_E_INDEX, "one too many", 1, -1, -3);
  expect_failure(fail(6), GUF_E_LOOP, "not quite");
  const gufunc::Error cut = fail(1);
  EXPECT_EQ(long_text().find(cut.what()), 0U);
  EXPECT_GT(std::strlen(cut.what()), 400U);
  EXPECT_EQ(std::strlen(cut.what()) % 2, 1U);  // one byte, then complete two-byte characters
  const auto twice = [&] {
    hypot.add_function<double(double, double)>([](double a, double) { return a; });
  };
  EXPECT_EQ(failure(twice).status(), GUF_E_EXISTS);
  EXPECT_EQ(hypot.loop_types(1).at(0), gufunc::DType(GUF_F32));
  EXPECT_EQ(hypot.info().nloops, 2U);
  // The default context does not contain the ufunc.
  EXPECT_EQ(failure([] { Ufunc("cpp_hypot"); }).status(), GUF_E_NOT_FOUND);
  EXPECT_GT(Ufunc::count(context), 40U);
  EXPECT_EQ(Ufunc::name_at(0, context), "absolute");
}

TEST(CppCalls, CoreDimensionsAreSeen) {
  const gufunc::Context context = gufunc::Context::create();
  gufunc::UfuncOptions options;
  options.signature = "(n)->(m)";
  options.doc = "every second one";
  options.core_dims = [](int32_t, int64_t *sizes) {
    if (sizes[0] % 2 != 0) throw gufunc::Error(GUF_E_SHAPE, "an even number of elements, please");
    sizes[1] = sizes[0] / 2;
    return GUF_OK;
  };
  const Ufunc half = Ufunc::create("cpp_half", 1, 1, options, context);
  half.add_loop({GUF_F64, GUF_F64}, [](const gufunc::Loop &loop) {
    for (int64_t i = 0; i < loop.items(); ++i)
      for (int64_t j = 0; j < loop.dims[2]; ++j) {
        const char *from = loop.args[0] + i * loop.steps[0] + 2 * j * loop.steps[2];
        char *to = loop.args[1] + i * loop.steps[1] + j * loop.steps[3];
        std::memcpy(to, from, sizeof(double));
      }
  });
  Values x{1, 2, 3, 4}, odd{1, 2, 3};
  EXPECT_EQ(values(half({x})), (Values{1, 3}));
  EXPECT_STREQ(failure([&] { half({odd}); }).what(), "an even number of elements, please");
}

// The reduction returns the largest element and its index.
TEST(CppCalls, ReductionsWithAState) {
  const gufunc::Context context = gufunc::Context::create();
  gufunc::UfuncOptions options;
  options.signature = "(n)->()";
  const Ufunc most = Ufunc::create("cpp_most", 0, 0, options, context);
  const Ufunc merge = Ufunc::create("cpp_merge", 2, 1, {}, context);
  const Ufunc twice = Ufunc::create("cpp_twice", 1, 1, {}, context);
  most.add_loop({GUF_F64, GUF_F64}, [](const gufunc::Loop &loop) {
    for (int64_t i = 0; i < loop.items(); ++i) {
      double top = -1;
      for (int64_t j = 0; j < loop.dims[1]; ++j) {
        double value;
        std::memcpy(&value, loop.args[0] + i * loop.steps[0] + j * loop.steps[2], sizeof value);
        top = std::max(top, value);
      }
      loop.store(1, i, top);
    }
  });
  merge.add_function<double(double, double)>([](double a, double b) { return std::max(a, b); });
  twice.add_function<double(double)>([](double a) { return 2 * a; });
  most.set_reduction(merge, twice);
  Values x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 1000);
  EXPECT_EQ(values(most.reduce(x)), (Values{1998}));
  EXPECT_EQ(values(most.reduce_several(x, {Operand()}).at(0)), (Values{1998}));
  EXPECT_EQ(failure([&] { most.set_reduction(merge); }).status(), GUF_E_EXISTS);
}

TEST(CppCalls, Modules) {
  const char *const folder = std::getenv("GUFUNC_TEST_MODULES");
  ASSERT_NE(folder, nullptr);
  const gufunc::Module module(std::string(folder) + "/discriminant.so");
  EXPECT_STREQ(module.info().name, "discriminant");
  EXPECT_EQ(module.function_at(0), "discriminant:discriminant");
  EXPECT_EQ(failure([&] { module.function_at(9); }).status(), GUF_E_INDEX);
  const gufunc::Context context = gufunc::Context::create();
  const Ufunc own = Ufunc::create("cpp_own", 3, 1, {}, context);
  own.add_module_loop(module, "discriminant", {GUF_F64, GUF_F64, GUF_F64, GUF_F64});
  EXPECT_EQ(values(own({1.0, 10.0, 0.0})), (Values{10}));
  EXPECT_EQ(failure([] { gufunc::Module("/nowhere.so"); }).status(), GUF_E_IO);
}

TEST(CppCalls, RawKernels) {
  const char *const folder = std::getenv("GUFUNC_TEST_MODULES");
  ASSERT_NE(folder, nullptr);
  const gufunc::Module module(std::string(folder) + "/raw_counting.so");
  EXPECT_EQ(module.kernel_at(0), "count_in_circle");
  const gufunc::Kernel kernel = module.kernel("histogram");
  EXPECT_STREQ(kernel.info().name, "raw_counting:histogram");
  EXPECT_EQ(kernel.parameter(0).dtype, static_cast<guf_dtype>(GUF_F32));
  EXPECT_GE(kernel.device_info().max_threads, 32U);
  std::vector<float> sample{.1F, .2F, .6F, .9F, .95F};
  std::vector<uint64_t> counts(2);
  kernel.launch({1}, {32}, {sample, counts}, nullptr, 2 * sizeof(uint32_t));
  EXPECT_EQ(counts, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(failure([&] { kernel.launch({1}, {32}, {sample}); }).status(), GUF_E_ARG);
  EXPECT_EQ(failure([&] { module.kernel("none"); }).status(), GUF_E_NOT_FOUND);
}

}  // namespace
