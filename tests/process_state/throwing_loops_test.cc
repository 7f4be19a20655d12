// SPDX-License-Identifier: Apache-2.0
// Tests that a host loop that throws fails its call with GUF_E_LOOP on every thread, and that the
// pool and the stream stay usable. After a loop that ends the caller's thread, the pool and the
// stream must also be usable.
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "vector_calls.h"

namespace {

constexpr size_t kMany = 200'000;

// State of a loop that throws at elements equal to -1, or at every element.
struct Thrower {
  std::mutex lock;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  size_t meet = 1;      // number of threads that must run the loop at the same time
  bool always = false;  // throw on each thread
  bool plain = false;   // throw a type that is not derived from std::exception
};

void run_thrower(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  auto &self = *static_cast<Thrower *>(user);
  {
    std::unique_lock hold(self.lock);
    self.threads.insert(std::this_thread::get_id());
    self.arrived.notify_all();
    self.arrived.wait_for(hold, std::chrono::seconds(20),
                          [&] { return self.threads.size() >= self.meet; });
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    float value = 0;
    std::memcpy(&value, args[0] + i * steps[0], sizeof value);
    if (self.always || value < 0) {
      if (self.plain) throw 42;
      throw std::runtime_error("an element below zero");
    }
    std::memcpy(args[1] + i * steps[1], &value, sizeof value);
  }
}

guf_status run_thrower_with_status(char **args, const int64_t *dims, const int64_t *steps,
                                   void *user) {
  run_thrower(args, dims, steps, user);
  return GUF_OK;
}

guf_status run_thrower_with_error(char **args, const int64_t *dims, const int64_t *steps,
                                  void *user, guf_error *) {
  run_thrower(args, dims, steps, user);
  return GUF_OK;
}

// A loop (X, X) -> X for methods, which throws if its second operand is negative.
void add_or_throw(char **args, const int64_t *dims, const int64_t *steps, void *) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    float a = 0, b = 0;
    std::memcpy(&a, args[0] + i * steps[0], sizeof a);
    std::memcpy(&b, args[1] + i * steps[1], sizeof b);
    if (b < 0) throw std::runtime_error("an element below zero");
    a += b;
    std::memcpy(args[2] + i * steps[2], &a, sizeof a);
  }
}

guf_ufunc make(const char *name, int32_t kind, int32_t nin, void *user) {
  guf_error error = fresh_error();
  guf_ufunc_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.nin = nin;
  desc.nout = 1;
  desc.name = name;
  guf_ufunc ufunc = nullptr;
  EXPECT_EQ(guf_ufunc_create(nullptr, &desc, &ufunc, &error), GUF_OK) << error.message;
  const guf_dtype types[] = {GUF_F32, GUF_F32, GUF_F32};
  guf_loop_desc loop = {};
  loop.struct_size = sizeof loop;
  loop.kind = kind;
  loop.flags = GUF_LOOP_ANY_THREAD;
  loop.ntypes = nin + 1;
  loop.types = types;
  loop.user = user;
  if (kind == GUF_LOOP_NUMPY) loop.numpy = nin == 2 ? add_or_throw : run_thrower;
  if (kind == GUF_LOOP_STATUS) loop.status = run_thrower_with_status;
  if (kind == GUF_LOOP_ERROR) loop.error = run_thrower_with_error;
  EXPECT_EQ(guf_ufunc_add_loop(ufunc, &loop, &error), GUF_OK) << error.message;
  return ufunc;
}

std::vector<float> ramp(size_t count, size_t bad) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 100);
  if (bad < count) values[bad] = -1;
  return values;
}

// Expects that several threads of the pool still run a loop together.
void expect_working_pool() {
  static Thrower meeting;
  static const guf_ufunc meet = make("meet", GUF_LOOP_NUMPY, 1, &meeting);
  meeting.threads.clear();
  meeting.meet = 3;
  guf_error error = fresh_error();
  const std::vector<float> in = ramp(kMany, kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  ASSERT_EQ(call(meet, {from.get()}, to.get(), &error, {.threads = 3}), GUF_OK) << error.message;
  EXPECT_EQ(meeting.threads.size(), 3U);
  EXPECT_EQ(out, in);
}

void expect_loop_failure(guf_status status, const guf_error &error) {
  EXPECT_EQ(status, GUF_E_LOOP);
  EXPECT_STREQ(error.message, "the loop threw an exception: an element below zero");
}

struct Kind {
  const char *name;
  int32_t kind;
};
constexpr Kind kKinds[] = {{"throws_numpy", GUF_LOOP_NUMPY},
                           {"throws_status", GUF_LOOP_STATUS},
                           {"throws_error", GUF_LOOP_ERROR}};

TEST(ThrowingLoops, CallsOfEveryKindAndSize) {
  static Thrower thrower;
  for (const Kind &kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const guf_ufunc ufunc = make(kind.name, kind.kind, 1, &thrower);
    for (const size_t count : {size_t{1}, size_t{5}, kMany}) {
      for (const uint32_t threads : {0U, 1U, 3U}) {
        for (const size_t bad : {size_t{0}, count / 2, count - 1}) {
          guf_error error = fresh_error();
          const std::vector<float> in = ramp(count, bad);
          std::vector<float> out(count);
          const Vector from(in), to(out);
          expect_loop_failure(call(ufunc, {from.get()}, to.get(), &error, {.threads = threads}),
                              error);
        }
      }
    }
    expect_working_pool();
  }
}

TEST(ThrowingLoops, OnAllThreadsAtOnce) {
  static Thrower thrower;
  thrower.always = true;
  const guf_ufunc ufunc = make("throws_everywhere", GUF_LOOP_NUMPY, 1, &thrower);
  for (int round = 0; round < 20; ++round) {
    guf_error error = fresh_error();
    thrower.threads.clear();
    thrower.meet = 3;
    const std::vector<float> in = ramp(kMany, kMany);
    std::vector<float> out(kMany);
    const Vector from(in), to(out);
    expect_loop_failure(call(ufunc, {from.get()}, to.get(), &error, {.threads = 3}), error);
  }
  expect_working_pool();
}

TEST(ThrowingLoops, ThrownObjectsOfOtherTypes) {
  static Thrower thrower;
  thrower.plain = true;
  const guf_ufunc ufunc = make("throws_int", GUF_LOOP_NUMPY, 1, &thrower);
  guf_error error = fresh_error();
  const std::vector<float> in = ramp(3, 1);
  std::vector<float> out(3);
  const Vector from(in), to(out);
  EXPECT_EQ(call(ufunc, {from.get()}, to.get(), &error), GUF_E_LOOP);
  EXPECT_STREQ(error.message, "the loop threw an exception");
}

TEST(ThrowingLoops, Plans) {
  static Thrower thrower;
  const guf_ufunc ufunc = make("throws_planned", GUF_LOOP_NUMPY, 1, &thrower);
  guf_error error = fresh_error();
  const std::vector<float> in = ramp(1, 0);
  std::vector<float> out(1);
  const Vector from(in), to(out);
  guf_operand output = to.get();
  guf_call_args args = {};
  args.struct_size = sizeof args;
  args.ninputs = args.noutputs = 1;
  args.inputs = &from.get();
  args.outputs = &output;
  guf_plan plan = nullptr;
  ASSERT_EQ(guf_plan_create(ufunc, &args, &plan, &error), GUF_OK) << error.message;
  const uint64_t addresses[] = {from.get().tensor->address, to.get().tensor->address};
  expect_loop_failure(guf_plan_launch(plan, nullptr, 2, addresses, 0, &error), error);
  guf_plan_release(plan, nullptr);
}

TEST(ThrowingLoops, Methods) {
  const guf_ufunc ufunc = make("add_or_throw", GUF_LOOP_NUMPY, 2, nullptr);
  for (const size_t count : {size_t{5}, kMany}) {
    for (const uint32_t threads : {1U, 3U}) {
      SCOPED_TRACE(count);
      guf_error error = fresh_error();
      const std::vector<float> in = ramp(count, count - 1);
      std::vector<float> out(count);
      const Vector from(in), to(out);
      guf_operand output = to.get();
      guf_accumulate_args args = {};
      args.struct_size = sizeof args;
      args.input = &from.get();
      args.output = &output;
      args.options.threads = threads;
      expect_loop_failure(guf_accumulate(ufunc, &args, &error), error);
      const std::vector<int64_t> starts = {0, 1, 2};
      std::vector<float> three(3);
      const Vector indices(starts), to_three(three);
      output = to_three.get();
      args.indices = &indices.get();
      expect_loop_failure(guf_reduceat(ufunc, &args, &error), error);
      std::vector<float> one(1);
      const Vector to_one(one);
      output = to_one.get();
      guf_reduce_args reduce = {};
      reduce.struct_size = sizeof reduce;
      reduce.flags = GUF_CALL_KEEPDIMS;
      reduce.input = &from.get();
      reduce.output = &output;
      reduce.options.threads = threads;
      expect_loop_failure(guf_reduce(ufunc, &reduce, &error), error);
      guf_at_args at = {};
      at.struct_size = sizeof at;
      at.array = &to.get();
      at.indices = &indices.get();
      const std::vector<float> operand = {1, -1, 1};
      const Vector by(operand);
      at.operand = &by.get();
      at.nindices = 1;
      expect_loop_failure(guf_at(ufunc, &at, &error), error);
      std::vector<float> all(3 * 3);
      const std::vector<float> few = {1, 2, -1};
      const Vector a(few);
      gufunc::Operands operands;
      output = *operands.tensor({GUF_F32, all.data(), {3, 3}, {}, 0});
      const guf_operand pair[] = {a.get(), a.get()};
      guf_call_args outer = {};
      outer.struct_size = sizeof outer;
      outer.ninputs = 2;
      outer.noutputs = 1;
      outer.inputs = pair;
      outer.outputs = &output;
      outer.options.threads = threads;
      expect_loop_failure(guf_outer(ufunc, &outer, &error), error);
    }
  }
  expect_working_pool();
}

TEST(ThrowingLoops, Streams) {
  static Thrower thrower;
  const guf_ufunc ufunc = make("throws_on_streams", GUF_LOOP_NUMPY, 1, &thrower);
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK);
  for (const size_t count : {size_t{1}, size_t{5}, kMany}) {
    // The first call is queued. Later short calls run on the caller's thread.
    for (int round = 0; round < 3; ++round) {
      const std::vector<float> in = ramp(count, count / 2), good = ramp(count, count);
      std::vector<float> out(count);
      const Vector from(in), fine(good), to(out);
      ASSERT_EQ(call(ufunc, {from.get()}, to.get(), &error, {.stream = stream}), GUF_OK)
          << error.message;
      EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_E_LOOP);
      EXPECT_THAT(error.message, testing::StartsWith("the loop threw an exception: an element"));
      ASSERT_EQ(call(ufunc, {fine.get()}, to.get(), &error, {.stream = stream}), GUF_OK);
      EXPECT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_OK);
      EXPECT_EQ(out, good);
    }
  }
  guf_stream_release(stream, nullptr);
  expect_working_pool();
}

// State of a loop that copies its input, and that ends the caller's thread when `meet` threads run
// the loop.
struct Leaver {
  std::mutex lock;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  std::thread::id caller;
  size_t meet = 1;
};
void leave_thread(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  auto &self = *static_cast<Leaver *>(user);
  {
    std::unique_lock hold(self.lock);
    self.threads.insert(std::this_thread::get_id());
    self.arrived.notify_all();
    self.arrived.wait_for(hold, std::chrono::seconds(20),
                          [&] { return self.threads.size() >= self.meet; });
  }
  if (std::this_thread::get_id() == self.caller) pthread_exit(user);
  for (int64_t i = 0; i < dims[0]; ++i) {
    std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], sizeof(float));
  }
}

// A call that does not return, because its loop ends the calling thread. The call runs on a thread
// that only makes this call.
struct Leaving {
  guf_ufunc ufunc;
  Leaver *leaver;
  guf_stream stream;
  uint32_t threads;
  size_t count;
  bool destroyed = false, returned = false;
};
void *call_and_leave(void *argument) {
  auto &self = *static_cast<Leaving *>(argument);
  struct Frame {  // the destructor must run during the unwind
    bool *destroyed;
    ~Frame() { *destroyed = true; }
  } const frame{&self.destroyed};
  self.leaver->caller = std::this_thread::get_id();
  static const std::vector<float> in = ramp(kMany, kMany);
  static std::vector<float> out(kMany);
  const std::vector<float> few(in.begin(), in.begin() + 5);
  std::vector<float> few_out(5);
  const Vector from(self.count == kMany ? in : few), to(self.count == kMany ? out : few_out);
  guf_error error = fresh_error();
  call(self.ufunc, {from.get()}, to.get(), &error,
       {.threads = self.threads, .stream = self.stream});
  self.returned = true;
  return nullptr;
}

void expect_to_leave(Leaving leaving) {
  leaving.leaver->threads.clear();
  pthread_t thread;
  void *result = nullptr;
  ASSERT_EQ(pthread_create(&thread, nullptr, call_and_leave, &leaving), 0);
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, leaving.leaver) << "pthread_exit's value";
  EXPECT_TRUE(leaving.destroyed && !leaving.returned);
}

TEST(ThrowingLoops, ThatEndTheThreadOfACall) {
  static Leaver leaver;
  for (const uint32_t flags : {0U, uint32_t{GUF_LOOP_ANY_THREAD}}) {
    const char *const name = flags == 0 ? "leaves_caller" : "leaves_any";
    const guf_ufunc ufunc = make_unary(name, leave_thread, &leaver, flags);
    for (const size_t count : {size_t{5}, kMany}) {
      // 0 is the default number of threads.
      for (uint32_t threads = flags == 0 ? 0 : 1; threads <= 3; ++threads) {
        leaver.meet = flags == 0 ? 1 : threads;
        expect_to_leave({ufunc, &leaver, nullptr, threads, count});
        expect_working_pool();
      }
    }
  }
}
// A loop without GUF_LOOP_ANY_THREAD runs on the caller's thread, even for a call on a stream.
TEST(ThrowingLoops, ThatEndTheThreadOfACallOnAStream) {
  static Leaver leaver;
  const guf_ufunc ufunc = make_unary("leaves_stream", leave_thread, &leaver, 0);
  guf_error error = fresh_error();
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK);
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK);
  const std::vector<float> good = ramp(kMany, kMany);
  for (const size_t count : {size_t{5}, kMany}) {
    for (int round = 0; round < 3; ++round) {
      expect_to_leave({ufunc, &leaver, stream, 0, count});
      leaver.caller = {};  // from here on the loop only copies
      std::vector<float> out(count);
      const std::vector<float> in(good.begin(), good.begin() + static_cast<ptrdiff_t>(count));
      const Vector from(in), to(out);
      EXPECT_EQ(call(ufunc, {from.get()}, to.get(), &error, {.stream = stream}), GUF_OK)
          << error.message;
      EXPECT_EQ(guf_stream_synchronize(stream, 20'000'000'000, &error), GUF_OK) << error.message;
      EXPECT_EQ(out, in);
    }
  }
  guf_stream_release(stream, &error);
  expect_working_pool();
}

}  // namespace
