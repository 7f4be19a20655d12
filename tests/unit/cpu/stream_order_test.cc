// SPDX-License-Identifier: Apache-2.0
// Tests streams and events: the order of work, failures that a stream stores and reports once,
// timeouts, close and fork.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/unit/cpu/cpu_fixture.h"

namespace gufunc::cpu {
namespace {

// RAII wrappers for a stream and an event.
struct StreamHandle {
  StreamHandle() {
    guf_error error = fresh_error();
    EXPECT_EQ(cpu().stream_open(cpu_device(), 0, 0, &stream, &error), GUF_OK) << error.message;
  }
  ~StreamHandle() { cpu().stream_close(stream); }
  void *stream = nullptr;
};
struct EventHandle {
  EventHandle() {
    guf_error error = fresh_error();
    EXPECT_EQ(cpu().event_open(cpu_device(), &event, &error), GUF_OK) << error.message;
  }
  ~EventHandle() { cpu().event_close(event); }
  void *event = nullptr;
};

// A loop that blocks until the gate opens, and a loop that appends its number to a trace.
struct Gate {
  std::atomic<bool> open{false}, entered{false};
  static void loop(char **, const int64_t *, const int64_t *, void *user) {
    auto &gate = *static_cast<Gate *>(user);
    gate.entered = true;
    while (!gate.open) std::this_thread::yield();
  }
};
struct Trace {
  std::vector<int> seen;  // accessed by the thread of the stream only
  int number = 0;
  std::thread::id thread;
};
struct Step {
  Trace *trace;
  int number;
  static void loop(char **, const int64_t *, const int64_t *, void *user) {
    auto &step = *static_cast<Step *>(user);
    step.trace->seen.push_back(step.number);
    step.trace->thread = std::this_thread::get_id();
  }
};
guf_status failing_loop(char **, const int64_t *, const int64_t *, void *) {
  return GUF_E_VALUE;
}

constexpr uint64_t kForever = UINT64_MAX;

// Makes a block with one item and no operands. If `large` is true, the block runs on the stream's
// thread.
guf_launch_block bare_block(bool large, uint32_t flags = GUF_LAUNCH_ANY_THREAD) {
  guf_launch_block block = {};
  block.items = 1;
  block.size[0] = 1;
  block.flags = flags;
  if (large) {
    block.flags |= GUF_LAUNCH_GENERALIZED;
    block.ncore = 1;
    block.size[1] = int64_t{1} << 30;  // estimated work, which the test loops ignore
  }
  return block;
}

guf_status put(void *stream, void (*loop)(void), void *user, bool large = true) {
  guf_error error = fresh_error();
  return launch_block(bare_block(large), loop, &error, stream, user);
}

guf_status fail_on(void *stream, bool large) {
  guf_error error = fresh_error();
  return launch_block(bare_block(large, GUF_LAUNCH_ANY_THREAD | GUF_LAUNCH_STATUS),
                      as_entry(failing_loop), &error, stream, nullptr, 0, "Negative.");
}

TEST(Stream, RunsWorkInOrder) {
  StreamHandle s;
  Trace trace;
  std::vector<Step> steps;
  for (int i = 0; i < 1000; ++i) steps.push_back({&trace, i});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(put(s.stream, as_entry(Step::loop), &steps[static_cast<size_t>(i)], i % 3 == 0),
              GUF_OK);
  }
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(trace.seen, expected);
}

TEST(Stream, SmallWorkOnAnIdleStreamRunsOnTheCaller) {
  StreamHandle s;
  Trace trace;
  Step step{&trace, 1};
  guf_error error = fresh_error();
  // As long as the measured cost of the loop is not low, the stream queues the loop.
  for (int round = 0; round < 100 && trace.thread != std::this_thread::get_id(); ++round) {
    ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step, false), GUF_OK);
    ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
    if (round == 0) {
      EXPECT_NE(trace.thread, std::this_thread::get_id());
    }
  }
  EXPECT_EQ(trace.thread, std::this_thread::get_id());
  ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step, true), GUF_OK);
  ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  EXPECT_NE(trace.thread, std::this_thread::get_id());
}

TEST(Stream, AnswersWhileItWorks) {
  StreamHandle s;
  Gate gate;
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().stream_query(s.stream, &error), GUF_OK);
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  EXPECT_EQ(cpu().stream_query(s.stream, &error), GUF_NOT_READY);
  EXPECT_EQ(cpu().stream_synchronize(s.stream, 1000000, &error), GUF_TIMEOUT);
  EXPECT_EQ(cpu().stream_synchronize(s.stream, 0, &error), GUF_TIMEOUT);
  gate.open = true;
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  EXPECT_EQ(cpu().stream_query(s.stream, &error), GUF_OK);
}

class StreamFailure : public testing::TestWithParam<bool> {};

TEST_P(StreamFailure, IsReportedOnceAndLaterWorkRuns) {
  StreamHandle s;
  EventHandle before, after;
  Trace trace;
  Step step{&trace, 7};
  guf_error error = fresh_error();
  ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step, GetParam()), GUF_OK);
  ASSERT_EQ(cpu().event_record(before.event, s.stream, &error), GUF_OK);
  ASSERT_EQ(fail_on(s.stream, GetParam()), GUF_OK);  // the call succeeds, and the work fails later
  ASSERT_EQ(fail_on(s.stream, GetParam()), GUF_OK);
  ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step, GetParam()), GUF_OK);
  ASSERT_EQ(cpu().event_record(after.event, s.stream, &error), GUF_OK);
  EXPECT_EQ(cpu().event_synchronize(before.event, kForever, &error), GUF_OK);
  EXPECT_EQ(cpu().event_synchronize(after.event, kForever, &error), GUF_E_VALUE);
  EXPECT_EQ(cpu().event_query(after.event, &error), GUF_E_VALUE);
  error = fresh_error();
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_E_VALUE);
  EXPECT_STREQ(error.message, "Negative.; launch 2 of the stream");
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  EXPECT_EQ(trace.seen, (std::vector<int>{7, 7}));
}
INSTANTIATE_TEST_SUITE_P(InlineAndQueued, StreamFailure, testing::Bool());

TEST(Event, OrdersTwoStreams) {
  StreamHandle first, second;
  EventHandle event;
  Gate gate;
  Trace trace;
  Step one{&trace, 1}, two{&trace, 2};
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().event_query(event.event, &error), GUF_OK) << "never recorded is complete";
  ASSERT_EQ(put(first.stream, as_entry(Gate::loop), &gate), GUF_OK);
  ASSERT_EQ(put(first.stream, as_entry(Step::loop), &one, false), GUF_OK);
  ASSERT_EQ(cpu().event_record(event.event, first.stream, &error), GUF_OK);
  EXPECT_EQ(cpu().event_query(event.event, &error), GUF_NOT_READY);
  EXPECT_EQ(cpu().event_synchronize(event.event, 1000000, &error), GUF_TIMEOUT);
  ASSERT_EQ(cpu().stream_wait_event(second.stream, event.event, &error), GUF_OK);
  ASSERT_EQ(put(second.stream, as_entry(Step::loop), &two, false), GUF_OK);
  gate.open = true;
  ASSERT_EQ(cpu().stream_synchronize(second.stream, kForever, &error), GUF_OK);
  EXPECT_EQ(trace.seen, (std::vector<int>{1, 2}));
  EXPECT_EQ(cpu().event_query(event.event, &error), GUF_OK);
}

// After a thread has waited for the last event of a stream, the stream must be idle. After a thread
// has waited for the stream, the events of the stream must be complete.
TEST(Event, IsCompleteWhenItsStreamIsIdle) {
  StreamHandle s;
  EventHandle event;
  guf_error error = fresh_error();
  uint64_t space[4] = {};
  const auto place = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(space));
  Trace trace;
  Step step{&trace, 1};
  for (int round = 0; round < 20000; ++round) {
    // In some rounds the stream's thread completes the event, and in other rounds the caller does.
    if (round % 4 != 0) {
      ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step), GUF_OK);
    }
    ASSERT_EQ(cpu().fill(cpu_device(), s.stream, place, space, 8, 4, &error), GUF_OK);
    ASSERT_EQ(cpu().event_record(event.event, s.stream, &error), GUF_OK);
    if (round % 2 == 0) {
      ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
    } else {
      ASSERT_EQ(cpu().event_synchronize(event.event, kForever, &error), GUF_OK);
    }
    ASSERT_EQ(cpu().stream_query(s.stream, &error), GUF_OK) << round;
    ASSERT_EQ(cpu().event_query(event.event, &error), GUF_OK) << round;
  }
}

// Like the previous test, for an event that the recording thread completes itself while another
// thread waits.
TEST(Event, IsCompleteWhenItsStreamIsIdleForAnotherThread) {
  StreamHandle s;
  EventHandle event;
  std::atomic<int> recorded{0}, checked{0};
  std::atomic<bool> ends{false};
  std::thread recorder([&] {
    guf_error error = fresh_error();
    for (int round = 1; !ends; ++round) {
      if (cpu().event_record(event.event, s.stream, &error) != GUF_OK) break;
      recorded = round;
      while (checked < round && !ends) std::this_thread::yield();
    }
  });
  guf_error error = fresh_error();
  int seen = 0, busy = 0;
  for (int round = 1; round <= 20000; ++round) {
    // An event that is not complete shows that the recording of this round has begun.
    bool begun = false;
    while (!begun && recorded < round) {
      begun = cpu().event_query(event.event, &error) == GUF_NOT_READY;
    }
    if (begun) {
      ++seen;
      EXPECT_EQ(cpu().event_synchronize(event.event, kForever, &error), GUF_OK);
      if (cpu().stream_query(s.stream, &error) != GUF_OK) ++busy;
    }
    while (recorded < round) std::this_thread::yield();
    checked = round;
  }
  ends = true;
  recorder.join();
  RecordProperty("seen", seen);
  EXPECT_EQ(busy, 0) << "of " << seen;
}

TEST(Event, MayBeClosedWhileQueued) {
  StreamHandle s;
  Gate gate;
  guf_error error = fresh_error();
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  {
    EventHandle event;
    ASSERT_EQ(cpu().event_record(event.event, s.stream, &error), GUF_OK);
  }
  gate.open = true;
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
}

TEST(Stream, CloseDoesNotWaitAndPendingWorkCompletes) {
  Gate gate;
  Trace trace;
  Step step{&trace, 3};
  EventHandle event;
  guf_error error = fresh_error();
  {
    StreamHandle s;
    ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
    ASSERT_EQ(put(s.stream, as_entry(Step::loop), &step, false), GUF_OK);
    ASSERT_EQ(cpu().event_record(event.event, s.stream, &error), GUF_OK);
  }
  gate.open = true;
  ASSERT_EQ(cpu().event_synchronize(event.event, kForever, &error), GUF_OK);
  EXPECT_EQ(trace.seen, std::vector<int>{3});
}

TEST(Stream, CodeBoundToItsThreadRunsOnTheCallerAfterPendingWork) {
  StreamHandle s;
  Gate gate;
  Trace trace;
  Step step{&trace, 4};
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  std::thread opener([&] {
    while (!gate.entered) std::this_thread::yield();
    gate.open = true;
  });
  guf_error error = fresh_error();
  ASSERT_EQ(launch_block(bare_block(true, 0), as_entry(Step::loop), &error, s.stream, &step),
            GUF_OK);
  EXPECT_EQ(trace.thread, std::this_thread::get_id());
  opener.join();
}

TEST(Stream, ManyThreadsMayUseOne) {
  StreamHandle s;
  std::atomic<int> wrong{0};
  struct Counter {
    int64_t value = 0;  // accessed by the thread of the stream only
    static void loop(char **, const int64_t *, const int64_t *, void *user) {
      ++static_cast<Counter *>(user)->value;
    }
  } counter;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        if (put(s.stream, as_entry(Counter::loop), &counter, (i + t) % 7 == 0) != GUF_OK) ++wrong;
        guf_error error = fresh_error();
        if (i % 50 == 0 && cpu().stream_synchronize(s.stream, kForever, &error) != GUF_OK) ++wrong;
      }
    });
  }
  for (auto &thread : threads) thread.join();
  guf_error error = fresh_error();
  ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  EXPECT_EQ(counter.value, 2000);
  EXPECT_EQ(wrong.load(), 0);
}

// Each thread waits until the stream is free, and then runs its loop itself. Whenever a loop ends,
// the stream must wake every waiting thread, even if only one of the threads can then run its loop.
// A thread that is not woken would wait forever after all other threads have finished.
TEST(Stream, ManyThreadsRunCodeThatIsBoundToThem) {
  StreamHandle s;
  struct Counter {
    int64_t value = 0;
    static void loop(char **, const int64_t *, const int64_t *, void *user) {
      ++static_cast<Counter *>(user)->value;
      // Gives the other threads time to start waiting.
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  } counter;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        guf_error error = fresh_error();
        const guf_status status = launch_block(bare_block(i % 2 == 0, 0), as_entry(Counter::loop),
                                               &error, s.stream, &counter);
        if (status != GUF_OK) ++wrong;
      }
    });
  }
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(counter.value, 2000);
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Stream, MemoryIsFreedInOrder) {
  StreamHandle s;
  guf_error error = fresh_error();
  Gate gate;
  for (const uint64_t size : {uint64_t{0}, uint64_t{100}, uint64_t{5} << 20}) {
    uint64_t address = 0;
    ASSERT_EQ(cpu().memory_alloc(cpu_device(), size, GUF_MEMORY_DEVICE, s.stream, &address, &error),
              GUF_OK);
    EXPECT_EQ(address % 64, 0u);
    gate.open = false;
    ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
    const float value = 3;
    ASSERT_EQ(cpu().fill(cpu_device(), s.stream, address, &value, 4, size / 4, &error), GUF_OK);
    ASSERT_EQ(cpu().memory_free(cpu_device(), address, size, GUF_MEMORY_DEVICE, s.stream, &error),
              GUF_OK);
    gate.open = true;
    ASSERT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
  }
}

TEST(Stream, NoMemoryToQueueIsReported) {
  StreamHandle s;
  Gate gate;
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  while (!gate.entered) std::this_thread::yield();
  test_host().alloc_fails = true;
  EXPECT_EQ(put(s.stream, as_entry(Gate::loop), &gate, false), GUF_E_NO_MEMORY);
  test_host().alloc_fails = false;
  gate.open = true;
  guf_error error = fresh_error();
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
}

TEST(Shutdown, WaitsForStreamsAndLeavesTheTableUsable) {
  StreamHandle s;
  Gate gate;
  guf_error error = fresh_error();
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  EXPECT_EQ(cpu().shutdown(1000000, &error), GUF_TIMEOUT);
  gate.open = true;
  EXPECT_EQ(cpu().shutdown(kForever, &error), GUF_OK);
  EXPECT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
}

#if !defined(__SANITIZE_THREAD__)
TEST(Fork, StreamsOfTheParentAreRefusedInTheChild) {
  StreamHandle s;
  EventHandle event;
  Gate gate;
  guf_error error = fresh_error();
  ASSERT_EQ(put(s.stream, as_entry(Gate::loop), &gate), GUF_OK);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    wrong += cpu().stream_query(s.stream, &error) != GUF_E_FORKED;
    wrong += cpu().stream_synchronize(s.stream, kForever, &error) != GUF_E_FORKED;
    wrong += put(s.stream, as_entry(Gate::loop), &gate) != GUF_E_FORKED;
    wrong += cpu().event_query(event.event, &error) != GUF_E_FORKED;
    cpu().stream_close(s.stream);
    void *fresh = nullptr;
    wrong += cpu().stream_open(cpu_device(), 0, 0, &fresh, &error) != GUF_OK;
    gate.open = true;
    wrong += put(fresh, as_entry(Gate::loop), &gate) != GUF_OK;
    wrong += cpu().stream_synchronize(fresh, kForever, &error) != GUF_OK;
    // The parent's stream thread, which is still inside its loop, does not exist in this process.
    wrong += cpu().shutdown(uint64_t{20} * 1000 * 1000 * 1000, &error) != GUF_OK;
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  gate.open = true;
  EXPECT_EQ(cpu().stream_synchronize(s.stream, kForever, &error), GUF_OK);
}
#endif

}  // namespace
}  // namespace gufunc::cpu
