// SPDX-License-Identifier: Apache-2.0
// Tests NaNs. Functions that only copy elements must preserve every bit, even of signalling NaNs,
// and functions that compute must return a NaN for a NaN. The tests run on the device that
// GUFUNC_TEST_DEVICE names.
#include <gmock/gmock.h>
#include <gufunc/gufunc.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/support/fresh_error.h"
#include "tests/support/operands.h"

namespace {

constexpr int64_t kCount = 1000;

// Returns quiet and signalling NaNs of both signs with various payloads.
template <class Word>
std::vector<Word> nans(int mantissa) {
  std::vector<Word> words;
  const auto fraction = static_cast<Word>((uint64_t{1} << mantissa) - 1);
  const auto sign = static_cast<Word>(uint64_t{1} << (8 * sizeof(Word) - 1));
  const Word infinite = static_cast<Word>(sign - 1 - fraction);
  for (int64_t i = 0; i < kCount; ++i) {
    const auto payload =
        static_cast<Word>((0x9e3779b97f4a7c15U * static_cast<uint64_t>(i + 1)) >> (64 - mantissa));
    words.push_back(
        static_cast<Word>(infinite | (payload == 0 ? 1 : payload) | (i % 2 == 0 ? sign : 0)));
  }
  return words;
}

template <class Word>
Word swapped(Word word) {
  Word other = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) {
    other = static_cast<Word>(other << 8 | (word & 0xFF));
    word = static_cast<Word>(word >> 8);
  }
  return other;
}

class NanBits : public testing::Test {
 protected:
  NanBits() {
    const char *const named = std::getenv("GUFUNC_TEST_DEVICE");
    expect(guf_device_get(nullptr, named == nullptr ? "cpu" : named, &device_, &error_));
  }
  ~NanBits() override {
    for (const guf_array array : arrays_) guf_array_release(array, nullptr);
    guf_poll(0, nullptr, nullptr);
  }

  void expect(guf_status status) { EXPECT_EQ(status, GUF_OK) << error_.message; }

  guf_array keep(guf_array array) {
    arrays_.push_back(array);
    return array;
  }
  template <class Word>
  guf_array wrap(const std::vector<Word> &words, guf_dtype dtype, uint32_t flags = 0) {
    gufunc::Operands operands;
    const gufunc::View view = {dtype, words.data(), {kCount}, {}, flags};
    guf_array array = nullptr;
    expect(guf_array_wrap(operands.tensor(view)->tensor, nullptr, nullptr, 0, &array, &error_));
    return keep(array);
  }
  template <class Word>
  std::vector<Word> read(guf_array array) {
    std::vector<Word> words(kCount);
    expect(guf_array_copy_to_host(array, words.data(), kCount * sizeof(Word), GUF_ORDER_C, nullptr,
                                  &error_));
    return words;
  }
  guf_array on_device(guf_array array) {
    guf_array there = nullptr;
    expect(guf_array_to_device(array, device_, nullptr, &there, &error_));
    return keep(there);
  }

  template <class Word>
  void expect_moved(guf_dtype dtype, int mantissa) {
    const std::vector<Word> words = nans<Word>(mantissa);
    const guf_array there = on_device(wrap(words, dtype));
    EXPECT_EQ(read<Word>(there), words);
    guf_array copy = nullptr, same = nullptr, transposed = nullptr;
    expect(guf_array_copy(there, GUF_ORDER_C, nullptr, &copy, &error_));
    EXPECT_EQ(read<Word>(keep(copy)), words);
    expect(guf_array_astype(copy, dtype, GUF_CASTING_NO, GUF_ORDER_C, nullptr, &same, &error_));
    EXPECT_EQ(read<Word>(keep(same)), words);
    const int64_t start = INT64_MIN, step = -1;
    expect(guf_array_slice(same, 1, &start, &start, &step, &transposed, &error_));
    EXPECT_EQ(read<Word>(keep(transposed)), std::vector<Word>(words.rbegin(), words.rend()));
    expect(guf_array_assign(copy, transposed, GUF_CASTING_NO, nullptr, &error_));
    EXPECT_EQ(read<Word>(copy), std::vector<Word>(words.rbegin(), words.rend()));
    std::vector<Word> other;
    for (const Word word : words) other.push_back(swapped(word));
    EXPECT_EQ(read<Word>(on_device(wrap(other, dtype, GUF_TENSOR_SWAPPED))), words);
  }

  guf_error error_ = fresh_error();
  guf_device device_ = nullptr;
  std::vector<guf_array> arrays_;
};

TEST_F(NanBits, MovedElementsKeepThem) {
  expect_moved<uint16_t>(GUF_F16, 10);
  expect_moved<uint16_t>(GUF_BF16, 7);
  expect_moved<uint32_t>(GUF_F32, 23);
  expect_moved<uint64_t>(GUF_F64, 52);
}

TEST_F(NanBits, ComputedElementsAreNaNs) {
  const std::vector<uint64_t> words = nans<uint64_t>(52);
  const guf_operand given = gufunc::operand_of(on_device(wrap(words, GUF_F64)));
  for (const char *name : {"add", "multiply", "divide", "subtract", "maximum"}) {
    for (const double number : {1.5, -0.0, static_cast<double>(INFINITY)}) {
      guf_ufunc ufunc = nullptr;
      expect(guf_ufunc_find(nullptr, name, &ufunc, &error_));
      const guf_operand inputs[] = {given,
                                    gufunc::scalar_of(GUF_F64, std::bit_cast<uint64_t>(number))};
      guf_operand output = {};
      guf_call_args args = {};
      args.struct_size = sizeof args;
      args.ninputs = 2;
      args.noutputs = 1;
      args.inputs = inputs;
      args.outputs = &output;
      expect(guf_call(ufunc, &args, &error_));
      for (const uint64_t word : read<uint64_t>(keep(output.array))) {
        double value = 0;
        std::memcpy(&value, &word, sizeof value);
        ASSERT_TRUE(std::isnan(value)) << name << " of NaN and " << number;
      }
      guf_ufunc_release(ufunc, nullptr);
    }
  }
}

}  // namespace
