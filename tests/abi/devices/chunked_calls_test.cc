// SPDX-License-Identifier: Apache-2.0
// Tests chunked calls on devices. For every layout, chunk size and number of concurrent chunks, the
// results must equal the results of an unchunked call. Also tests calls that stop, resume or fail,
// and arrays that are larger than the memory of the device.
#include <cstring>
#include <numeric>

#include "device_fixture.h"

namespace device_test {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using testing::HasSubstr;

class ChunkedCalls : public Devices {
 protected:
  // Makes an operand over host memory that the caller owns. Strides are in bytes.
  guf_operand here(void *data, guf_dtype dtype, std::vector<int64_t> shape,
                   std::vector<int64_t> strides = {}, uint32_t flags = 0) {
    return *operands_.tensor({dtype, data, std::move(shape), std::move(strides), flags});
  }
  guf_status run(const char *name, std::vector<guf_operand> inputs, guf_operand out) {
    output_ = out;
    args_.struct_size = sizeof args_;
    args_.ninputs = static_cast<int32_t>(inputs.size());
    args_.noutputs = 1;
    args_.inputs = inputs.data();
    args_.outputs = &output_;
    if (args_.options.device == nullptr) args_.options.device = device(0);
    error_ = fresh_error();
    report_ = 0;
    return guf_call_chunked(find(name), &args_, &options_, &done_, &error_);
  }
  static int32_t progress(void *user, int64_t done, int64_t items) {
    auto *const self = static_cast<ChunkedCalls *>(user);
    EXPECT_GE(done, self->report_);
    self->report_ = done;
    self->items_ = items;
    return done >= self->stop_at_ ? 1 : 0;
  }

  gufunc::Operands operands_;
  guf_call_args args_ = {};
  guf_chunk_options options_ = {sizeof(guf_chunk_options), 0, 0, 0, 0, 0, progress, this};
  guf_operand output_ = {};
  int64_t done_ = -1, report_ = 0, items_ = -1, stop_at_ = INT64_MAX;
};

TEST_P(ChunkedCalls, EveryChunkAndDepth) {
  std::vector<float> a(3000), b(3000), out(3000), expected(3000);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(b.begin(), b.end(), 1000.0F);
  for (size_t i = 0; i < 3000; ++i) expected[i] = a[i] * b[i];
  for (const uint64_t bytes : {0, 4, 444, 4000, 12000}) {
    if (bytes == 4 && sim_order() != "eager") continue;  // 3000 chunks take too long
    for (const int32_t depth : {0, 1, 2, 16}) {
      std::fill(out.begin(), out.end(), -1.0F);
      options_.chunk_bytes = bytes;
      options_.depth = depth;
      ASSERT_EQ(run("multiply", {here(a.data(), GUF_F32, {3000}), here(b.data(), GUF_F32, {3000})},
                    here(out.data(), GUF_F32, {3000})),
                GUF_OK)
          << error_.message;
      ASSERT_THAT(out, ElementsAreArray(expected)) << bytes << " " << depth;
      EXPECT_EQ(done_, 3000);
      EXPECT_EQ(report_, 3000);
      EXPECT_EQ(items_, 3000);
    }
  }
}

// Tests strides, byte order, casts, a mask, and broadcast operands. An operand that is the same for
// all chunks is transferred once.
TEST_P(ChunkedCalls, EveryLayout) {
  constexpr int64_t kRows = 60, kColumns = 7;
  std::vector<float> a(kRows * kColumns), row(kColumns);
  std::vector<double> out(2 * kRows * kColumns, -1);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(row.begin(), row.end(), 0.5F);
  std::vector<float> swapped = a;
  for (float &value : swapped) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    bits = __builtin_bswap32(bits);
    std::memcpy(&value, &bits, 4);
  }
  std::vector<uint8_t> mask(kRows);
  for (size_t i = 0; i < kRows; ++i) mask[i] = i % 3 != 0;
  const guf_operand where = here(mask.data(), GUF_BOOL, {kRows, 1});
  options_.chunk_bytes = 300;
  for (const bool masked : {false, true}) {
    std::fill(out.begin(), out.end(), -1.0);
    args_.where = masked ? &where : nullptr;
    // The input has its rows in reverse and its bytes swapped. The output is every second element.
    ASSERT_EQ(run("add",
                  {here(swapped.data() + (kRows - 1) * kColumns, GUF_F32, {kRows, kColumns},
                        {-4 * kColumns, 4}, GUF_TENSOR_SWAPPED),
                   here(row.data(), GUF_F32, {kColumns})},
                  here(out.data(), GUF_F64, {kRows, kColumns}, {16 * kColumns, 16})),
              GUF_OK)
        << error_.message;
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t k = 0; k < kColumns; ++k) {
        const auto at = static_cast<size_t>(2 * (i * kColumns + k));
        const float sum =
            a[static_cast<size_t>((kRows - 1 - i) * kColumns + k)] + row[static_cast<size_t>(k)];
        const bool written = !masked || i % 3 != 0;
        ASSERT_EQ(out[at], written ? static_cast<double>(sum) : -1.0) << i << " " << k;
        ASSERT_EQ(out[at + 1], -1.0);
      }
    }
  }
}

TEST_P(ChunkedCalls, GeneralizedAndInPlace) {
  std::vector<float> a(500 * 4), b(500 * 4), out(500);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i / 4);
    b[i] = 2;
  }
  options_.chunk_bytes = 160;
  ASSERT_EQ(run("vecdot", {here(a.data(), GUF_F32, {500, 4}), here(b.data(), GUF_F32, {500, 4})},
                here(out.data(), GUF_F32, {500})),
            GUF_OK)
      << error_.message;
  for (size_t i = 0; i < 500; ++i) ASSERT_EQ(out[i], 8 * static_cast<float>(i)) << i;
  ASSERT_EQ(run("add", {here(out.data(), GUF_F32, {500}), scalar_of(1)},
                here(out.data(), GUF_F32, {500})),
            GUF_OK)
      << error_.message;
  for (size_t i = 0; i < 500; ++i) ASSERT_EQ(out[i], 8 * static_cast<float>(i) + 1) << i;
  ASSERT_EQ(
      run("add", {here(out.data(), GUF_F32, {0}), scalar_of(1)}, here(out.data(), GUF_F32, {0})),
      GUF_OK);
  EXPECT_EQ(done_, 0);
}

TEST_P(ChunkedCalls, StopAndGoOn) {
  std::vector<float> a(1000, 3), out(1000, 0);
  options_.chunk_bytes = 400;
  stop_at_ = 350;
  const guf_operand in = here(a.data(), GUF_F32, {1000}), to = here(out.data(), GUF_F32, {1000});
  EXPECT_EQ(run("negative", {in}, to), GUF_E_CANCELLED);
  EXPECT_THAT(error_.message, HasSubstr("cancelled by progress"));
  EXPECT_EQ(done_, 400);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], i < 400 ? -3.0F : 0.0F) << i;
  std::fill(out.begin(), out.begin() + 400, 9.0F);
  stop_at_ = INT64_MAX;
  options_.first_item = done_;
  EXPECT_EQ(run("negative", {in}, to), GUF_OK) << error_.message;
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], i < 400 ? 9.0F : -3.0F) << i;
}

// If one chunk raises a floating-point flag, the call reports the flag or fails. In both cases the
// call has written all results.
TEST_P(ChunkedCalls, FloatingPointFlags) {
  std::vector<float> a(1000, 1), b(1000, 2), out(1000, 0);
  b[555] = 0;
  options_.chunk_bytes = 400;
  args_.options.fp_fail = GUF_FP_DIVIDE;
  const guf_operand x = here(a.data(), GUF_F32, {1000}), y = here(b.data(), GUF_F32, {1000}),
                    to = here(out.data(), GUF_F32, {1000});
  EXPECT_EQ(run("divide", {x, y}, to), GUF_E_FLOATING_POINT) << error_.message;
  EXPECT_THAT(error_.message, HasSubstr("divide by zero encountered in divide"));
  EXPECT_EQ(done_, 1000);
  EXPECT_EQ(out[999], 0.5F);
  uint32_t found = 0;
  args_.options.fp_fail = 0;
  args_.options.fp_flags = &found;
  args_.options.fp_report = GUF_FP_DIVIDE;
  EXPECT_EQ(run("divide", {x, y}, to), GUF_OK) << error_.message;
  EXPECT_EQ(found, static_cast<uint32_t>(GUF_FP_DIVIDE));
}

// The device has little memory: 10 MB for 32 MB of operands.
TEST_P(ChunkedCalls, ArraysLargerThanTheDevice) {
  if (on_cpu()) return;
  constexpr size_t kSize = size_t{4} << 20;
  std::vector<float> a(kSize), out(kSize);
  std::iota(a.begin(), a.end(), 0.0F);
  const guf_device there = device(0);
  guf_poll(0, nullptr, nullptr);
  EXPECT_EQ(guf_device_trim_memory(there, 0, &error_), GUF_OK);
  guf_device_memory memory = {};
  memory.struct_size = sizeof memory;
  EXPECT_EQ(guf_device_get_memory(there, &memory, &error_), GUF_OK);
  EXPECT_EQ(guf_device_limit_memory(there, memory.live_bytes + (10 << 20), &error_), GUF_OK);
  options_.chunk_bytes = 1 << 20;
  const guf_operand in = here(a.data(), GUF_F32, {static_cast<int64_t>(kSize)});
  EXPECT_EQ(run("add", {in, in}, here(out.data(), GUF_F32, {static_cast<int64_t>(kSize)})), GUF_OK)
      << error_.message;
  for (size_t i = 0; i < kSize; ++i) ASSERT_EQ(out[i], 2 * a[i]) << i;
  options_.chunk_bytes = 8 << 20;  // a chunk size that the caller requests is not reduced
  options_.depth = 16;
  EXPECT_EQ(run("add", {in, in}, here(out.data(), GUF_F32, {static_cast<int64_t>(kSize)})),
            GUF_E_DEVICE_MEMORY);
  EXPECT_EQ(done_, 0);
  EXPECT_EQ(guf_device_limit_memory(there, UINT64_MAX, &error_), GUF_OK);
}

// A program cannot wait for the internal streams of a chunked call, so the call itself must report
// failures.
TEST_P(ChunkedCalls, AFailureIsTheCallsOwn) {
  std::vector<int64_t> x(100, 2), y(100, 3), out(100);
  y[50] = -1;
  const guf_operand a = here(x.data(), GUF_I64, {100}), b = here(y.data(), GUF_I64, {100}),
                    to = here(out.data(), GUF_I64, {100});
  const char *const text = "Integers to negative integer powers are not allowed.";
  options_.chunk_bytes = 80;
  EXPECT_EQ(run("power", {a, b}, to), GUF_E_VALUE);
  EXPECT_STREQ(error_.message, text);
  EXPECT_EQ(done_, 50);
  guf_operand in[] = {a, b};
  args_.inputs = in;
  EXPECT_EQ(guf_call(find("power"), &args_, &error_), GUF_E_VALUE);
  EXPECT_STREQ(error_.message, text);
}

TEST_P(ChunkedCalls, Errors) {
  std::vector<float> a(100, 1), out(100);
  const guf_operand in = here(a.data(), GUF_F32, {100}), to = here(out.data(), GUF_F32, {100});
  EXPECT_EQ(run("negative", {in}, {}), GUF_E_ARG);
  const guf_operand shifted = here(a.data() + 1, GUF_F32, {99}),
                    head = here(a.data(), GUF_F32, {99});
  EXPECT_EQ(run("negative", {head}, shifted), GUF_E_OVERLAP);
  EXPECT_THAT(error_.message, testing::StartsWith("argument 0 shares memory"));
  args_.options.stream = stream(device(0));
  EXPECT_EQ(run("negative", {in}, to), GUF_E_ARG);
  EXPECT_THAT(error_.message, HasSubstr("a chunked call creates its own streams"));
  args_.options.stream = nullptr;
  for (const int32_t depth : {-1, 17}) {
    options_.depth = depth;
    EXPECT_EQ(run("negative", {in}, to), GUF_E_ARG);
  }
  options_.depth = 0;
  for (const int64_t first : {int64_t{-1}, int64_t{101}}) {
    options_.first_item = first;
    EXPECT_EQ(run("negative", {in}, to), GUF_E_ARG);
    EXPECT_EQ(done_, 0);
  }
  options_.first_item = 0;
  options_.flags = 1;
  EXPECT_EQ(run("negative", {in}, to), GUF_E_ARG);
  options_.flags = 0;
  options_.reserved = 1;
  EXPECT_EQ(run("negative", {in}, to), GUF_E_ARG);
  options_.reserved = 0;
  options_.struct_size = 4;
  done_ = 77;
  EXPECT_EQ(run("negative", {in}, to), GUF_E_STRUCT);
  EXPECT_EQ(done_, 0);
}

// Chunked calls reject operands in device memory. The error names the device of the operand,
// whatever device and host policy the call requests.
TEST_P(ChunkedCalls, TakeNoDeviceMemory) {
  if (on_cpu()) return;
  std::vector<float> a(100, 1), out(100);
  const guf_operand in = here(a.data(), GUF_F32, {100}), to = here(out.data(), GUF_F32, {100});
  const guf_operand there = operand_of(filled(device(0), 100, 1));
  guf_device cpu = nullptr;
  ASSERT_EQ(guf_device_get(nullptr, "cpu", &cpu, &error_), GUF_OK);
  for (const guf_device named : {guf_device{}, cpu, device(0)}) {
    for (const int32_t policy : {GUF_HOST_DEFAULT, GUF_HOST_COPY}) {
      args_.options.device = named;
      args_.host_policy = policy;
      EXPECT_EQ(run("add", {in, there}, to), GUF_E_UNSUPPORTED);
      EXPECT_THAT(error_.message, HasSubstr("argument 1 is in the memory of"));
      EXPECT_EQ(error_.argument, 1);
    }
  }
}

// Makes a single driver call fail in each chunked call: the first, second, ... call of every driver
// function that a chunk uses. The progress that the chunked call reports must be correct, and the
// next chunked call must succeed.
TEST_P(ChunkedCalls, AFailureReportsTheCompletedItems) {
  NEEDS_SIM();
  if (on_cpu()) return;
  const bool cuda = backend_ == "cuda";
  const std::vector<std::string> functions =
      cuda ? std::vector<std::string>{"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                                      "cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent"}
           : std::vector<std::string>{"hipMemcpyHtoDAsync", "hipMemcpyDtoHAsync",
                                      "hipModuleLaunchKernel", "hipEventRecord",
                                      "hipStreamWaitEvent"};
  std::vector<float> a(100), out(100);
  std::iota(a.begin(), a.end(), 1.0F);
  options_.chunk_bytes = 100;
  const guf_operand in = here(a.data(), GUF_F32, {100}), to = here(out.data(), GUF_F32, {100});
  ASSERT_EQ(run("negative", {in}, to), GUF_OK) << error_.message;
  for (const std::string &function : functions) {
    for (int n = 1; n <= 14; ++n) {
      std::fill(out.begin(), out.end(), 0.0F);
      sim().fault((function + ":" + std::to_string(n) + ":1").c_str());
      const guf_status status = run("negative", {in}, to);
      sim().clear_faults();
      EXPECT_EQ(status == GUF_OK, done_ == 100) << function << n << error_.message;
      for (size_t i = 0; i < 100; ++i) {
        const bool written = static_cast<int64_t>(i) < done_;
        ASSERT_EQ(out[i], written ? -a[i] : 0.0F) << function << n << " " << i;
      }
    }
  }
  EXPECT_EQ(run("negative", {in}, to), GUF_OK) << error_.message;
}

// The call names the second device.
TEST_P(ChunkedCalls, OnTheOtherDevice) {
  NEEDS_TWO_DEVICES();
  std::vector<float> a(1000, 4), out(1000);
  options_.chunk_bytes = 400;
  args_.options.device = device(1);
  ASSERT_EQ(run("negative", {here(a.data(), GUF_F32, {1000})}, here(out.data(), GUF_F32, {1000})),
            GUF_OK)
      << error_.message;
  EXPECT_THAT(out, Each(-4.0F));
}

INSTANTIATE_TEST_SUITE_P(On, ChunkedCalls, testing::Values("cuda", "roc", "cpu"), name_of);

}  // namespace
}  // namespace device_test
