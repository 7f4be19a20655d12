// SPDX-License-Identifier: Apache-2.0
// Tests calls on datetime64 and timedelta64 through the C ABI: unit conversions in blocks,
// not-a-time, arrays and errors.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

guf_dtype type(const char *name) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  EXPECT_EQ(guf_dtype_parse(name, &dtype, nullptr), GUF_OK) << name;
  return dtype;
}

using Steps = std::vector<int64_t>;

View view(const char *name, const Steps &steps) {
  return {type(name), steps.data(), {static_cast<int64_t>(steps.size())}, {}, 0};
}

TEST(TimeCall, CastsUnitsInBlocks) {
  Steps days(1000);
  std::iota(days.begin(), days.end(), -500);
  const Steps hours = {5};
  Steps sums(days.size());
  days[700] = GUF_NAT;
  Call call("add");
  call.in(view("M8[D]", days)).in(view("m8[h]", hours)).out(view("M8[h]", sums));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  for (size_t i = 0; i < days.size(); ++i) {
    EXPECT_EQ(sums[i], i == 700 ? GUF_NAT : days[i] * 24 + 5) << i;
  }
}

TEST(TimeCall, MonthsFollowTheCalendar) {
  const Steps months = {0, 1, 2, 26, -1, GUF_NAT};  // month 26 is March 1972, after a leap day
  const Steps days = {0, 31, 59, 790, -31, 0};
  Steps apart(months.size());
  Call call("subtract");
  call.in(view("M8[M]", months)).in(view("M8[D]", days)).out(view("m8[D]", apart));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  EXPECT_EQ(apart, (Steps{0, 0, 0, 0, 0, GUF_NAT}));
}

// The calls use more combinations of units than the cache of resolved loops can contain. Calls
// whose combination is not in the cache must still resolve.
TEST(TimeCall, MoreUnitsThanTheCacheHolds) {
  for (int round = 0; round < 2; ++round) {
    for (int64_t multiple = 1; multiple <= 1500; ++multiple) {
      const std::string unit = "m8[" + std::to_string(multiple) + "s]";
      const Steps steps = {3};
      Steps sum(1);
      Call call("subtract");
      call.in(view(unit.c_str(), steps)).in(view("m8[s]", steps)).out(view("m8[s]", sum));
      ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
      ASSERT_EQ(sum[0], 3 * multiple - 3);
    }
  }
  const int units[] = {GUF_UNIT_WEEK,        GUF_UNIT_DAY,       GUF_UNIT_HOUR,
                       GUF_UNIT_MINUTE,      GUF_UNIT_SECOND,    GUF_UNIT_MILLISECOND,
                       GUF_UNIT_MICROSECOND, GUF_UNIT_NANOSECOND};
  for (const int unit : units) {  // dtypes that would be cached if the cache were not full
    guf_dtype other = GUF_DTYPE_UNSPECIFIED;
    ASSERT_EQ(guf_dtype_make_time(GUF_TIMEDELTA64, unit, 1, &other, nullptr), GUF_OK);
    for (int round = 0; round < 2; ++round) {
      const Steps steps = {4};
      Steps sum(1);
      Call call("subtract");
      call.in({other, steps.data(), {1}, {}, 0}).in({other, steps.data(), {1}, {}, 0});
      call.out({other, sum.data(), {1}, {}, 0});
      ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
      ASSERT_EQ(sum[0], 0);
    }
  }
}

TEST(TimeCall, NotATimeIsUnorderedAndSpreads) {
  const Steps a = {1, GUF_NAT, 3, GUF_NAT};
  const Steps b = {2, 2, GUF_NAT, GUF_NAT};
  const auto two = [&](const char *ufunc) {
    Steps result(4);
    Call call(ufunc);
    call.in(view("m8[s]", a)).in(view("m8[s]", b)).out(view("m8[s]", result));
    EXPECT_EQ(call.run(), GUF_OK) << call.error.message;
    return result;
  };
  EXPECT_EQ(two("maximum"), (Steps{2, GUF_NAT, GUF_NAT, GUF_NAT}));
  EXPECT_EQ(two("fmin"), (Steps{1, 2, 3, GUF_NAT}));
  EXPECT_EQ(two("subtract"), (Steps{-1, GUF_NAT, GUF_NAT, GUF_NAT}));
  const auto test = [&](const char *ufunc) {
    std::vector<uint8_t> result(4, 9);
    Call call(ufunc);
    call.in(view("m8[s]", a)).in(view("m8[s]", b)).out({GUF_BOOL, result.data(), {4}, {}, 0});
    EXPECT_EQ(call.run(), GUF_OK) << call.error.message;
    return result;
  };
  EXPECT_EQ(test("not_equal"), (std::vector<uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(test("less_equal"), (std::vector<uint8_t>{1, 0, 0, 0}));
}

TEST(TimeCall, IncompatibleUnitsAreNamed) {
  const Steps one = {1};
  Call call("add");
  call.in(view("m8[Y]", one)).in(view("m8[D]", one)).out_missing();
  EXPECT_EQ(call.run(), GUF_E_DTYPE);
  EXPECT_STREQ(call.error.message,
               "Cannot get a common metadata divisor for Numpy datetime metadata [Y] and [D] "
               "because they have incompatible nonlinear base time units.");
}

TEST(TimeCall, AllocatesTheResultsUnit) {
  const Steps a = {7};
  Call call("subtract");
  call.in(view("M8[7D]", a)).in(view("M8[2D]", a)).out_missing();
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(call.outputs[0].array, &info, nullptr), GUF_OK);
  EXPECT_STREQ(guf_dtype_name(info.dtype), "timedelta64[D]");
  EXPECT_EQ(*reinterpret_cast<const int64_t *>(info.address), 35);
  guf_array_release(call.outputs[0].array, nullptr);
}

TEST(TimeCall, ArraysFillConvertAndPrint) {
  const int64_t shape[] = {2};
  guf_array array = nullptr;
  guf_array wider = nullptr;
  ASSERT_EQ(
      guf_array_alloc(nullptr, type("M8[M]"), 1, shape, nullptr, GUF_ORDER_C, &array, nullptr),
      GUF_OK);
  const guf_operand value = weak_int_of(25);
  ASSERT_EQ(guf_array_fill(array, &value, nullptr, nullptr), GUF_OK);
  ASSERT_EQ(guf_array_astype(array, type("M8[h]"), GUF_CASTING_SAFE, GUF_ORDER_C, nullptr, &wider,
                             nullptr),
            GUF_OK);
  char text[200];
  uint64_t length = sizeof text;
  ASSERT_EQ(guf_array_print(wider, text, &length, nullptr), GUF_OK);
  EXPECT_EQ(std::string(text).substr(0, 33), "['1972-02-01T00' '1972-02-01T00']");
  guf_array other = nullptr;
  EXPECT_EQ(guf_array_astype(wider, type("M8[M]"), GUF_CASTING_SAFE, GUF_ORDER_C, nullptr, &other,
                             nullptr),
            GUF_E_CASTING);
  // If the target dtype has no unit, the result has the unit of the array.
  ASSERT_EQ(guf_array_astype(wider, GUF_TIMEDELTA64, GUF_CASTING_UNSAFE, GUF_ORDER_C, nullptr,
                             &other, nullptr),
            GUF_OK);
  guf_array_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(guf_array_get_info(other, &info, nullptr), GUF_OK);
  EXPECT_STREQ(guf_dtype_name(info.dtype), "timedelta64[h]");
  for (guf_array one : {array, wider, other}) guf_array_release(one, nullptr);
}

TEST(TimeCall, PlansKeepTheirUnits) {
  const Steps hours = {1, 2, GUF_NAT};
  const Steps minutes = {30};
  Steps sums(3);
  Call call("add");
  call.in(view("m8[h]", hours)).in(view("m8[m]", minutes)).out(view("m8[m]", sums));
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(call.handle, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  const uint64_t addresses[] = {reinterpret_cast<uint64_t>(hours.data()),
                                reinterpret_cast<uint64_t>(minutes.data()),
                                reinterpret_cast<uint64_t>(sums.data())};
  ASSERT_EQ(guf_plan_launch(plan, nullptr, 3, addresses, 0, &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(sums, (Steps{90, 150, GUF_NAT}));
  guf_plan_release(plan, nullptr);
}

}  // namespace
}  // namespace gufunc
