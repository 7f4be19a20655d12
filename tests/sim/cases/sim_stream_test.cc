// SPDX-License-Identifier: Apache-2.0
// Tests the order of work: within a stream, between streams through events, and relative to the
// legacy stream. Also tests that the adversarial order exposes a missing event for some seeds, and
// that the lazy order runs operations only when a wait or query requires them.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

class SimStream : public SimTest {
 protected:
  // Prepares two streams and a word of device memory.
  void prepare(const char *order, const std::string &seed = "1") {
    driver_.set("SEED", seed);
    restart("ORDER", order);
    for (void *&stream : streams_) SIM_OK(driver_.stream(&stream, false));
    SIM_OK(driver_.alloc(&word_, 4));
  }

  uint32_t word(void *stream) {
    uint32_t value = 0;
    EXPECT_EQ(driver_.to_host(&value, word_, 4, stream), 0);
    EXPECT_EQ(driver_.stream_sync(stream), 0);
    return value;
  }

  void *streams_[2] = {};
  uint64_t word_ = 0;
};

constexpr const char *kOrders[] = {"eager", "lazy", "adversarial"};

TEST_P(SimStream, EventsOrderStreams) {
  for (const char *order : kOrders) {
    prepare(order);
    void *event = nullptr;
    SIM_OK(driver_.event(&event, false));
    for (uint32_t round = 1; round < 30; ++round) {
      SIM_OK(driver_.fill32(word_, round, 1, streams_[0]));
      SIM_OK(driver_.event_record(event, streams_[0]));
      SIM_OK(driver_.stream_wait(streams_[1], event));
      ASSERT_EQ(word(streams_[1]), round) << order;
      SIM_OK(driver_.event_record(event, streams_[1]));
      SIM_OK(driver_.stream_wait(streams_[0], event));
    }
  }
}

// No event orders the two streams, so some seeds must produce a wrong result, but not all seeds.
TEST_P(SimStream, TheAdversaryFindsAMissingEvent) {
  int wrong = 0;
  for (int seed = 0; seed < 20; ++seed) {
    prepare("adversarial", std::to_string(seed));
    SIM_OK(driver_.fill32(word_, 1, 1, streams_[0]));
    SIM_OK(driver_.stream_sync(streams_[0]));
    SIM_OK(driver_.fill32(word_, 2, 1, streams_[0]));
    wrong += word(streams_[1]) != 2;
  }
  EXPECT_GE(wrong, 4);
  EXPECT_LE(wrong, 19);
}

TEST_P(SimStream, NothingRunsBeforeAWait) {
  prepare("lazy");
  std::atomic<int> called = 0;
  const auto count = [](void *data) { ++*static_cast<std::atomic<int> *>(data); };
  void *event = nullptr;
  SIM_OK(driver_.event(&event, false));
  SIM_OK(driver_.host_call(streams_[0], count, &called));
  SIM_OK(driver_.event_record(event, streams_[0]));
  SIM_OK(driver_.host_call(streams_[0], count, &called));
  SIM_OK(driver_.host_call(streams_[1], count, &called));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(called, 0);
  SIM_OK(driver_.event_sync(event));
  EXPECT_EQ(called, 1) << "only what was needed";
  // The number of queries is not fixed, because a query does not wait for a running host function.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (driver_.stream_query(streams_[1]) == 600) ASSERT_LT(std::chrono::steady_clock::now(), end);
  EXPECT_EQ(called, 2) << "a query also runs operations";
  SIM_OK(driver_.device_sync());
  EXPECT_EQ(called, 3);
}

TEST_P(SimStream, TheLegacyStreamWaitsForAndHoldsBlockingOnes) {
  for (const char *order : kOrders) {
    driver_.set("DELAY_US", "300");
    prepare(order);
    void *blocking = nullptr;
    SIM_OK(driver_.stream(&blocking, true));
    for (uint32_t round = 1; round < 10; ++round) {
      SIM_OK(driver_.fill32(word_, round, 1, blocking));
      ASSERT_EQ(word(nullptr), round) << order;
      SIM_OK(driver_.fill32(word_, 100 + round, 1, nullptr));
      ASSERT_EQ(word(blocking), 100 + round) << order;
    }
  }
}

TEST_P(SimStream, QueriesAndTimes) {
  prepare("lazy");
  void *start = nullptr, *stop = nullptr, *plain = nullptr;
  SIM_OK(driver_.event(&start, true));
  SIM_OK(driver_.event(&stop, true));
  SIM_OK(driver_.event(&plain, false));
  float milliseconds = -1;
  EXPECT_EQ(driver_.event_query(start), 0) << "never recorded: done";
  EXPECT_EQ(driver_.event_elapsed(&milliseconds, start, stop), 400);
  SIM_OK(driver_.event_record(start, streams_[0]));
  SIM_OK(driver_.host_call(
      streams_[0], [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); },
      nullptr));
  SIM_OK(driver_.event_record(stop, streams_[0]));
  SIM_OK(driver_.event_record(plain, streams_[0]));
  EXPECT_EQ(driver_.event_elapsed(&milliseconds, start, stop), 600);
  EXPECT_EQ(driver_.event_query(plain), 600);
  SIM_OK(driver_.event_sync(stop));
  SIM_OK(driver_.event_elapsed(&milliseconds, start, stop));
  EXPECT_GE(milliseconds, 2.9f);
  EXPECT_LT(milliseconds, 3000.0f);
  SIM_OK(driver_.stream_sync(streams_[0]));
  EXPECT_EQ(driver_.event_elapsed(&milliseconds, start, plain), 400) << "no timing";
}

TEST_P(SimStream, DeadHandlesAreReported) {
  prepare("eager");
  void *event = nullptr;
  SIM_OK(driver_.event(&event, false));
  SIM_OK(driver_.event_destroy(event));
  EXPECT_EQ(driver_.event_destroy(event), 400);
  EXPECT_EQ(driver_.event_record(event, streams_[0]), 400);
  SIM_OK(driver_.stream_destroy(streams_[0]));
  EXPECT_EQ(driver_.stream_sync(streams_[0]), 709);
  EXPECT_EQ(driver_.stream_destroy(streams_[0]), 709);
  EXPECT_EQ(driver_.fill32(word_, 1, 1, streams_[0]), 709);
  EXPECT_EQ(driver_.live("stream"), 1u);
}

TEST_P(SimStream, WorkOfADestroyedStreamStillRuns) {
  for (const char *order : kOrders) {
    prepare(order);
    void *event = nullptr;
    SIM_OK(driver_.event(&event, false));
    SIM_OK(driver_.fill32(word_, 5, 1, streams_[0]));
    SIM_OK(driver_.event_record(event, streams_[0]));
    SIM_OK(driver_.stream_destroy(streams_[0]));
    SIM_OK(driver_.stream_wait(streams_[1], event));
    EXPECT_EQ(word(streams_[1]), 5u) << order;
  }
}

TEST_P(SimStream, HostFunctionsMayNotCallTheDriver) {
  for (const char *order : kOrders) {
    prepare(order);
    int code = 0;
    struct HostCall {
      DriverInterface *driver_interface;
      int *code;
    } call = {&driver_, &code};
    SIM_OK(driver_.host_call(
        streams_[0],
        [](void *data) {
          const HostCall &one = *static_cast<HostCall *>(data);
          *one.code = one.driver_interface->stream_sync(nullptr);
        },
        &call));
    SIM_OK(driver_.stream_sync(streams_[0]));
    EXPECT_EQ(code, 800) << order;
    EXPECT_EQ(driver_.violations(), 1u);
    driver_.clear_violations();
  }
}

// A failure of queued work is reported to the call that waits for the work, and it is sticky.
TEST_P(SimStream, LateFailuresStick) {
  for (const char *order : kOrders) {
    prepare(order);
    driver_.fault("exec_fill:2:700");
    SIM_OK(driver_.fill32(word_, 1, 1, streams_[0]));
    SIM_OK(driver_.stream_sync(streams_[0]));
    SIM_OK(driver_.fill32(word_, 2, 1, streams_[0]));
    EXPECT_EQ(driver_.stream_sync(streams_[0]), 700) << order;
    EXPECT_EQ(driver_.fill32(word_, 3, 1, streams_[1]), 700);
    EXPECT_EQ(driver_.device_sync(), 700);
    EXPECT_EQ(driver_.free(word_), 700) << "freed nevertheless";
    EXPECT_EQ(driver_.live("allocation"), 0u);
  }
}

TEST_P(SimStream, ManyThreadsAtOnce) {
  driver_.set("DELAY_US", "20");
  prepare("eager");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      ASSERT_EQ(driver_.start(), 0);
      void *stream = nullptr, *event = nullptr;
      uint64_t memory = 0;
      SIM_OK(driver_.stream(&stream, false));
      SIM_OK(driver_.event(&event, true));
      SIM_OK(driver_.alloc(&memory, 400));
      for (uint32_t round = 0; round < 50; ++round) {
        uint32_t values[100] = {};
        SIM_OK(driver_.fill32(memory, round, 100, stream));
        SIM_OK(driver_.to_host(values, memory, 400, stream));
        SIM_OK(driver_.event_record(event, stream));
        SIM_OK(driver_.event_sync(event));
        ASSERT_EQ(values[99], round);
      }
      SIM_OK(driver_.free(memory));
      SIM_OK(driver_.event_destroy(event));
      SIM_OK(driver_.stream_destroy(stream));
    });
  }
  for (std::thread &thread : threads) thread.join();
}

SIM_BOTH(SimStream);

}  // namespace
}  // namespace sim_test
