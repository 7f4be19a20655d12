// SPDX-License-Identifier: Apache-2.0
// Tests calls on streams. The queued work of calls, plans and copies keeps its resources alive. The
// next synchronize call reports a failure of queued work, even if other calls are made between the
// failure and the synchronize call.
#include <chrono>
#include <thread>

#include "tests/support/requests.h"
#include "tests/unit/call/call_fixture.h"
#include "tests/unit/method/stream_keep_fixture.h"

namespace gufunc {
namespace {

void ten_times_and_next(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto x = load_value<double>(args[0] + i * steps[0]);
    store_value(args[1] + i * steps[1], 10 * x);
    store_value(args[2] + i * steps[2], x + 1);
  }
}

void exchange(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto a = load_value<double>(args[0] + i * steps[0]);
    store_value(args[0] + i * steps[0], load_value<double>(args[1] + i * steps[1]));
    store_value(args[1] + i * steps[1], a);
  }
}

void add_into_first(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    char *const to = args[0] + i * steps[0];
    store_value(to, load_value<double>(to) + load_value<double>(args[1] + i * steps[1]));
  }
}

guf_ufunc adding_into_first() {
  static const guf_ufunc ufunc =
      make_ufunc("add_into_first", "(),()", 0, 0, {GUF_ROLE_INOUT, GUF_ROLE_IN}, add_into_first,
                 {GUF_F64, GUF_F64}, 0, GUF_LOOP_ANY_THREAD);
  return ufunc;
}

TEST_F(StreamKeep, OperandsAndTheMaskOfACall) {
  block();
  std::vector<double> &x = doubles(1000), &y = doubles(1000), &z = doubles(1000);
  std::vector<uint8_t> &mask = bits(1000, 3);
  Call call("add");
  call.in(*wrapped(view(GUF_F64, x))).in(*wrapped(view(GUF_F64, y)));
  call.outputs.push_back(*wrapped(view(GUF_F64, z)));
  call.args.where = wrapped(view(GUF_BOOL, mask));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  for (size_t k = 0; k < z.size(); ++k)
    ASSERT_EQ(z[k], static_cast<double>(mask[k] != 0 ? 2 * k : k)) << k;
}

// Queries are documented not to block. A query that waited for the stream would wait forever, so a
// second thread opens the gate after 10 seconds.
TEST_F(StreamKeep, QueriesDoNotWaitForTheStream) {
  block();
  std::atomic<bool> answered{false};
  std::thread rescue([&answered] {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!answered && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    if (!answered) gate_is_open = true;
  });
  std::vector<double> &x = doubles(1000), &z = doubles(1000);
  Call call("negative");
  call.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  call.args.options.stream = stream_;
  guf_resolution found = {};
  found.struct_size = sizeof found;
  char text[4096];
  uint64_t length = sizeof text;
  EXPECT_EQ(requests::resolve_call(call.handle, call.ready(), &found, &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(requests::explain_call(call.handle, call.ready(), text, &length, &call.error), GUF_OK)
      << call.error.message;
  EXPECT_FALSE(gate_is_open) << "a query waited for the stream";
  answered = true;
  rescue.join();
}

TEST_F(StreamKeep, StagedOperandsStayAlive) {
  block();
  std::vector<uint8_t> &bytes = bits(1001, 3);
  const std::vector<uint8_t> was = bytes;
  Call call("logical_not");
  call.in(*wrapped({GUF_BOOL, bytes.data(), {1000}, {}, 0}));
  call.outputs.push_back(*wrapped({GUF_BOOL, bytes.data() + 1, {1000}, {}, 0}));
  call.args.where = wrapped({GUF_BOOL, bytes.data(), {1000}, {}, 0});
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  for (size_t k = 0; k < 1000; ++k) ASSERT_EQ(bytes[k + 1], was[k] != 0 ? 0 : was[k + 1]) << k;
}

TEST_F(StreamKeep, OutputsThatAreWrittenBack) {
  block();
  static const guf_ufunc ufunc = make_part("ten_times_and_next", nullptr, 1, 2, 0,
                                           {GUF_F64, GUF_F64, GUF_F64}, ten_times_and_next);
  std::vector<double> &x = doubles(3), &y = doubles(4);
  Call call(ufunc);
  call.in(*wrapped(view(GUF_F64, x)));
  call.outputs.push_back(*wrapped({GUF_F64, y.data(), {3}, {}, 0}));
  call.outputs.push_back(*wrapped({GUF_F64, y.data() + 1, {3}, {}, 0}));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  EXPECT_EQ(y, (std::vector<double>{0, 1, 2, 3}));
}

// The loop reads x in place and y from a copy. One output is written through a temporary buffer.
TEST_F(StreamKeep, SourcesOfSeparateOutputs) {
  block();
  static const guf_ufunc ufunc =
      make_ufunc("exchange_later", "(),()", 0, 0, {GUF_ROLE_INOUT, GUF_ROLE_INOUT}, exchange,
                 {GUF_F64, GUF_F64}, 0, GUF_LOOP_ANY_THREAD);
  std::vector<double> &x = doubles(3), &y = doubles(3);
  std::vector<float> z(3);
  for (double &value : y) value += 10;
  Call call(ufunc);
  call.in(*wrapped(view(GUF_F64, x))).in(*wrapped(view(GUF_F64, y)));
  call.outputs.push_back(*wrapped(view(GUF_F64, y)));
  call.outputs.push_back(*wrapped(view(GUF_F32, z)));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  EXPECT_EQ(y, (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(z, (std::vector<float>{0, 1, 2}));
}

TEST_F(StreamKeep, ScalarsBesideSeparateOutputs) {
  block();
  std::vector<double> &x = doubles(3), &y = doubles(3);
  Call call(adding_into_first());
  call.in(*wrapped(view(GUF_F64, x))).in(weak_int_of(7));
  call.outputs.push_back(*wrapped(view(GUF_F64, y)));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  EXPECT_EQ(y, (std::vector<double>{7, 8, 9}));
}

// The scalar is broadcast into the output when the queued work runs.
TEST_F(StreamKeep, ScalarsThatSeparateOutputsStartFrom) {
  block();
  std::vector<double> &x = doubles(3), &y = doubles(3);
  Call call(adding_into_first());
  call.in(weak_int_of(7)).in(*wrapped(view(GUF_F64, x)));
  call.outputs.push_back(*wrapped(view(GUF_F64, y)));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_released();
  EXPECT_EQ(y, (std::vector<double>{7, 8, 9}));
}

// The temporary buffer of a copy between overlapping arrays is not reused before the copy
// completes.
TEST_F(StreamKeep, MemoryBetweenOverlappingArrays) {
  block();
  std::vector<double> &x = doubles(1001);
  const guf_operand *const from = wrapped({GUF_F64, x.data(), {1000}, {}, 0}),
                           *const to = wrapped({GUF_F64, &x[1000], {1000}, {-8}, 0});
  ASSERT_EQ(guf_array_assign(to->array, from->array, 0, stream_, nullptr), GUF_OK);
  drain();
  const int64_t size = 1000;
  const guf_operand seven = weak_int_of(7);
  std::vector<guf_array> others(20);
  for (guf_array &other : others) {
    ASSERT_EQ(guf_array_alloc(nullptr, GUF_F64, 1, &size, nullptr, GUF_ORDER_C, &other, nullptr),
              GUF_OK);
    ASSERT_EQ(guf_array_fill(other, &seven, nullptr, nullptr), GUF_OK);
  }
  run_released();
  for (size_t k = 0; k < 1000; ++k) ASSERT_EQ(x[1000 - k], static_cast<double>(k)) << k;
  for (const guf_array other : others) {
    std::vector<double> values(1000);
    EXPECT_EQ(guf_array_copy_to_host(other, values.data(), 8000, GUF_ORDER_C, nullptr, nullptr),
              GUF_OK);
    EXPECT_EQ(values, std::vector<double>(1000, 7.0));
    guf_array_release(other, nullptr);
  }
}

TEST_F(StreamKeep, ArraysThatAreCopiedBetween) {
  block();
  std::vector<double> &x = doubles(100), &y = doubles(100), &z = doubles(100);
  const guf_operand *const from = wrapped(view(GUF_F64, x)), *const to = wrapped(view(GUF_F64, y)),
                           *const filled = wrapped(view(GUF_F64, z)),
                           *const out = wrapped({GUF_F64, doubles(100).data(), {100}, {}, 0});
  std::vector<double> host(100);
  guf_array copy = nullptr;
  const guf_operand five = weak_int_of(5);
  EXPECT_EQ(guf_array_assign(to->array, from->array, 0, stream_, nullptr), GUF_OK);
  EXPECT_EQ(guf_array_fill(filled->array, &five, stream_, nullptr), GUF_OK);
  EXPECT_EQ(guf_array_copy(from->array, GUF_ORDER_C, stream_, &copy, nullptr), GUF_OK);
  EXPECT_EQ(guf_array_copy_to_host(out->array, host.data(), 800, GUF_ORDER_C, stream_, nullptr),
            GUF_OK);
  guf_array_release(copy, nullptr);
  run_released();
  EXPECT_EQ(y, x);
  EXPECT_EQ(z, std::vector<double>(100, 5.0));
  EXPECT_EQ(host[99], 99);
}

// Adds a function in its own context, which nothing else keeps alive.
class StreamKeepFunction : public StreamKeep {
 protected:
  void SetUp() override {
    StreamKeep::SetUp();
    ASSERT_EQ(guf_context_create(0, &context_, nullptr), GUF_OK);
    guf_ufunc_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.nin = 2;
    desc.nout = 1;
    desc.name = "kept_add";
    ASSERT_EQ(guf_ufunc_create(context_, &desc, &ufunc_, nullptr), GUF_OK);
    guf_loop_desc loop = {};
    loop.struct_size = sizeof loop;
    loop.kind = GUF_LOOP_NUMPY;
    loop.flags = GUF_LOOP_ANY_THREAD;
    loop.ntypes = 3;
    loop.types = kTypes;
    loop.numpy = add_behind_gate;
    loop.user = this;
    loop.destroy = count_destroy;
    ASSERT_EQ(guf_ufunc_add_loop(ufunc_, &loop, nullptr), GUF_OK);
    block();
  }
  void run_after_release() {
    EXPECT_EQ(guf_ufunc_release(ufunc_, nullptr), GUF_OK);
    EXPECT_EQ(guf_context_release(context_, nullptr), GUF_OK);
    run_dropped(1);
  }

  static constexpr guf_dtype kTypes[] = {GUF_I64, GUF_I64, GUF_I64};
  guf_context context_ = nullptr;
  guf_ufunc ufunc_ = nullptr;
  std::vector<int64_t> x_ = {1, 2, 3}, y_ = {0, 0, 0};
};

TEST_F(StreamKeepFunction, OfACall) {
  Call call(ufunc_);
  call.in(view(GUF_I64, x_)).in(view(GUF_I64, x_)).out(view(GUF_I64, y_));
  call.args.options.stream = stream_;
  ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  run_after_release();
  EXPECT_EQ(y_, (std::vector<int64_t>{2, 4, 6}));
}

TEST_F(StreamKeepFunction, OfAReduction) {
  Reduce reduce(ufunc_, view(GUF_I64, x_));
  reduce.into({GUF_I64, y_.data(), {}, {}, 0});
  reduce.args.options.stream = stream_;
  ASSERT_EQ(reduce.run(), GUF_OK) << reduce.error.message;
  run_after_release();
  EXPECT_EQ(y_[0], 6);
}

TEST_F(StreamKeepFunction, OfAPlan) {
  Call call(ufunc_);
  call.in(view(GUF_I64, x_)).in(weak_int_of(7)).out(view(GUF_I64, y_));
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(ufunc_, call.ready(), &plan, &call.error), GUF_OK)
      << call.error.message;
  const uint64_t places[] = {reinterpret_cast<uint64_t>(x_.data()), 0,
                             reinterpret_cast<uint64_t>(y_.data())};
  ASSERT_EQ(guf_plan_launch(plan, stream_, 3, places, 0, &call.error), GUF_OK)
      << call.error.message;
  EXPECT_EQ(guf_plan_release(plan, nullptr), GUF_OK);
  run_after_release();
  EXPECT_EQ(y_, (std::vector<int64_t>{8, 9, 10}));
}

guf_status fail_always(char **, const int64_t *, const int64_t *, void *) {
  return GUF_E_VALUE;
}

// The second call fails on the host. This failure must not clear the failure of the queued work.
TEST(StreamFailures, SurviveACallThatIsRefused) {
  guf_error error = fresh_error();
  guf_device device = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &device, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(device, 0, &stream, &error), GUF_OK);
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = desc.nout = 1;
  desc.name = "fail_always";
  guf_ufunc ufunc = nullptr;
  ASSERT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  const guf_dtype types[] = {GUF_F64, GUF_F64};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = GUF_LOOP_STATUS;
  loop.ntypes = 2;
  loop.types = types;
  loop.status = fail_always;
  ASSERT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error), GUF_OK) << error.message;
  std::vector<double> x = {1, 2, 3};
  std::vector<double> z(3);
  Call failing(ufunc);
  failing.args.options.stream = stream;
  failing.in(view(GUF_F64, x)).out(view(GUF_F64, z));
  EXPECT_EQ(failing.run(), GUF_OK) << failing.error.message;
  Call refused("add");  // the output would need more memory than any machine has
  refused.args.options.stream = stream;
  const int64_t too_many = int64_t{1} << 50;
  refused.in({GUF_F64, x.data(), {too_many, 1}, {0, 8}, 0})
      .in({GUF_F64, x.data(), {3}, {}, 0})
      .out_missing();
  EXPECT_NE(refused.run(), GUF_OK);
  EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_E_VALUE);
  EXPECT_EQ(guf_stream_release(stream, &error), GUF_OK);
}

}  // namespace

}  // namespace gufunc
