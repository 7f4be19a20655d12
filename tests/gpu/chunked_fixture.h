// SPDX-License-Identifier: Apache-2.0
// Runs chunked calls on the cpu and on a simulated device with little memory. The fixture builds
// the operands and compares the result byte for byte with an unchunked call on the cpu.
#ifndef GUFUNC_TESTS_GPU_CHUNKED_FIXTURE_H
#define GUFUNC_TESTS_GPU_CHUNKED_FIXTURE_H

#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/gpu_fixture.h"

namespace gufunc::gpu_test {

// Describes an operand and owns its memory. Strides are in bytes and may be negative; `first` is
// the offset of element 0. If dtype is 0, the operand is absent.
struct Values {
  guf_dtype dtype = 0;
  std::vector<int64_t> shape, strides;
  uint64_t first = 0;
  uint32_t flags = 0;  // bits of guf_tensor_flag
  std::vector<unsigned char> bytes;
  guf_array array = nullptr;  // if set, the operand uses this array instead of `bytes`

  // Returns a C-contiguous operand whose elements are random integers from 1 to 100. `count` is the
  // number of elements in memory, where 0 means the number of elements of the shape.
  template <class T>
  static Values of(guf_dtype dtype, std::vector<int64_t> shape, uint32_t seed, uint64_t count = 0) {
    Values made;
    made.dtype = dtype;
    if (count == 0) {
      count = 1;
      for (const int64_t extent : shape) count *= static_cast<uint64_t>(extent);
    }
    made.shape = std::move(shape);
    std::mt19937 random(seed);
    std::vector<T> elements(count);
    for (T &element : elements) element = static_cast<T>(1 + random() % 100);
    made.bytes.resize(count * sizeof(T));
    if (count != 0) std::memcpy(made.bytes.data(), elements.data(), made.bytes.size());
    return made;
  }
  Values strided(std::vector<int64_t> steps, uint64_t from = 0) const {
    Values other = *this;
    other.strides = std::move(steps);
    other.first = from;
    return other;
  }
};

struct Case {
  std::string ufunc;
  std::vector<Values> inputs, outputs;
  std::vector<Values> where = {};  // mask of the call, or empty
  guf_dtype dtype = 0;
  int32_t casting = 0;
  uint32_t fp_fail = 0;
};

class ChunkedCalls : public testing::TestWithParam<bool> {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;
  void TearDown() override;

  bool is_on_device() const { return GetParam(); }

  // Runs the call without chunks, on the cpu unless `whole_on_device_` is set.
  guf_status call(Case &given);
  // Runs the call in chunks, as `options_` specifies.
  guf_status call_chunked(Case &given);
  // Runs the call without chunks, and in chunks of each of these sizes. Expects that all runs write
  // the same bytes, and that the progress reports are in ascending order.
  void expect_same(const Case &given, const std::vector<uint64_t> &sizes = {1, 24, 1000, 0});

  // Frees released memory. Then returns, as text, the number of live objects of the driver and the
  // number of live bytes of the library.
  std::string objects_alive();

  static guf_device find_device(const std::string &spec);
  // Switches to another device. A failure of running work makes the previous device unusable.
  void use_another_device();

  guf_device device_ = nullptr;
  guf_stream stream_ = nullptr;  // stream of the chunked calls
  bool whole_on_device_ = false;
  guf_chunk_options options_ = {};
  guf_error error_ = fresh_error();
  int64_t done_ = -1;
  std::vector<int64_t> report_;
  int64_t items_ = -1, stop_at_ = INT64_MAX;
  std::function<void()> at_progress_;

 private:
  static int32_t report(void *user, int64_t done, int64_t items);
  guf_status run(Case &given, bool in_chunks);

  uint32_t violations_ = 0;
};

// Returns the element with this index from the memory of the operand.
template <class T>
T element(const Values &values, uint64_t index) {
  T found;
  std::memcpy(&found, values.bytes.data() + index * sizeof(T), sizeof(T));
  return found;
}

}  // namespace gufunc::gpu_test

#endif  // GUFUNC_TESTS_GPU_CHUNKED_FIXTURE_H
