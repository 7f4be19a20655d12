// SPDX-License-Identifier: Apache-2.0
// Tests user-defined accumulators over datetime types, whose loops match any unit, and over
// structured dtypes.
#include <cmath>

#include "tests/unit/method/state_fixture.h"

namespace gufunc {
namespace {

// Finds the latest element and its index. The signature is (n),()->(),().
void latest_leaf(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    const char *const elements = args[0] + item * steps[0];
    int64_t best = load_value<int64_t>(elements), place = 0;
    for (int64_t i = 1; i < dims[1]; ++i) {
      const auto value = load_value<int64_t>(elements + i * steps[4]);
      if (value > best) best = value, place = i;
    }
    store_value(args[2] + item * steps[2], best);
    store_value(args[3] + item * steps[3], place + load_value<int64_t>(args[1] + item * steps[1]));
  }
}
void latest_merge(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    const bool second = load_value<int64_t>(at(2)) > load_value<int64_t>(at(0));
    std::memmove(at(4), at(second ? 2 : 0), 8);
    std::memmove(at(5), at(second ? 3 : 1), 8);
  }
}

TEST(StateTypes, DatetimesOfAnyUnit) {
  const guf_ufunc leaf = make_part("test_latest", "(n),()->(),()", 2, 2, 0,
                                   {GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64}, latest_leaf);
  const guf_ufunc merge = make_part(
      "test_latest_merge", nullptr, 4, 2, 0,
      {GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64, GUF_DATETIME64, GUF_I64}, latest_merge);
  ASSERT_EQ(set_parts(leaf, merge, nullptr), GUF_OK);
  std::vector<int64_t> days(1000);
  for (size_t i = 0; i < days.size(); ++i) days[i] = static_cast<int64_t>(i * 37 % 1000);
  for (const int32_t unit : {GUF_UNIT_DAY, GUF_UNIT_NANOSECOND}) {
    guf_dtype type = 0;
    ASSERT_EQ(guf_dtype_make_time(GUF_DATETIME64, unit, 7, &type, nullptr), GUF_OK);
    StateReduce reduce(leaf, {type, days.data(), {1000}, {}, 0}, 2);
    ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
    EXPECT_EQ(info_of(reduce.results[0]).dtype, type);
    EXPECT_EQ(elements_of<int64_t>(reduce.results[0])[0], 999);
    EXPECT_EQ(elements_of<int64_t>(reduce.results[1])[0], 27);  // 27 * 37 == 999
  }
  StateReduce empty(leaf, {GUF_DATETIME64, days.data(), {0}, {}, 0}, 2);
  EXPECT_EQ(empty.run(), GUF_E_VALUE);
  EXPECT_STREQ(empty.error.message, "attempt to get test_latest of an empty sequence");
  guf_ufunc_release(leaf, nullptr);
  guf_ufunc_release(merge, nullptr);
}

struct Point {
  float x, y;
  int32_t weight;
};

// Adds points, and returns the sum as a point. The signature is (n)->().
void sum_points(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    Point sum = {0, 0, 0};
    for (int64_t i = 0; i < dims[1]; ++i) {
      const auto point = load_value<Point>(args[0] + item * steps[0] + i * steps[2]);
      sum = {sum.x + point.x, sum.y + point.y, sum.weight + point.weight};
    }
    store_value(args[1] + item * steps[1], sum);
  }
}
void add_points(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto a = load_value<Point>(args[0] + i * steps[0]);
    const auto b = load_value<Point>(args[1] + i * steps[1]);
    store_value(args[2] + i * steps[2], Point{a.x + b.x, a.y + b.y, a.weight + b.weight});
  }
}
void weigh(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto point = load_value<Point>(args[0] + i * steps[0]);
    store_value(args[1] + i * steps[1], static_cast<double>(point.weight));
  }
}

TEST(StateTypes, StructsAsElementsAndAsState) {
  guf_dtype point = 0;
  ASSERT_EQ(guf_dtype_register("test_state_point", sizeof(Point), alignof(Point), &point, nullptr),
            GUF_OK);
  const guf_ufunc leaf =
      make_part("test_sum_points", "(n)->()", 1, 1, 0, {point, point}, sum_points);
  const guf_ufunc merge =
      make_part("test_add_points", nullptr, 2, 1, 0, {point, point, point}, add_points);
  const guf_ufunc finish = make_part("test_weigh", nullptr, 1, 1, 0, {point, GUF_F64}, weigh);
  ASSERT_EQ(set_parts(leaf, merge, finish), GUF_OK);
  std::vector<Point> points(2 * 500);
  for (size_t i = 0; i < points.size(); ++i) points[i].weight = static_cast<int32_t>(i);
  StateReduce reduce(leaf, {point, points.data(), {500, 2}, {}, 0}, 1);
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  EXPECT_EQ(elements_of<double>(reduce.results[0]), (std::vector<double>{249500, 250000}));
  guf_ufunc_release(leaf, nullptr);
  guf_ufunc_release(merge, nullptr);
  guf_ufunc_release(finish, nullptr);
}

TEST(StateTypes, PartsOfOtherUnitsOrDtypesAreRefused) {
  guf_dtype one = 0, other = 0;
  ASSERT_EQ(guf_dtype_register("test_state_one", 8, 8, &one, nullptr), GUF_OK);
  ASSERT_EQ(guf_dtype_register("test_state_other", 8, 8, &other, nullptr), GUF_OK);
  const guf_ufunc leaf = make_part("test_leaf_one", "(n)->()", 1, 1, 0, {one, one}, sum_points);
  const guf_ufunc merge =
      make_part("test_merge_other", nullptr, 2, 1, 0, {other, other, other}, add_points);
  ASSERT_EQ(set_parts(leaf, merge, nullptr), GUF_OK);
  const int64_t data[2] = {1, 2};
  StateReduce reduce(leaf, {one, data, {2}, {}, 0}, 1);
  EXPECT_EQ(reduce.run(), GUF_E_NO_LOOP);
  EXPECT_STREQ(reduce.error.message,
               "test_merge_other, the function to merge accumulators, has no loop for exactly "
               "test_state_one, test_state_one");
  guf_ufunc_release(leaf, nullptr);
  guf_ufunc_release(merge, nullptr);
}

void sum_leaf(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t item = 0; item < dims[0]; ++item) {
    double sum = 0;
    for (int64_t i = 0; i < dims[1]; ++i)
      sum += load_value<double>(args[0] + item * steps[0] + i * steps[2]);
    store_value(args[1] + item * steps[1], sum);
  }
}
void sum_merge(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    store_value(at(2), load_value<double>(at(0)) + load_value<double>(at(1)));
  }
}

TEST(StateFpFlags, AreThoseOfThePartsAndFailAtTheEnd) {
  const guf_ufunc leaf =
      make_part("test_sum_leaf", "(n)->()", 1, 1, 0, {GUF_F64, GUF_F64}, sum_leaf);
  const guf_ufunc merge =
      make_part("test_sum_merge", nullptr, 2, 1, 0, {GUF_F64, GUF_F64, GUF_F64}, sum_merge);
  ASSERT_EQ(set_parts(leaf, merge, nullptr), GUF_OK);
  std::vector<double> data(256, 0);
  data[0] = data[128] = 1e308;  // two elements in different base blocks
  double result = 0;
  uint32_t fp_flags = 0;
  StateReduce reduce(leaf, {GUF_F64, data.data(), {256}, {}, 0}, 1);
  reduce.results[0] = *reduce.tensor({GUF_F64, &result, {}, {}, 0});
  reduce.args.options.fp_flags = &fp_flags;
  reduce.args.options.fp_report = reduce.args.options.fp_fail = GUF_FP_OVERFLOW | GUF_FP_INVALID;
  EXPECT_EQ(reduce.run(), GUF_E_FLOATING_POINT);
  EXPECT_STREQ(reduce.error.message, "overflow encountered in test_sum_merge");
  EXPECT_EQ(fp_flags, uint32_t{GUF_FP_OVERFLOW});
  EXPECT_TRUE(std::isinf(result)) << "the work was done";
  data[128] = 0;
  EXPECT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  guf_ufunc_release(leaf, nullptr);
  guf_ufunc_release(merge, nullptr);
}

}  // namespace
}  // namespace gufunc
