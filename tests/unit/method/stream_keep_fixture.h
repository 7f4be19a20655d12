// SPDX-License-Identifier: Apache-2.0
// Provides a fixture that blocks a stream, queues work, and releases every resource. Queued work
// must keep its resources alive until it has run. Wrapped memory reports its release.
#ifndef GUFUNC_TESTS_UNIT_METHOD_STREAM_KEEP_FIXTURE_H
#define GUFUNC_TESTS_UNIT_METHOD_STREAM_KEEP_FIXTURE_H

#include <atomic>
#include <deque>
#include <numeric>
#include <thread>

#include "tests/unit/method/state_fixture.h"

namespace gufunc {

inline std::atomic<bool> gate_is_open{false};
inline std::atomic<int> released{0};

inline void wait_for_gate() {
  while (!gate_is_open) std::this_thread::yield();
}
inline void wait_loop(char **, const int64_t *, const int64_t *, void *) {
  wait_for_gate();
}
// Several polls are needed: the first poll frees objects and queues callbacks, and later polls run
// the callbacks.
inline void drain() {
  for (int i = 0; i < 3; ++i) guf_poll(0, nullptr, nullptr);
}
// Overwrites stack memory that earlier calls of this thread used.
[[gnu::noinline]] inline void scribble() {
  volatile char buffer[64 * 1024];
  for (volatile char &byte : buffer) byte = 0x55;
}
inline void count_release(void *, uint64_t) {
  ++released;
}
inline void count_destroy(void *) {
  ++released;
}

// Computes a + b after the gate opens. Methods that read their indices before they return wait for
// earlier work of the stream, so tests of these methods block this loop instead of the stream.
inline void add_behind_gate(char **args, const int64_t *dims, const int64_t *steps, void *) {
  wait_for_gate();
  for (int64_t i = 0; i < dims[0]; ++i) {
    const auto at = [&](int k) { return args[k] + i * steps[k]; };
    store_value(at(2), load_value<int64_t>(at(0)) + load_value<int64_t>(at(1)));
  }
}
inline guf_ufunc gated_add() {
  static const guf_ufunc made =
      make_part("gated_add", nullptr, 2, 1, 0, {GUF_I64, GUF_I64, GUF_I64}, add_behind_gate);
  return made;
}

class StreamKeep : public testing::Test {
 protected:
  static constexpr int64_t kMany = 1 << 17;  // too many items to run on the caller's thread

  void SetUp() override {
    guf_device cpu = nullptr;
    ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, nullptr), GUF_OK);
    ASSERT_EQ(guf_stream_create(cpu, 0, &stream_, nullptr), GUF_OK);
    gate_is_open = false;
    guf_poll(0, nullptr, nullptr);
    released = 0;
  }
  void TearDown() override {
    gate_is_open = true;
    EXPECT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, nullptr), GUF_OK);
    EXPECT_EQ(guf_stream_release(stream_, nullptr), GUF_OK);
  }

  // Blocks the stream. Work that is queued later waits until the gate opens.
  void block() {
    static const guf_ufunc waiting =
        make_part("wait_for_gate", nullptr, 1, 1, 0, {GUF_BOOL, GUF_BOOL}, wait_loop);
    static uint8_t input = 0;
    static std::vector<uint8_t> output(kMany);
    Call call(waiting);
    call.in({GUF_BOOL, &input, {kMany}, {0}, 0}).out(view(GUF_BOOL, output));
    call.args.options.stream = stream_;
    ASSERT_EQ(call.run(), GUF_OK) << call.error.message;
  }

  template <class T>
  std::vector<T> &counting(std::deque<std::vector<T>> *buffer, int64_t n) {
    std::vector<T> &made = buffer->emplace_back(static_cast<size_t>(n));
    std::iota(made.begin(), made.end(), T{0});
    return made;
  }
  std::vector<double> &doubles(int64_t n) { return counting(&doubles_, n); }
  std::vector<int64_t> &integers(int64_t n) { return counting(&integers_, n); }
  std::vector<uint8_t> &bits(int64_t n, uint8_t period) {
    std::vector<uint8_t> &made = counting(&bits_, n);
    for (uint8_t &bit : made) bit = bit % period == 0;
    return made;
  }

  // Makes an array operand that wraps memory of the test.
  guf_operand *wrapped(const View &view) {
    guf_array array = nullptr;
    EXPECT_EQ(
        guf_array_wrap(kept_.tensor(view)->tensor, count_release, nullptr, 0, &array, nullptr),
        GUF_OK);
    return &operands_.emplace_back(operand_of(array));
  }

  // Releases all wrapped arrays, and checks that they exist until the queued work is complete.
  void run_released() {
    for (const guf_operand &operand : operands_) guf_array_release(operand.array, nullptr);
    run_dropped(static_cast<int>(operands_.size()));
  }
  // Checks that `count` objects, which the caller has released, exist until the queued work is
  // complete.
  void run_dropped(int count) {
    drain();
    scribble();
    EXPECT_EQ(released, 0);
    gate_is_open = true;
    ASSERT_EQ(guf_stream_synchronize(stream_, UINT64_MAX, nullptr), GUF_OK);
    drain();
    EXPECT_EQ(released, count);
  }

  guf_stream stream_ = nullptr;

 private:
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<int64_t>> integers_;
  std::deque<std::vector<uint8_t>> bits_;
  std::deque<guf_operand> operands_;
  Operands kept_;
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_STREAM_KEEP_FIXTURE_H
