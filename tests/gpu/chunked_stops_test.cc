// SPDX-License-Identifier: Apache-2.0
// Tests interrupted chunked calls. A call is cancelled after a chunk, fails at a copy or launch, or
// is rejected before the first chunk. The results of completed chunks remain, and a resumed call
// produces the same bytes as an uninterrupted call.
#include "tests/gpu/chunked_fixture.h"

namespace gufunc::gpu_test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kItems = 90;
constexpr int64_t kPerChunk = 10;

Values f8(std::vector<int64_t> shape, uint32_t seed) {
  return Values::of<double>(GUF_F64, std::move(shape), seed);
}

// An array that uses the elements of another operand, so that several operands can share memory.
class Wrapped {
 public:
  Wrapped(Values &values, uint64_t first, int64_t count) {
    const uint64_t address = reinterpret_cast<uint64_t>(values.bytes.data()) + 8 * first;
    const guf_tensor tensor = {sizeof tensor, GUF_F64, 1, 0, address, &count, nullptr, nullptr};
    EXPECT_EQ(guf_array_wrap(&tensor, nullptr, nullptr, 0, &array_, nullptr), GUF_OK);
  }
  Wrapped(const Wrapped &) = delete;
  Wrapped &operator=(const Wrapped &) = delete;
  ~Wrapped() { guf_array_release(array_, nullptr); }
  guf_array get() const { return array_; }

 private:
  guf_array array_ = nullptr;
};

class ChunkedStops : public ChunkedCalls {
 protected:
  void SetUp() override {
    ChunkedCalls::SetUp();
    options_.chunk_bytes = 8 * kPerChunk;
    case_ = {
        "discriminant", {f8({kItems}, 1), f8({kItems}, 2), f8({kItems}, 3)}, {f8({kItems}, 4)}};
    initial_ = case_.outputs[0].bytes;
    Case whole = case_;
    ASSERT_EQ(call(whole), GUF_OK) << error_.message;
    expected_ = whole.outputs[0].bytes;
  }

  // Expects that the first `done_` items are computed and all other items are unchanged.
  void expect_done_only() {
    const auto done = static_cast<size_t>(done_) * 8;
    const std::vector<unsigned char> &found = case_.outputs[0].bytes;
    ASSERT_LE(done, found.size());
    EXPECT_TRUE(
        std::equal(expected_.begin(), expected_.begin() + static_cast<long>(done), found.begin()));
    EXPECT_TRUE(std::equal(found.begin() + static_cast<long>(done), found.end(),
                           initial_.begin() + static_cast<long>(done)));
  }
  // Resumes the call at item `done_` and expects that it completes.
  void expect_resume() {
    options_.first_item = done_;
    ASSERT_EQ(call_chunked(case_), GUF_OK) << error_.message;
    EXPECT_EQ(case_.outputs[0].bytes, expected_);
    EXPECT_EQ(done_, kItems);
    options_.first_item = 0;
    case_.outputs[0].bytes = initial_;
  }

  Case case_;
  std::vector<unsigned char> initial_, expected_;
};

TEST_P(ChunkedStops, BehindEveryChunk) {
  for (stop_at_ = kPerChunk; stop_at_ <= kItems; stop_at_ += kPerChunk) {
    ASSERT_EQ(call_chunked(case_), GUF_E_CANCELLED);
    EXPECT_THAT(error_.message,
                HasSubstr("after outer item " + std::to_string(stop_at_) + " of 90"));
    EXPECT_EQ(done_, stop_at_);
    EXPECT_EQ(report_.size(), static_cast<size_t>(stop_at_ / kPerChunk));
    expect_done_only();
    const int64_t stopped = std::exchange(stop_at_, INT64_MAX);
    expect_resume();
    stop_at_ = stopped;
  }
}

TEST_P(ChunkedStops, ResumesWithOtherChunks) {
  stop_at_ = 30;
  ASSERT_EQ(call_chunked(case_), GUF_E_CANCELLED);
  stop_at_ = INT64_MAX;
  options_.chunk_bytes = 8 * 7;
  expect_resume();
  options_.first_item = kItems;  // no items remain
  ASSERT_EQ(call_chunked(case_), GUF_OK) << error_.message;
  EXPECT_TRUE(report_.empty());
  EXPECT_EQ(done_, kItems);
  EXPECT_EQ(case_.outputs[0].bytes, initial_);
}

// An outer item that is split into several chunks counts as done after its last chunk.
TEST_P(ChunkedStops, InTheMiddleOfAnItem) {
  Case given = {"negative", {f8({3, 20}, 1)}, {f8({3, 20}, 2)}};
  Case whole = given;
  ASSERT_EQ(call(whole), GUF_OK) << error_.message;
  int calls = 0;
  for (int stop = 1; stop <= 6; ++stop) {
    Case stopped = given;
    calls = 0;
    stop_at_ = INT64_MAX;
    at_progress_ = [&] { stop_at_ = ++calls == stop ? 0 : INT64_MAX; };
    ASSERT_EQ(call_chunked(stopped), GUF_E_CANCELLED);
    EXPECT_EQ(done_, stop / 2);
    at_progress_ = nullptr;
    stop_at_ = INT64_MAX;
    options_.first_item = done_;
    ASSERT_EQ(call_chunked(stopped), GUF_OK) << error_.message;
    EXPECT_EQ(stopped.outputs[0].bytes, whole.outputs[0].bytes) << stop;
    options_.first_item = 0;
  }
}

// A call in place writes a chunk only when the results of the whole chunk are complete. If it wrote
// a part of a chunk, a resumed call would apply the function twice to this part.
TEST_P(ChunkedStops, InPlace) {
  case_.outputs[0].bytes = case_.inputs[0].bytes;
  initial_ = case_.outputs[0].bytes;
  for (const char *const fault : {"", "exec_copy:8", "exec_copy:11", "exec_kernel:3"}) {
    if (*fault != '\0' && !is_on_device()) continue;
    if (*fault != '\0') use_another_device();
    case_.outputs[0].bytes = initial_;
    Wrapped array(case_.outputs[0], 0, kItems);
    case_.inputs[0].array = case_.outputs[0].array = array.get();
    stop_at_ = *fault == '\0' ? 40 : INT64_MAX;
    if (*fault != '\0') {
      ASSERT_EQ(sim().fault((std::string(fault) + ":1").c_str()), 0);
    }
    EXPECT_NE(call_chunked(case_), GUF_OK) << fault;
    sim().clear_faults();
    expect_done_only();
    stop_at_ = INT64_MAX;
    options_.first_item = done_;
    if (*fault != '\0') device_ = find_device("cpu");
    ASSERT_EQ(call_chunked(case_), GUF_OK) << error_.message;
    EXPECT_EQ(case_.outputs[0].bytes, expected_) << fault;
    options_.first_item = 0;
  }
  case_.inputs[0].array = case_.outputs[0].array = nullptr;
}

// Makes each driver call fail once. The driver calls for the following chunks succeed.
TEST_P(ChunkedStops, ADriverThatFailsOnce) {
  if (!is_on_device()) return;  // faults can be injected only into the driver of a device
  ASSERT_EQ(call_chunked(case_), GUF_OK) << error_.message;
  case_.outputs[0].bytes = initial_;
  const std::string before = objects_alive();
  int failed = 0;
  for (const char *const function :
       {pick("cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync"),
        pick("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync"),
        pick("cuLaunchKernel", "hipModuleLaunchKernel"), pick("cuEventRecord", "hipEventRecord"),
        pick("cuStreamWaitEvent", "hipStreamWaitEvent")}) {
    int failed_here = 0;
    for (int nth = 1; nth <= 40; ++nth) {
      // Injects the code "not supported", because after "invalid value" the plugin would copy in
      // another way and succeed.
      const std::string fault = std::string(function) + ":" + std::to_string(nth) + ":801";
      ASSERT_EQ(sim().fault(fault.c_str()), 0) << fault;
      const guf_status status = call_chunked(case_);
      sim().clear_faults();
      EXPECT_EQ(status == GUF_OK, done_ == kItems) << fault << ": " << error_.message;
      if (status != GUF_OK) ++failed_here;
      expect_done_only();
      expect_resume();
    }
    EXPECT_GE(failed_here, 9) << function;
    failed += failed_here;
  }
  EXPECT_GE(failed, 80);
  EXPECT_EQ(objects_alive(), before);
}

// A copy or a kernel fails while it runs, so the device becomes unusable. The call resumes on the
// cpu.
TEST_P(ChunkedStops, ADeviceThatIsLost) {
  if (!is_on_device()) return;
  for (const char *const work :
       {"exec_copy:1", "exec_copy:4", "exec_copy:5", "exec_copy:13", "exec_copy:22", "exec_copy:36",
        "exec_kernel:1", "exec_kernel:2", "exec_kernel:4", "exec_kernel:9"}) {
    use_another_device();
    ASSERT_EQ(sim().fault((std::string(work) + ":1").c_str()), 0) << work;
    EXPECT_NE(call_chunked(case_), GUF_OK) << work;
    sim().clear_faults();
    EXPECT_LT(done_, kItems) << work;
    expect_done_only();
    EXPECT_NE(call_chunked(case_), GUF_OK) << work;
    EXPECT_EQ(done_, 0);
    device_ = find_device("cpu");
    expect_resume();
  }
}

TEST_P(ChunkedStops, FpFlagsFailWhenAllIsDone) {
  Case given = {"divide", {f8({40}, 1), f8({40}, 2)}, {f8({40}, 3)}};
  std::memset(given.inputs[1].bytes.data() + 8 * 15, 0, 8);
  Case whole = given;
  ASSERT_EQ(call(whole), GUF_OK) << error_.message;
  given.fp_fail = GUF_FP_DIVIDE;
  EXPECT_EQ(call_chunked(given), GUF_E_FLOATING_POINT);
  EXPECT_EQ(given.outputs[0].bytes, whole.outputs[0].bytes);
  EXPECT_EQ(done_, 40);
  EXPECT_EQ(report_.size(), 4U);
}

TEST_P(ChunkedStops, RefusedOptions) {
  const auto refused = [&](guf_status expected, const char *text) {
    EXPECT_EQ(call_chunked(case_), expected);
    EXPECT_THAT(error_.message, HasSubstr(text));
    EXPECT_TRUE(report_.empty());
    EXPECT_EQ(case_.outputs[0].bytes, initial_);
  };
  const guf_chunk_options good = options_;
  options_.flags = 1;
  refused(GUF_E_ARG, "options->flags and options->reserved must be 0; got 0x1 and 0");
  options_ = good;
  options_.reserved = 2;
  refused(GUF_E_ARG, "got 0x0 and 2");
  for (const int32_t depth : {-1, 17}) {
    options_ = good;
    options_.depth = depth;
    refused(GUF_E_ARG, "expected 0 to 16");
  }
  for (const int64_t first : {int64_t{-1}, kItems + 1}) {
    options_ = good;
    options_.first_item = first;
    refused(GUF_E_ARG, "expected 0 to 90");
  }
  options_ = good;
  options_.struct_size = 3;
  refused(GUF_E_STRUCT, "options");
}

TEST_P(ChunkedStops, RefusedOperands) {
  guf_stream stream = nullptr;
  ASSERT_EQ(guf_stream_create(device_, 0, &stream, &error_), GUF_OK) << error_.message;
  stream_ = stream;
  EXPECT_EQ(call_chunked(case_), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("stream: expected NULL; a chunked call"));
  stream_ = nullptr;
  guf_stream_release(stream, nullptr);
  Case given = case_;
  given.outputs[0].dtype = 0;
  EXPECT_EQ(call_chunked(given), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("argument 3 is missing"));
  given = case_;
  given.inputs[1] = f8({kItems - 1}, 2);
  EXPECT_EQ(call_chunked(given), GUF_E_SHAPE);
  given = {"bitwise_and", {f8({9}, 1), f8({9}, 2)}, {f8({9}, 3)}};
  EXPECT_EQ(call_chunked(given), GUF_E_NO_LOOP);
  // An inout operand with a separate output is rejected.
  given = {"hermite", {f8({5, 4}, 1)}, {f8({5, 4}, 2)}};
  EXPECT_EQ(call_chunked(given), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("chunks run in place on inout operands"));
}

TEST_P(ChunkedStops, RefusedMemory) {
  Values memory = f8({51}, 1);
  const std::vector<unsigned char> before = memory.bytes;
  Wrapped ahead(memory, 0, 50), behind(memory, 1, 50);
  Case given = {"negative", {f8({50}, 1)}, {f8({50}, 2)}};
  given.inputs[0].array = ahead.get();
  given.outputs[0].array = behind.get();
  EXPECT_EQ(call_chunked(given), GUF_E_OVERLAP);
  EXPECT_EQ(memory.bytes, before);
  given = {"negative", {f8({50}, 1)}, {f8({50}, 2).strided({0})}};
  EXPECT_EQ(call_chunked(given), GUF_E_OVERLAP);
  if (!is_on_device()) return;
  const int64_t shape[] = {50};
  guf_array there = nullptr;
  ASSERT_EQ(guf_array_alloc(device_, GUF_F64, 1, shape, nullptr, GUF_ORDER_C, &there, &error_),
            GUF_OK)
      << error_.message;
  given = {"negative", {f8({50}, 1)}, {f8({50}, 2)}};
  given.inputs[0].array = given.outputs[0].array = there;
  EXPECT_EQ(call_chunked(given), GUF_E_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("chunks are cut in host memory"));
  given.outputs[0].array = nullptr;
  EXPECT_EQ(call_chunked(given), GUF_E_UNSUPPORTED);
  guf_array_release(there, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Where, ChunkedStops, testing::Bool(),
                         [](const auto &where) { return where.param ? "OnADevice" : "OnTheCpu"; });

}  // namespace
}  // namespace gufunc::gpu_test
