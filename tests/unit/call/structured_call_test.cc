// SPDX-License-Identifier: Apache-2.0
// Tests a program's loops over its structured dtypes: strides, broadcasting, masks, outputs,
// overlap and errors.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/requests.h"
#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

// The size is 12 bytes, which is not a power of two, so that a copy with a wrong element size is
// detected.
struct Point {
  float x, y;
  int32_t weight;
  bool operator==(const Point &) const = default;
};

void add_points(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    Point a, b;
    std::memcpy(&a, args[0] + i * steps[0], sizeof a);
    std::memcpy(&b, args[1] + i * steps[1], sizeof b);
    // Every loop may rely on aligned elements.
    auto *const sum = reinterpret_cast<Point *>(args[2] + i * steps[2]);
    *sum = {a.x + b.x, a.y + b.y, a.weight + b.weight};
  }
}

void weigh(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto *const point = reinterpret_cast<const Point *>(args[0] + i * steps[0]);
    *reinterpret_cast<double *>(args[1] + i * steps[1]) = point->weight;
  }
}

class StructuredCall : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(guf_dtype_register("test_point", sizeof(Point), alignof(Point), &point_, nullptr),
              GUF_OK);
    static const guf_ufunc add =
        make_ufunc("add_points", nullptr, 2, 1, {}, add_points, {point_, point_, point_});
    static const guf_ufunc weights =
        make_ufunc("weigh", nullptr, 1, 1, {}, weigh, {point_, GUF_F64});
    add_ = add;
    weigh_ = weights;
  }
  static std::vector<Point> points(int32_t count, int32_t first = 0) {
    std::vector<Point> made;
    for (int32_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(first + i);
      made.push_back({x, -x, first + i});
    }
    return made;
  }
  View view_of(const std::vector<Point> &data) const {
    return {point_, data.data(), {static_cast<int64_t>(data.size())}, {}, 0};
  }

  guf_dtype point_ = 0;
  guf_ufunc add_ = nullptr;
  guf_ufunc weigh_ = nullptr;
};

TEST_F(StructuredCall, RunsOnAnyStridesAndBroadcasts) {
  const std::vector<Point> a = points(12), b = points(1, 100);
  std::vector<Point> sums(6);
  Call call(add_);
  // Adds every second point, in reverse, to one broadcast point.
  call.in({point_, &a[11], {6}, {-2 * 12}, 0}).in(view_of(b)).out(view_of(sums));
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  for (int32_t i = 0; i < 6; ++i) EXPECT_EQ(sums[static_cast<size_t>(i)].weight, 111 - 2 * i);
}

TEST_F(StructuredCall, UnalignedOperandsAreMovedForTheLoop) {
  const std::vector<Point> a = points(300), b = points(300, 1000);
  std::vector<char> odd_in(300 * sizeof(Point) + 1), odd_out(odd_in.size());
  std::memcpy(odd_in.data() + 1, a.data(), 300 * sizeof(Point));
  Call call(add_);
  call.in({point_, odd_in.data() + 1, {300}, {12}, 0}).in(view_of(b));
  call.out({point_, odd_out.data() + 1, {300}, {12}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  for (int32_t i = 0; i < 300; ++i) {
    Point found;
    std::memcpy(&found, odd_out.data() + 1 + 12 * i, sizeof found);
    EXPECT_EQ(found, (Point{static_cast<float>(1000 + 2 * i), static_cast<float>(-1000 - 2 * i),
                            1000 + 2 * i}));
  }
}

TEST_F(StructuredCall, MasksAndOverlap) {
  std::vector<Point> a = points(5);
  const std::vector<uint8_t> mask = {1, 0, 1, 0, 1};
  Call masked(add_);
  masked.in(view_of(a)).in(view_of(a)).out(view_of(a));
  masked.where({GUF_BOOL, mask.data(), {5}, {}, 0});
  ASSERT_EQ(masked.run(), GUF_OK) << masked.error.message;
  EXPECT_EQ(a[2].weight, 4);
  EXPECT_EQ(a[3].weight, 3);
  std::vector<Point> line = points(6);
  Call shifted(add_);  // line[1:] = line[:-1] + line[:-1], as if the input had been copied before
  shifted.in({point_, line.data(), {5}, {12}, 0}).in({point_, line.data(), {5}, {12}, 0});
  shifted.out({point_, &line[1], {5}, {12}, 0});
  ASSERT_EQ(shifted.run(), GUF_OK) << shifted.error.message;
  for (int32_t i = 1; i < 6; ++i) EXPECT_EQ(line[static_cast<size_t>(i)].weight, 2 * (i - 1));
}

TEST_F(StructuredCall, AllocatesResultsAndCopies) {
  const std::vector<Point> a = points(4);
  Call call(add_);
  call.in(view_of(a)).in(view_of(a)).out_missing();
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  guf_array_info info = {};
  info.struct_size = sizeof info;
  guf_array copied = nullptr;
  ASSERT_EQ(guf_array_copy(call.outputs[0].array, GUF_ORDER_C, nullptr, &copied, nullptr), GUF_OK);
  ASSERT_EQ(guf_array_get_info(copied, &info, nullptr), GUF_OK);
  EXPECT_EQ(info.dtype, point_);
  EXPECT_EQ(info.nbytes, 48U);
  EXPECT_EQ(reinterpret_cast<const Point *>(info.address)[3], (Point{6, -6, 6}));
  char text[100];
  uint64_t length = sizeof text;
  guf_error error = fresh_error();
  EXPECT_EQ(guf_array_print(copied, text, &length, &error), GUF_E_DTYPE);
  EXPECT_NE(std::string(error.message).find("test_point"), std::string::npos);
  guf_array cast = nullptr;
  EXPECT_EQ(
      guf_array_astype(copied, GUF_F64, GUF_CASTING_UNSAFE, GUF_ORDER_C, nullptr, &cast, &error),
      GUF_E_CASTING);
  EXPECT_NE(std::string(error.message).find("test_point"), std::string::npos);
  const guf_operand one = weak_int_of(1);
  EXPECT_EQ(guf_array_fill(copied, &one, nullptr, &error), GUF_E_CASTING);
  EXPECT_NE(std::string(error.message).find("test_point"), std::string::npos);
  guf_array_release(copied, nullptr);
  guf_array_release(call.outputs[0].array, nullptr);
}

TEST_F(StructuredCall, OnlyExactlyThisTypeMatches) {
  guf_dtype equal = 0;
  ASSERT_EQ(guf_dtype_register("test_point_equal", 12, 4, &equal, nullptr), GUF_OK);
  const std::vector<Point> a = points(2);
  std::vector<double> weights(2);
  const View out = view(GUF_F64, weights);
  Call right(weigh_);
  right.in(view_of(a)).out(out);
  ASSERT_EQ(right.run(), GUF_OK) << right.error.message;
  EXPECT_EQ(weights, (std::vector<double>{0, 1}));
  for (const guf_dtype other : {equal, guf_dtype{GUF_F64}, guf_dtype{GUF_TIMEDELTA64}}) {
    Call wrong(weigh_);
    wrong.in({other, a.data(), {2}, {}, 0}).out(out);
    EXPECT_EQ(wrong.run(), GUF_E_NO_LOOP) << wrong.error.message;
  }
  Call standard("add");
  standard.in(view_of(a)).in(view_of(a)).out_missing();
  EXPECT_EQ(standard.run(), GUF_E_NO_LOOP);
  EXPECT_NE(
      std::string(standard.error.message).find("argument 0 is of structured dtype 'test_point'"),
      std::string::npos)
      << standard.error.message;
  for (const char *name : {"logical_and", "logical_not"}) {
    Call logical(name);
    logical.in(view_of(a));
    if (name[8] == 'a') logical.in(view_of(a));
    logical.out_missing();
    EXPECT_EQ(logical.run(), GUF_E_NO_LOOP) << name << ": " << logical.error.message;
    guf_resolution answer = {};
    answer.struct_size = sizeof answer;
    EXPECT_EQ(requests::resolve_call(logical.handle, logical.ready(), &answer, nullptr),
              GUF_E_NO_LOOP);
  }
}

TEST_F(StructuredCall, HasNoByteOrderAndNoScalars) {
  const std::vector<Point> a = points(2);
  Call swapped(add_);
  swapped.in({point_, a.data(), {2}, {}, GUF_TENSOR_SWAPPED}).in(view_of(a)).out_missing();
  EXPECT_EQ(swapped.run(), GUF_E_DTYPE);
  EXPECT_NE(std::string(swapped.error.message).find("test_point"), std::string::npos);
  Call call(add_);
  call.in(scalar_of(point_, 0)).in(view_of(a)).out_missing();
  EXPECT_EQ(call.run(), GUF_E_DTYPE);
  EXPECT_NE(std::string(call.error.message).find("test_point"), std::string::npos);
}

}  // namespace
}  // namespace gufunc
