// SPDX-License-Identifier: Apache-2.0
// Tests which objects keep memory alive: arrays, views, streams with queued work, and release
// callbacks. Also tests forked children.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <set>
#include <thread>

#include "array_fixture.h"

namespace {

constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

class Lifetime : public ArrayTest {
 protected:
  guf_array wrap_counted(std::atomic<int> *count, void *data, int64_t size, uint32_t flags) {
    gufunc::Operands operands;
    guf_array array = nullptr;
    expect(guf_array_wrap(operands.tensor({GUF_F64, data, {size}, {}, 0})->tensor, count_up, count,
                          flags, &array, &error_));
    return array;
  }
  static void count_up(void *user, uint64_t address) {
    EXPECT_NE(address, 0U);
    ++*static_cast<std::atomic<int> *>(user);
  }
};

TEST_F(Lifetime, ACallbackRunsOnceInsideTheNextPoll) {
  double data[8] = {};
  std::atomic<int> ran{0};
  const guf_array array = wrap_counted(&ran, data, 8, 0);
  guf_array view = nullptr;
  const int64_t shape[] = {2, 4};
  expect(guf_array_reshape(array, 2, shape, GUF_ORDER_C, &view, &error_));
  expect(guf_array_release(array, &error_));
  expect(guf_poll(0, nullptr, &error_));
  EXPECT_EQ(ran, 0);  // the view keeps the memory alive
  expect(guf_array_release(view, &error_));
  EXPECT_EQ(ran, 0);  // callbacks never run inside a release
  uint32_t count = 0;
  expect(guf_poll(0, &count, &error_));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(count, 1U);
  expect(guf_poll(0, &count, &error_));
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(ran, 1);
}

TEST_F(Lifetime, PollRunsAtMostTheRequestedNumber) {
  double data[1] = {};
  std::atomic<int> ran{0};
  for (int i = 0; i < 5; ++i) {
    guf_array_release(wrap_counted(&ran, data, 1, 0), nullptr);
  }
  guf_poll(0, nullptr, nullptr);
  ran = 0;
  guf_array arrays[5];
  for (guf_array &array : arrays) array = wrap_counted(&ran, data, 1, 0);
  for (const guf_array array : arrays) guf_array_release(array, nullptr);
  uint32_t count = 0;
  expect(guf_poll(2, &count, &error_));
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(ran, 2);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(ran, 5);
}

TEST_F(Lifetime, AFailedWrapNeverCallsBack) {
  std::atomic<int> ran{0};
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = GUF_F64;
  tensor.ndim = 65;
  const int64_t shape[65] = {};
  tensor.shape = shape;
  guf_array array = nullptr;
  expect(guf_array_wrap(&tensor, count_up, &ran, 0, &array, &error_), GUF_E_SHAPE);
  tensor.ndim = 1;
  const int64_t one = 1;
  tensor.shape = &one;
  // The address of the tensor is 0.
  expect(guf_array_wrap(&tensor, count_up, &ran, 0, &array, &error_), GUF_E_ARG);
  tensor.address = kForever - 3;
  expect(guf_array_wrap(&tensor, count_up, &ran, 0, &array, &error_), GUF_E_SHAPE);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(ran, 0);
}

TEST_F(Lifetime, AnyThreadCallbacksRunWhereTheMemoryDies) {
  double data[1] = {};
  std::atomic<int> ran{0};
  guf_array_release(wrap_counted(&ran, data, 1, GUF_RELEASE_ANY_THREAD), nullptr);
  uint32_t count = 1;
  expect(guf_poll(0, &count, &error_));
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(count, 0U);  // the callback ran when the memory was freed and was not queued
}

TEST_F(Lifetime, QueuedWorkKeepsItsArrays) {
  constexpr int64_t kSize = 1 << 20;
  std::vector<double> source(kSize, 1.5);
  std::vector<double> target(kSize);
  guf_stream stream = nullptr;
  expect(guf_stream_create(cpu_, 0, &stream, &error_));
  int seen_busy = 0;
  for (int round = 0; round < 8; ++round) {
    std::atomic<int> ran{0};
    const guf_array from = wrap_counted(&ran, source.data(), kSize, 0);
    const guf_array to = wrap_counted(&ran, target.data(), kSize, 0);
    const guf_operand value = gufunc::weak_float_of(round);
    expect(guf_array_fill(from, &value, stream, &error_));
    expect(guf_array_assign(to, from, 0, stream, &error_));
    expect(guf_array_release(from, &error_));
    expect(guf_array_release(to, &error_));
    guf_poll(0, nullptr, nullptr);
    const int ran_early = ran;
    if (guf_stream_query(stream, nullptr) == GUF_NOT_READY) {
      EXPECT_EQ(ran_early, 0);
      ++seen_busy;
    }
    expect(guf_stream_synchronize(stream, kForever, &error_));
    EXPECT_EQ(target[0], round);
    EXPECT_EQ(target[kSize - 1], round);
    guf_poll(0, nullptr, nullptr);
    EXPECT_EQ(ran, 2);
  }
  RecordProperty("rounds seen while the stream was busy", seen_busy);
  expect(guf_stream_query(stream, &error_));
  expect(guf_stream_release(stream, &error_));
}

TEST_F(Lifetime, AReleasedStreamFinishesItsWork) {
  constexpr int64_t kSize = 1 << 20;
  std::vector<double> target(kSize);
  guf_stream stream = nullptr;
  guf_event event = nullptr;
  expect(guf_stream_create(cpu_, 0, &stream, &error_));
  expect(guf_event_create(cpu_, 0, &event, &error_));
  expect(guf_event_query(event, &error_));  // an event that was never recorded is complete
  const guf_operand value = gufunc::weak_float_of(3);
  expect(guf_array_fill(wrap(target.data(), GUF_F64, {kSize}), &value, stream, &error_));
  expect(guf_event_record(event, stream, &error_));
  expect(guf_stream_release(stream, &error_));
  guf_poll(0, nullptr, nullptr);
  expect(guf_event_wait(event, kForever, &error_));
  EXPECT_EQ(target[kSize - 1], 3);
  expect(guf_event_release(event, &error_));
}

TEST_F(Lifetime, StreamsWaitForEvents) {
  guf_stream first = nullptr;
  guf_stream second = nullptr;
  guf_event event = nullptr;
  expect(guf_stream_create(cpu_, 0, &first, &error_));
  expect(guf_stream_create(cpu_, 0, &second, &error_));
  expect(guf_event_create(cpu_, 0, &event, &error_));
  constexpr int64_t kSize = 1 << 20;
  std::vector<double> data(kSize);
  std::vector<double> copy(kSize);
  const guf_array from = wrap(data.data(), GUF_F64, {kSize});
  const guf_array to = wrap(copy.data(), GUF_F64, {kSize});
  for (int round = 1; round <= 5; ++round) {
    const guf_operand value = gufunc::weak_float_of(round);
    expect(guf_array_fill(from, &value, first, &error_));
    expect(guf_event_record(event, first, &error_));
    expect(guf_stream_wait_event(second, event, &error_));
    expect(guf_array_assign(to, from, 0, second, &error_));
    expect(guf_event_record(event, second, &error_));
    expect(guf_stream_wait_event(first, event, &error_));
    expect(guf_stream_synchronize(second, kForever, &error_));
    ASSERT_EQ(copy[kSize - 1], round);
  }
  guf_device device = nullptr;
  expect(guf_stream_get_device(first, &device, &error_));
  EXPECT_EQ(device, cpu_);
  expect(guf_stream_synchronize(first, kForever, &error_));
  expect(guf_stream_release(first, &error_));
  expect(guf_stream_release(second, &error_));
  expect(guf_event_release(event, &error_));
}

// A forked child cannot use the streams of its parent, but it can use host arrays and can create
// streams.
TEST_F(Lifetime, AForkedChildKeepsItsArrays) {
  double data[4] = {1, 2, 3, 4};
  guf_stream stream = nullptr;
  guf_event event = nullptr;
  expect(guf_stream_create(cpu_, 0, &stream, &error_));
  expect(guf_event_create(cpu_, 0, &event, &error_));
  const guf_array array = wrap(data, GUF_F64, {4});
  const guf_operand value = gufunc::weak_float_of(9);
  expect(guf_array_fill(array, &value, stream, &error_));
  expect(guf_stream_synchronize(stream, kForever, &error_));
  const pid_t child = fork();
  if (child == 0) {
    guf_stream own = nullptr;
    const guf_operand other = gufunc::weak_float_of(5);
    const bool right = guf_stream_query(stream, nullptr) == GUF_E_FORKED &&
                       guf_stream_synchronize(stream, 0, nullptr) == GUF_E_FORKED &&
                       guf_event_query(event, nullptr) == GUF_E_FORKED &&
                       guf_array_fill(array, &other, stream, nullptr) == GUF_E_FORKED &&
                       data[0] == 9 && guf_array_fill(array, &other, nullptr, nullptr) == GUF_OK &&
                       data[3] == 5 && guf_stream_create(cpu_, 0, &own, nullptr) == GUF_OK &&
                       guf_array_fill(array, &value, own, nullptr) == GUF_OK &&
                       guf_stream_synchronize(own, kForever, nullptr) == GUF_OK && data[3] == 9 &&
                       guf_stream_release(stream, nullptr) == GUF_OK &&
                       guf_stream_release(own, nullptr) == GUF_OK &&
                       guf_poll(0, nullptr, nullptr) == GUF_OK;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(data[3], 9);
  expect(guf_stream_release(stream, &error_));
  expect(guf_event_release(event, &error_));
}

TEST_F(Lifetime, MakingViewsFreesReleasedOnes) {
  double data[4] = {};
  const guf_array base = wrap(data, GUF_F64, {4});
  const int64_t start = 1;
  const int64_t stop = 3;
  const int64_t step = 1;
  std::set<uint32_t> places;  // slots in the handle table
  for (int k = 0; k < 100; ++k) {
    guf_array view = nullptr;
    expect(guf_array_slice(base, 1, &start, &stop, &step, &view, &error_));
    places.insert(static_cast<uint32_t>(reinterpret_cast<uint64_t>(view) >> 32));
    expect(guf_array_release(view, &error_));
  }
  EXPECT_LE(places.size(), 2U);
}

// Several threads make and release views of one array, for ThreadSanitizer.
TEST_F(Lifetime, ManyThreadsShareOneArray) {
  double data[64] = {};
  std::atomic<int> ran{0};
  const guf_array shared = wrap_counted(&ran, data, 64, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        guf_array view = nullptr;
        guf_array copy = nullptr;
        const int64_t shape[] = {8, 8};
        EXPECT_EQ(guf_array_reshape(shared, 2, shape, GUF_ORDER_C, &view, nullptr), GUF_OK);
        EXPECT_EQ(guf_array_copy(view, GUF_ORDER_F, nullptr, &copy, nullptr), GUF_OK);
        guf_array_release(view, nullptr);
        guf_array_release(copy, nullptr);
        EXPECT_EQ(guf_array_release(view, nullptr), GUF_E_HANDLE);
        if (i % 50 == 0) guf_poll(0, nullptr, nullptr);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  expect(guf_array_release(shared, &error_));
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(ran, 1);
}

}  // namespace
