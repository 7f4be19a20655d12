// SPDX-License-Identifier: Apache-2.0
// Tests stream capture, calls that invalidate a capture, and graphs.
#include <thread>

#include "tests/sim/cases/sim_functions.h"

namespace sim_test {
namespace {

enum : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };
enum : int { kNone = 0, kActive = 1, kInvalidated = 2 };

class SimCapture : public SimTest {
 protected:
  SimCapture() {
    for (void *&stream : streams_) EXPECT_EQ(driver_.stream(&stream, false), 0);
    EXPECT_EQ(driver_.event(&event_, false), 0);
    EXPECT_EQ(driver_.alloc(&word_, 8), 0);
  }

  int status(void *stream) {
    int value = -1;
    EXPECT_EQ(driver_.capture_status(stream, &value), 0);
    return value;
  }

  uint32_t word() {
    uint32_t value = 0;
    EXPECT_EQ(driver_.to_host(&value, word_, 4, streams_[0]), 0);
    EXPECT_EQ(driver_.stream_sync(streams_[0]), 0);
    return value;
  }

  void *streams_[2] = {};
  void *event_ = nullptr;
  uint64_t word_ = 0;
};

TEST_P(SimCapture, NothingRunsAndAGraphComesOut) {
  SIM_OK(driver_.fill32(word_, 1, 1, streams_[0]));
  SIM_OK(driver_.stream_sync(streams_[0]));
  EXPECT_EQ(status(streams_[0]), kNone);
  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  EXPECT_EQ(status(streams_[0]), kActive);
  SIM_OK(driver_.fill32(word_, 2, 1, streams_[0]));
  void *graph = nullptr, *exec = nullptr;
  SIM_OK(driver_.capture_end(streams_[0], &graph));
  EXPECT_EQ(word(), 1u);
  SIM_OK(driver_.graph_instantiate(&exec, graph));
  SIM_OK(driver_.graph_destroy(graph));
  for (int i = 0; i < 3; ++i) {
    SIM_OK(driver_.fill32(word_, 1, 1, streams_[0]));
    SIM_OK(driver_.graph_launch(exec, streams_[0]));
    EXPECT_EQ(word(), 2u);
  }
  SIM_OK(driver_.graph_exec_destroy(exec));
  EXPECT_EQ(driver_.live("graph") + driver_.live("graph_exec"), 0u);
  EXPECT_EQ(driver_.graph_exec_destroy(exec), 1);
}

TEST_P(SimCapture, EventsDrawOtherStreamsIn) {
  SIM_OK(driver_.capture_begin(streams_[0], kThreadLocal));
  SIM_OK(driver_.fill32(word_, 1, 1, streams_[0]));
  SIM_OK(driver_.event_record(event_, streams_[0]));
  SIM_OK(driver_.stream_wait(streams_[1], event_));
  EXPECT_EQ(status(streams_[1]), kActive);
  SIM_OK(driver_.fill32(word_ + 4, 2, 1, streams_[1]));
  EXPECT_EQ(driver_.event_sync(event_), 907) << "an event of a capture has no status";
  void *graph = nullptr, *joined = nullptr;
  SIM_OK(driver_.event(&joined, false));
  SIM_OK(driver_.event_record(joined, streams_[1]));
  SIM_OK(driver_.stream_wait(streams_[0], joined));
  SIM_OK(driver_.capture_end(streams_[0], &graph));
  EXPECT_EQ(status(streams_[1]), kNone);
}

TEST_P(SimCapture, ForgottenStreamsAreReported) {
  void *graph = nullptr;
  SIM_OK(driver_.capture_begin(streams_[0], kRelaxed));
  SIM_OK(driver_.event_record(event_, streams_[0]));
  SIM_OK(driver_.stream_wait(streams_[1], event_));
  SIM_OK(driver_.fill32(word_, 2, 1, streams_[1]));
  EXPECT_EQ(driver_.capture_end(streams_[1], &graph), 903);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);

  SIM_OK(driver_.capture_begin(streams_[0], kRelaxed));
  SIM_OK(driver_.event_record(event_, streams_[0]));
  SIM_OK(driver_.stream_wait(streams_[1], event_));
  SIM_OK(driver_.fill32(word_, 2, 1, streams_[1]));
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 904);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 1) << "no capture";
}

TEST_P(SimCapture, CallsThatWaitOrAllocateSpoilIt) {
  void *graph = nullptr;
  uint64_t memory = 0;
  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  EXPECT_EQ(driver_.stream_sync(streams_[0]), 900);
  EXPECT_EQ(status(streams_[0]), kInvalidated);
  EXPECT_EQ(driver_.fill32(word_, 2, 1, streams_[0]), 901);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);
  EXPECT_EQ(status(streams_[0]), kNone);

  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  EXPECT_EQ(driver_.alloc(&memory, 8), 900);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);

  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  EXPECT_EQ(driver_.device_sync(), 900);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);

  SIM_OK(driver_.capture_begin(streams_[0], kThreadLocal));
  EXPECT_EQ(driver_.event_query(event_), 900);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);
}

TEST_P(SimCapture, OtherThreadsSpoilGlobalCapturesOnly) {
  const auto elsewhere = [this](int mode) {
    int code = -1;
    std::thread([&] {
      uint64_t memory = 0;
      ASSERT_EQ(driver_.start(), 0);
      int own = mode;
      SIM_OK(driver_.capture_mode(&own));
      code = driver_.alloc(&memory, 8);
    }).join();
    return code;
  };
  void *graph = nullptr;
  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  EXPECT_EQ(elsewhere(kThreadLocal), 0);
  EXPECT_EQ(elsewhere(kRelaxed), 0);
  EXPECT_EQ(elsewhere(kGlobal), 900);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);
  SIM_OK(driver_.capture_begin(streams_[0], kThreadLocal));
  EXPECT_EQ(elsewhere(kGlobal), 0);
  SIM_OK(driver_.capture_end(streams_[0], &graph));
}

TEST_P(SimCapture, RelaxedThreadsMayAllocate) {
  int mode = kRelaxed;
  void *graph = nullptr;
  uint64_t memory = 0;
  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  SIM_OK(driver_.capture_mode(&mode));
  EXPECT_EQ(mode, kGlobal);
  SIM_OK(driver_.alloc(&memory, 8));
  SIM_OK(driver_.capture_mode(&mode));
  EXPECT_EQ(mode, kRelaxed);
  SIM_OK(driver_.capture_end(streams_[0], &graph));
}

TEST_P(SimCapture, TheThreadThatBeganEndsIt) {
  void *graph = nullptr;
  SIM_OK(driver_.capture_begin(streams_[0], kThreadLocal));
  int code = 0;
  std::thread([&] {
    ASSERT_EQ(driver_.start(), 0);
    code = driver_.capture_end(streams_[0], &graph);
  }).join();
  EXPECT_EQ(code, 908);
  SIM_OK(driver_.capture_end(streams_[0], &graph));
}

TEST_P(SimCapture, LegacyAndUncapturedWorkStayOut) {
  void *blocking = nullptr, *graph = nullptr;
  SIM_OK(driver_.stream(&blocking, true));
  EXPECT_EQ(driver_.capture_begin(nullptr, kGlobal), 900);
  SIM_OK(driver_.capture_begin(blocking, kRelaxed));
  EXPECT_EQ(driver_.fill32(word_, 1, 1, nullptr), 906);
  EXPECT_EQ(driver_.capture_end(blocking, &graph), 901);

  SIM_OK(driver_.event_record(event_, streams_[1]));
  SIM_OK(driver_.capture_begin(streams_[0], kRelaxed));
  EXPECT_EQ(driver_.stream_wait(streams_[0], event_), 905);
  EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 901);
}

TEST_P(SimCapture, GraphsTakeOtherArguments) {
  const auto capture = [this](uint32_t value, int fills) {
    void *graph = nullptr;
    EXPECT_EQ(driver_.capture_begin(streams_[0], kRelaxed), 0);
    for (int i = 0; i < fills; ++i) EXPECT_EQ(driver_.fill32(word_, value, 1, streams_[0]), 0);
    EXPECT_EQ(driver_.capture_end(streams_[0], &graph), 0);
    return graph;
  };
  void *exec = nullptr;
  SIM_OK(driver_.graph_instantiate(&exec, capture(3, 1)));
  int result = -1;
  SIM_OK(driver_.graph_update(exec, capture(4, 1), &result));
  EXPECT_EQ(result, 0);
  SIM_OK(driver_.graph_launch(exec, streams_[0]));
  EXPECT_EQ(word(), 4u);
  EXPECT_EQ(driver_.graph_update(exec, capture(5, 2), &result), 910);
  EXPECT_EQ(result, 2) << "another shape";
  SIM_OK(driver_.graph_launch(exec, streams_[0]));
  EXPECT_EQ(word(), 4u);
}

TEST_P(SimCapture, MemoryOfAGraphLivesWithIt) {
  uint64_t memory = 0;
  void *graph = nullptr, *exec = nullptr;
  SIM_OK(driver_.capture_begin(streams_[0], kGlobal));
  SIM_OK(driver_.alloc_async(&memory, 64, streams_[0]));
  SIM_OK(driver_.fill32(memory, 6, 16, streams_[0]));
  SIM_OK(driver_.on_device(word_, memory, 4, streams_[0]));
  SIM_OK(driver_.free_async(memory, streams_[0]));
  SIM_OK(driver_.capture_end(streams_[0], &graph));
  SIM_OK(driver_.graph_instantiate(&exec, graph));
  SIM_OK(driver_.graph_launch(exec, streams_[0]));
  EXPECT_EQ(word(), 6u);
  EXPECT_EQ(driver_.live("allocation"), 2u);
  SIM_OK(driver_.graph_destroy(graph));
  SIM_OK(driver_.graph_exec_destroy(exec));
  EXPECT_EQ(driver_.live("allocation"), 1u);
}

SIM_BOTH(SimCapture);

}  // namespace
}  // namespace sim_test
