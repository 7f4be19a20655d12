// SPDX-License-Identifier: Apache-2.0
// Tests plans, which are created once and launched on any addresses that match the plan.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>

#include "tests/unit/call/call_fixture.h"

namespace gufunc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
uint64_t address_of(const std::vector<T> &data) {
  return reinterpret_cast<uint64_t>(data.data());
}

class PlanLaunch : public testing::Test {
 protected:
  void make(Call *call) {
    ASSERT_EQ(guf_plan_create(call->handle, call->ready(), &plan_, &error_), GUF_OK)
        << error_.message;
  }
  void TearDown() override { EXPECT_EQ(guf_plan_release(plan_, &error_), GUF_OK); }
  guf_status launch(std::vector<uint64_t> addresses, uint64_t workspace = 0) {
    return guf_plan_launch(plan_, nullptr, static_cast<int32_t>(addresses.size()), addresses.data(),
                           workspace, &error_);
  }

  guf_plan plan_ = nullptr;
  guf_error error_ = fresh_error();
};

TEST_F(PlanLaunch, RunsOnOtherAddresses) {
  const std::vector<double> x = {1, 2, 3};
  const std::vector<double> y = {4, 5, 6};
  std::vector<double> z(3);
  Call call("add");
  call.in(view(GUF_F64, x)).in(view(GUF_F64, y)).out(view(GUF_F64, z));
  make(&call);
  const std::vector<double> p = {10, 20, 30};
  std::vector<double> q(3);
  ASSERT_EQ(launch({address_of(p), address_of(y), address_of(q)}), GUF_OK) << error_.message;
  EXPECT_THAT(q, ElementsAre(14, 25, 36));
}

TEST_F(PlanLaunch, RefusesAnotherOverlap) {
  std::vector<double> x = {1, 2, 3, 4};
  std::vector<double> z(3);
  Call call("negative");
  call.in({GUF_F64, x.data(), {3}, {}, 0}).out(view(GUF_F64, z));
  make(&call);
  EXPECT_EQ(launch({address_of(x), address_of(x) + 8}), GUF_E_PLAN_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr("arguments 1 and 0 overlap differently"));
  EXPECT_THAT(x, ElementsAre(1, 2, 3, 4));
}

TEST_F(PlanLaunch, RunsInPlaceAsItWasMade) {
  std::vector<double> x = {1, 2, 3};
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, x));
  make(&call);
  uint64_t nbytes = 1;
  uint64_t alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan_, &nbytes, &alignment, &error_), GUF_OK);
  EXPECT_EQ(nbytes, 0U);
  std::vector<double> other = {5, 6, 7};
  ASSERT_EQ(launch({address_of(other), address_of(other)}), GUF_OK) << error_.message;
  EXPECT_THAT(other, ElementsAre(-5, -6, -7));
}

TEST_F(PlanLaunch, StagesThroughTheWorkspace) {
  std::vector<double> x = {1, 2, 3, 4};
  Call call("negative");
  call.in({GUF_F64, x.data(), {3}, {}, 0}).out({GUF_F64, x.data() + 1, {3}, {}, 0});
  make(&call);
  uint64_t nbytes = 0;
  uint64_t alignment = 0;
  ASSERT_EQ(guf_plan_workspace(plan_, &nbytes, &alignment, &error_), GUF_OK);
  EXPECT_EQ(nbytes, 64U);
  EXPECT_EQ(launch({address_of(x), address_of(x) + 8}), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("needs a workspace of 64 bytes"));
  alignas(64) char workspace[64];
  ASSERT_EQ(launch({address_of(x), address_of(x) + 8}, reinterpret_cast<uint64_t>(workspace)),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(x, ElementsAre(1, -1, -2, -3));
}

TEST_F(PlanLaunch, KeepsScalarsByValue) {
  const std::vector<double> x = {1, 2};
  std::vector<double> z(2);
  Call call("multiply");
  call.in(view(GUF_F64, x)).in(weak_int_of(7)).out(view(GUF_F64, z));
  make(&call);
  ASSERT_EQ(launch({address_of(x), 0, address_of(z)}), GUF_OK) << error_.message;
  EXPECT_THAT(z, ElementsAre(7, 14));
}

TEST_F(PlanLaunch, TakesTheMaskLast) {
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> z = {9, 9, 9};
  const std::vector<uint8_t> mask = {1, 1, 1};
  const std::vector<uint8_t> other = {0, 1, 0};
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, z)).where(view(GUF_BOOL, mask));
  make(&call);
  EXPECT_EQ(launch({address_of(x), address_of(z)}), GUF_E_ARG);
  ASSERT_EQ(launch({address_of(x), address_of(z), address_of(other)}), GUF_OK) << error_.message;
  EXPECT_THAT(z, ElementsAre(9, -2, 9));
}

TEST_F(PlanLaunch, RefusesAMaskThatBeginsToOverlap) {
  const std::vector<uint8_t> x = {1, 0, 1};
  std::vector<uint8_t> mask = {1, 1, 0, 1};
  std::vector<uint8_t> y = {0, 0, 0};
  Call call("logical_not");
  call.in(view(GUF_BOOL, x)).out(view(GUF_BOOL, y)).where({GUF_BOOL, mask.data(), {3}, {}, 0});
  make(&call);
  EXPECT_EQ(launch({address_of(x), address_of(mask) + 1, address_of(mask)}), GUF_E_PLAN_MISMATCH);
  EXPECT_THAT(error_.message, HasSubstr("arguments 1 and 2 overlap differently"));
  EXPECT_THAT(mask, ElementsAre(1, 1, 0, 1));
}

TEST_F(PlanLaunch, TakesUnalignedAddresses) {
  std::vector<double> x = {1, 2};
  std::vector<double> z(2);
  alignas(8) char odd[32];
  std::memcpy(odd + 1, x.data(), 16);
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  make(&call);
  ASSERT_EQ(launch({reinterpret_cast<uint64_t>(odd + 1), address_of(z)}), GUF_OK) << error_.message;
  EXPECT_THAT(z, ElementsAre(-1, -2));
}

TEST_F(PlanLaunch, RunsReversedAndLargerThanABlock) {
  constexpr int kNdim = 11;
  std::vector<int64_t> shape(kNdim, 2);
  std::vector<int64_t> strides(kNdim);
  for (int k = 0; k < kNdim; ++k)
    strides[static_cast<size_t>(k)] = (int64_t{8} << (k * 3 % kNdim)) * (k == 4 ? -1 : 1);
  std::vector<double> x(1 << kNdim);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>(k);
  const double *const first = x.data() + (-strides[4]) / 8;
  std::vector<double> by_call(x.size());
  std::vector<double> by_plan(x.size());
  Call call("negative");
  call.in({GUF_F64, first, shape, strides, 0}).out({GUF_F64, by_call.data(), shape, {}, 0});
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  make(&call);
  ASSERT_EQ(launch({reinterpret_cast<uint64_t>(first), address_of(by_plan)}), GUF_OK)
      << error_.message;
  EXPECT_EQ(by_plan, by_call);
  EXPECT_NE(by_plan[1], 0);
}

TEST_F(PlanLaunch, RefusesNullAddressesAndCounts) {
  const std::vector<double> x = {1, 2};
  std::vector<double> z(2);
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  make(&call);
  EXPECT_EQ(launch({0, address_of(z)}), GUF_E_ARG);
  EXPECT_EQ(launch({address_of(x)}), GUF_E_ARG);
  EXPECT_EQ(guf_plan_launch(plan_, nullptr, 2, nullptr, 0, &error_), GUF_E_ARG);
}

TEST_F(PlanLaunch, ManyThreadsLaunchOne) {
  const std::vector<double> x(1000, 2.0);
  std::vector<double> z(1000);
  Call call("multiply");
  call.in(view(GUF_F64, x)).in(weak_int_of(3)).out(view(GUF_F64, z));
  make(&call);
  std::vector<std::thread> threads;
  std::vector<std::vector<double>> results(4, std::vector<double>(1000));
  for (std::vector<double> &result : results) {
    threads.emplace_back([&] {
      const uint64_t addresses[] = {address_of(x), 0, address_of(result)};
      for (int k = 0; k < 200; ++k)
        EXPECT_EQ(guf_plan_launch(plan_, nullptr, 3, addresses, 0, nullptr), GUF_OK);
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (const std::vector<double> &result : results)
    EXPECT_EQ(std::count(result.begin(), result.end(), 6.0), 1000);
}

TEST_F(PlanLaunch, ExplainsItself) {
  const std::vector<float> x(6);
  const std::vector<int32_t> y(3);
  std::vector<float> z(6);
  Call call("add");
  call.in({GUF_F32, x.data(), {2, 3}, {}, 0})
      .in(view(GUF_I32, y))
      .out({GUF_F32, z.data(), {2, 3}, {}, 0});
  make(&call);
  uint64_t length = 0;
  EXPECT_EQ(guf_plan_explain(plan_, nullptr, &length, &error_), GUF_E_BUFFER_TOO_SMALL);
  std::string text(length, 'x');
  ASSERT_EQ(guf_plan_explain(plan_, text.data(), &length, &error_), GUF_OK) << error_.message;
  EXPECT_EQ(text.size(), length);
  for (const char *part :
       {"add on cpu: loop", "dd->d",
        "argument 1: in, int32 cast to float64, shape (3,), strides (4,)",
        "argument 2: out, float32 cast from float64, shape (2,3)", "broadcast shape (2,3), 6 items",
        "3 by (4,4,4) 2 by (12,0,12)", "elementwise launch",
        "refused ff->f: argument 1 cannot be cast safely to float32", "workspace 0 bytes",
        "arguments 2 and 0: disjoint"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

// A new plan reuses the memory of a released plan. The memory of a program that creates and
// releases plans therefore does not grow.
TEST_F(PlanLaunch, CreatingFreesReleasedOnes) {
  const std::vector<double> x = {1, 2};
  std::vector<double> z(2);
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  make(&call);
  std::set<uint32_t> places;
  for (int k = 0; k < 100; ++k) {
    places.insert(static_cast<uint32_t>(reinterpret_cast<uint64_t>(plan_) >> 32));
    ASSERT_EQ(guf_plan_release(plan_, &error_), GUF_OK);
    make(&call);
  }
  EXPECT_LE(places.size(), 2U);
}

TEST_F(PlanLaunch, NeedsAllOutputs) {
  const std::vector<double> x = {1};
  Call call("negative");
  call.in(view(GUF_F64, x)).out_missing();
  EXPECT_EQ(guf_plan_create(call.handle, call.ready(), &plan_, &error_), GUF_E_ARG);
  EXPECT_EQ(plan_, nullptr);
}

}  // namespace
}  // namespace gufunc
