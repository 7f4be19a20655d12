// SPDX-License-Identifier: Apache-2.0
// Computes the discriminant of arrays that are eight times as large as the device's memory, and of
// mapped files that are larger than the memory limit of the process.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gufunc/gufunc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"
#include "tests/support/operands.h"

namespace gufunc::gpu_test {
namespace {

constexpr int64_t kElements = GUFUNC_TEST_ELEMENTS;
constexpr uint64_t kMaxAnonymous = uint64_t{256} << 20;
constexpr uint64_t kHeader = 128;

// Returns the size of the process's anonymous memory, or 0 if the size is unknown.
uint64_t anonymous_bytes() {
  FILE *const status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return 0;
  unsigned long long kib = 0;
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::sscanf(line, "RssAnon: %llu kB", &kib) == 1) break;
  }
  std::fclose(status);
  return kib << 10;
}

// A mapped file with a header and float64 elements, as in .npy files. The destructor deletes the
// file.
class MappedFile {
 public:
  explicit MappedFile(int64_t count) {
    std::string path = testing::TempDir() + "gufunc_chunks.XXXXXX";
    const int file = mkstemp(path.data());
    EXPECT_GE(file, 0);
    unlink(path.c_str());
    size_ = kHeader + 8 * static_cast<uint64_t>(count);
    EXPECT_EQ(posix_fallocate(file, 0, static_cast<off_t>(size_)), 0);
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    close(file);
  }
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile() { munmap(memory_, size_); }
  double *data() const {
    return reinterpret_cast<double *>(static_cast<char *>(memory_) + kHeader);
  }

 private:
  uint64_t size_ = 0;
  void *memory_ = nullptr;
};

// Computes the value of an element from the operand and the index, so that no table of expected
// values is needed.
double value_of(int operand, int64_t index) {
  const auto mixed = static_cast<uint64_t>(index * 2654435761 + operand * 40503) >> 7U & 0xFFFFU;
  return static_cast<double>(mixed) / 65536.0 + (operand == 1 ? 10 : 0);
}

void fill(double *const *operands) {
  for (int k = 0; k < 3; ++k) {
    for (int64_t i = 0; i < kElements; ++i) operands[k][i] = value_of(k, i);
  }
}

struct Watch {
  uint64_t peak = 0;
  int64_t last = 0, calls = 0, stop_at = INT64_MAX;
  bool in_order = true;
};

int32_t watch_progress(void *user, int64_t done, int64_t items) {
  auto *const watch = static_cast<Watch *>(user);
  watch->peak = std::max(watch->peak, anonymous_bytes());
  watch->in_order = watch->in_order && done > watch->last && items == kElements;
  watch->last = done;
  ++watch->calls;
  return done >= watch->stop_at ? 1 : 0;
}

class ChunkedMemory : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite() {
    guf_error error = fresh_error();
    static guf_module module = nullptr;
    if (module != nullptr) return;
    ASSERT_EQ(guf_module_load(nullptr, GUFUNC_TEST_MODULE, 0, &module, &error), GUF_OK)
        << error.message;
  }
  void SetUp() override {
    const char *const spec = !GetParam() ? "cpu" : is_cuda() ? "cuda:0" : "roc:0";
    ASSERT_EQ(guf_device_get(nullptr, spec, &device_, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(guf_ufunc_find(nullptr, "discriminant", &ufunc_, &error_), GUF_OK) << error_.message;
    options_.progress = watch_progress;
    options_.user = &watch_;
  }
  void TearDown() override { guf_ufunc_release(ufunc_, nullptr); }

  guf_status call(double *const *operands) {
    Operands kept;
    guf_operand all[4];
    for (int i = 0; i < 4; ++i) all[i] = *kept.tensor({GUF_F64, operands[i], {kElements}, {}, 0});
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.ninputs = 3;
    args.noutputs = 1;
    args.inputs = all;
    args.outputs = all + 3;
    args.options.device = device_;
    watch_.last = options_.first_item;
    watch_.calls = 0;
    return guf_call_chunked(ufunc_, &args, &options_, &done_, &error_);
  }

  static void expect_exact(double *const *operands, int64_t first, int64_t end) {
    int64_t wrong = 0;
    for (int64_t i = first; i < end; ++i) {
      const double a = value_of(0, i), b = value_of(1, i), c = value_of(2, i);
      if (operands[3][i] != std::sqrt(b * b - 4 * a * c)) ++wrong;
    }
    EXPECT_EQ(wrong, 0) << "of those from " << first << " to " << end;
  }

  guf_device device_ = nullptr;
  guf_ufunc ufunc_ = nullptr;
  guf_chunk_options options_ = {sizeof(guf_chunk_options)};
  Watch watch_;
  int64_t done_ = -1;
  guf_error error_ = fresh_error();
};

// The device has no memory for three chunks with the default size of 8 MiB, so the library reduces
// the chunk size.
TEST_P(ChunkedMemory, ArraysEightTimesTheDevices) {
  std::vector<double> arrays[4];
  double *operands[4];
  for (int k = 0; k < 4; ++k) {
    arrays[k].resize(kElements);
    operands[k] = arrays[k].data();
  }
  if (GetParam()) {
    guf_device_memory memory = {};
    memory.struct_size = sizeof memory;
    ASSERT_EQ(guf_device_get_memory(device_, &memory, &error_), GUF_OK) << error_.message;
    ASSERT_EQ(memory.total_bytes * 8, kElements * sizeof(double));
  }
  fill(operands);
  ASSERT_EQ(call(operands), GUF_OK) << error_.message;
  expect_exact(operands, 0, kElements);
  EXPECT_EQ(done_, kElements);
  EXPECT_TRUE(watch_.in_order);
  if (GetParam()) {
    EXPECT_GE(watch_.calls, 8);
  }
}

TEST_P(ChunkedMemory, FilesLargerThanItsOwnMemory) {
  const MappedFile files[4] = {MappedFile(kElements), MappedFile(kElements), MappedFile(kElements),
                               MappedFile(kElements)};
  double *const operands[4] = {files[0].data(), files[1].data(), files[2].data(), files[3].data()};
  fill(operands);
  options_.chunk_bytes = kElements / 16;  // number of bytes per operand and chunk
  const int64_t chunk = kElements / 128, chunks = 128;
  watch_.stop_at = 40 * chunk;
  ASSERT_EQ(call(operands), GUF_E_CANCELLED);
  ASSERT_EQ(done_, 40 * chunk);
  EXPECT_EQ(watch_.calls, 40);
  expect_exact(operands, 0, done_);
  for (int64_t i = done_; i < kElements; i += 1000) ASSERT_EQ(operands[3][i], 0.0) << i;
  watch_.stop_at = INT64_MAX;
  options_.first_item = done_;
  ASSERT_EQ(call(operands), GUF_OK) << error_.message;
  expect_exact(operands, 0, kElements);
  EXPECT_EQ(watch_.calls, chunks - 40);
  EXPECT_TRUE(watch_.in_order);
  if (GUFUNC_TEST_MEASURES == 0) return;
  RecordProperty("peak_anonymous_bytes", std::to_string(watch_.peak));
  std::printf("%lld MiB of files, at most %llu MiB of anonymous memory\n",
              static_cast<long long>(kElements >> 15),
              static_cast<unsigned long long>(watch_.peak >> 20));
  EXPECT_GT(kElements * 8 * 4, static_cast<int64_t>(kMaxAnonymous));
  EXPECT_GT(watch_.peak, 0U);
  EXPECT_LE(watch_.peak, kMaxAnonymous);
}

INSTANTIATE_TEST_SUITE_P(Where, ChunkedMemory, testing::Bool(),
                         [](const auto &where) { return where.param ? "OnADevice" : "OnTheCpu"; });

}  // namespace
}  // namespace gufunc::gpu_test
