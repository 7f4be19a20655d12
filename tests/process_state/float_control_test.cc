// SPDX-License-Identifier: Apache-2.0
// Tests that a caller's floating-point control word does not change results on any thread, and that
// every call restores the control word. The order of the tests matters, because the first test
// starts the thread pool.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "float_work.h"

namespace {

// Records which threads run a loop, and whether one of them has a changed control word.
struct Seen {
  std::mutex lock;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  size_t meet = 1;  // number of threads that must run the loop at the same time
  bool hostile = false;
  std::chrono::milliseconds pause{0};

  void enter() {
    std::this_thread::sleep_for(pause);
    std::unique_lock hold(lock);
    threads.insert(std::this_thread::get_id());
    hostile |= !same_control(read_word(), kDefaultWord);
    arrived.notify_all();
    arrived.wait_for(hold, std::chrono::seconds(20), [&] { return threads.size() >= meet; });
  }
};

void copy(char **args, const int64_t *dims, const int64_t *steps) {
  for (int64_t i = 0; i < dims[0]; ++i) {
    std::memcpy(args[1] + i * steps[1], args[0] + i * steps[0], 4);
  }
}

void observed_copy(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  static_cast<Seen *>(user)->enter();
  copy(args, dims, steps);
}

// Pool threads inherit the control word of the thread that starts them.
TEST(FloatControl, APoolThatAHostileCallerStarted) {
  static Seen seen;
  seen.meet = 3;
  const guf_ufunc observed = make_ufunc("observed", observed_copy, &seen);
  Error error;
  const std::vector<float> in = small_numbers(kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  const auto run = [&] { return call(observed, {from.get()}, to.get(), &error, {.threads = 3}); };
  current = kHostileWords[2];
  EXPECT_EQ(under_word(run), GUF_OK) << error.message;
  current = kDefaultWord;
  EXPECT_EQ(under_word(run), GUF_OK) << error.message;
  EXPECT_EQ(seen.threads.size(), 3U);
  EXPECT_FALSE(seen.hostile);
}

TEST(FloatControl, NoWordOfTheCallerChangesABit) {
  for (const Work &work : all_work()) {
    SCOPED_TRACE(work.name);
    current = kDefaultWord;
    const std::string expected = work.run();
    for (const FloatWord &word : kHostileWords) {
      current = word;
      EXPECT_TRUE(work.run() == expected) << word.name;
    }
    current = kDefaultWord;
  }
}

// Flags that arithmetic raises on the caller's thread remain set, together with earlier flags.
TEST(FloatControl, FlagsAreRaisedAsUnderTheDefault) {
  Error error;
  const std::vector<double> zero = {0.0}, one = {1.0};
  std::vector<double> out(1);
  const Vector a(one), b(zero), to(out);
  const guf_ufunc divide = find_ufunc("divide");
  constexpr uint32_t kDivideByZero = 4, kInexact = 32;
  for (const uint32_t control : {0x1F80U, 0x9FC0U, 0x5F80U}) {
    set_word({"", control | kInexact, 0x37F});
    ASSERT_EQ(call(divide, {a.get(), b.get()}, to.get(), &error), GUF_OK);
    const FloatWord after = read_word();
    set_word(kDefaultWord);
    EXPECT_EQ(after.mxcsr & ~kMxcsrFlags, control);
    EXPECT_EQ(after.mxcsr & (kDivideByZero | kInexact), kDivideByZero | kInexact);
  }
}

// A host loop that copies its input and changes the control word of its thread, as a program's loop
// may do. The call must restore the control word of that thread and of the caller's thread.
void leave_flush_to_zero(char **args, const int64_t *dims, const int64_t *steps, void *user) {
  static_cast<Seen *>(user)->enter();
  copy(args, dims, steps);
  set_word(kHostileWords[2]);
}

TEST(FloatControl, ALoopThatLeavesAnotherControl) {
  static Seen seen;
  const guf_ufunc leaving = make_ufunc("leaving", leave_flush_to_zero, &seen);
  Error error;
  const std::vector<float> in = small_numbers(kMany);
  std::vector<float> out(kMany);
  const Vector from(in), to(out);
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(call(leaving, {from.get()}, to.get(), &error, {.threads = 3}), GUF_OK);
    EXPECT_TRUE(same_control(read_word(), kDefaultWord));
    set_word(kDefaultWord);
  }
  EXPECT_FALSE(seen.hostile);
  const std::vector<float> one = small_numbers(1);
  std::vector<float> result(1);
  const Vector single(one), single_out(result);
  ASSERT_EQ(call(leaving, {single.get()}, single_out.get(), &error), GUF_OK);
  EXPECT_TRUE(same_control(read_word(), kDefaultWord));
  set_word(kDefaultWord);
}

// A slow loop over one element runs on the stream's thread, without the pool.
TEST(FloatControl, ALoopThatLeavesAnotherControlOnAStream) {
  static Seen seen;
  seen.pause = std::chrono::milliseconds(1);
  const guf_ufunc leaving = make_ufunc("leaving_slowly", leave_flush_to_zero, &seen);
  Error error;
  guf_device cpu = nullptr;
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error), GUF_OK) << error.message;
  ASSERT_EQ(guf_stream_create(cpu, 0, &stream, &error), GUF_OK) << error.message;
  const std::vector<float> in = small_numbers(1);
  std::vector<float> out(1);
  const Vector from(in), to(out);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(call(leaving, {from.get()}, to.get(), &error, {.stream = stream}), GUF_OK);
    EXPECT_TRUE(same_control(read_word(), kDefaultWord));
  }
  ASSERT_EQ(guf_stream_synchronize(stream, UINT64_MAX, &error), GUF_OK) << error.message;
  EXPECT_EQ(seen.threads.count(std::this_thread::get_id()), 0U);
  EXPECT_FALSE(seen.hostile);
  guf_stream_release(stream, nullptr);
  guf_device_release(cpu, nullptr);
}

}  // namespace
