// SPDX-License-Identifier: Apache-2.0
// Compares printed arrays with NumPy's output in tests/data/prints.txt, for several memory layouts.
#include "core/array/print.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/array/array_sample.h"

namespace gufunc::array {
namespace {

guf_dtype dtype_named(const std::string &name) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  EXPECT_EQ(dtype::parse(name.c_str(), &dtype, nullptr), GUF_OK) << name;
  return dtype;
}

std::vector<std::byte> bytes_of(const std::string &hexadecimal) {
  std::vector<std::byte> bytes(hexadecimal.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    int value = 0;
    std::from_chars(hexadecimal.data() + 2 * i, hexadecimal.data() + 2 * i + 2, value, 16);
    bytes[i] = static_cast<std::byte>(value);
  }
  return bytes;
}

std::string print(const Array &array) {
  const Summary summary = summarize(array.layout());
  std::vector<std::byte> values(summary.count * dtype::itemsize(array.layout().dtype));
  const bool swapped = (array.flags() & GUF_ARRAY_SWAPPED) != 0;
  gather_summary(array.layout(), swapped, summary, values.data());
  return format_values(array.layout(), summary, values.data());
}

// An array with the same values as a plain array, but in F order, with negative strides,
// byte-swapped and misaligned.
struct Awkward {
  std::vector<std::byte> memory;
  base::Ref<Array> array;
};

Awkward make_awkward(const Array &plain) {
  const Layout &from = plain.layout();
  const size_t itemsize = dtype::itemsize(from.dtype);
  const size_t part = dtype::alignment(from.dtype);
  std::vector<int64_t> shape(from.shape, from.shape + from.ndim);
  std::vector<int64_t> strides(shape.size());
  contiguous_strides(from.dtype, from.ndim, from.shape, GUF_ORDER_F, strides.data());
  Awkward awkward;
  awkward.memory.resize(plain.nbytes() + 1);
  uint64_t address = reinterpret_cast<uint64_t>(awkward.memory.data()) + 1;
  if (plain.size() > 0) address += plain.nbytes() - itemsize;
  for (int64_t &stride : strides) stride = -stride;
  awkward.array = borrow(from.dtype, shape, strides, address, GUF_ARRAY_SWAPPED);
  std::vector<int64_t> index(shape.size());
  for (uint64_t n = 0; n < plain.size(); ++n) {
    auto *source = reinterpret_cast<const std::byte *>(from.address) + n * itemsize;
    uint64_t at = address;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      at += static_cast<uint64_t>(index[axis] * strides[axis]);
    }
    auto *to = reinterpret_cast<std::byte *>(at);
    std::copy_n(source, itemsize, to);
    for (size_t i = 0; i < itemsize; i += part) std::reverse(to + i, to + i + part);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return awkward;
}

uint64_t hash_of_scalars(guf_dtype dtype, uint64_t count) {
  uint64_t value = 0xCBF29CE484222325U;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = dtype == GUF_F64   ? i * 0x9E3779B97F4A7C15U
                          : dtype == GUF_F32 ? i * 0x9E3779B1U
                                             : i;
    std::byte element[8];
    std::memcpy(element, &bits, sizeof bits);
    for (const char c : format_scalar(dtype, element) + "\n") {
      value = (value ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
    }
  }
  return value;
}

std::string with_line_ends(std::string text) {
  for (size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
    text.replace(at, 2, "\n");
  }
  return text;
}

TEST(Print, IsNumPysForThousandsOfArrays) {
  const std::vector<std::string> rows = golden_rows(GUFUNC_TEST_DATA "/prints.txt");
  ASSERT_GT(rows.size(), 3000U);
  for (const std::string &row : rows) {
    const std::vector<std::string> parts = split(row, '|');
    if (parts[1] == "scalars") continue;
    const guf_dtype dtype = dtype_named(parts[0]);
    const std::vector<std::byte> pattern = bytes_of(parts[2]);
    std::vector<std::byte> memory(1);
    const base::Ref<Array> shaped = borrow_contiguous(dtype, numbers(parts[1]), 0);
    memory.resize(shaped->nbytes() + 1);
    for (size_t i = 0; i < shaped->nbytes(); ++i) memory[i] = pattern[i % pattern.size()];
    const base::Ref<Array> array =
        borrow_contiguous(dtype, numbers(parts[1]), reinterpret_cast<uint64_t>(memory.data()));
    EXPECT_EQ(print(*array), with_line_ends(parts[3])) << row.substr(0, 200);
    EXPECT_EQ(print(*make_awkward(*array).array), with_line_ends(parts[3])) << row.substr(0, 200);
  }
  base::collect();
}

TEST(Print, ScalarsAreNumPysForWholeTypes) {
  int seen = 0;
  for (const std::string &row : golden_rows(GUFUNC_TEST_DATA "/prints.txt")) {
    const std::vector<std::string> parts = split(row, '|');
    if (parts[1] != "scalars") continue;
    ++seen;
    const guf_dtype dtype = dtype_named(parts[0]);
    uint64_t expected = 0;
    std::from_chars(parts[2].data(), parts[2].data() + 16, expected, 16);
    EXPECT_EQ(hash_of_scalars(dtype, dtype::itemsize(dtype) == 2 ? 65536 : 200000), expected)
        << row;
  }
  EXPECT_EQ(seen, 4);
}

// Rows have the form "print|dtype|values|text" or "element|dtype|value|text".
TEST(Print, DatetimesAsNumPy) {
  size_t nrows = 0;
  for (const std::string &row : golden_rows(GUFUNC_TEST_DATA "/datetimes.txt")) {
    const std::vector<std::string> parts = split(row, '|');
    const bool alone = parts[0] == "element";
    if (!alone && parts[0] != "print") continue;
    ++nrows;
    std::vector<int64_t> values;
    for (const std::string &number : split(parts.at(2), ' ')) values.push_back(std::stoll(number));
    std::vector<int64_t> shape;
    if (!alone) shape.push_back(static_cast<int64_t>(values.size()));
    const auto plain =
        borrow(dtype_named(parts.at(1)), shape, {8}, reinterpret_cast<uint64_t>(values.data()), 0);
    std::string expected = parts.at(3);
    for (size_t at = 0; (at = expected.find("\\n", at)) != std::string::npos;) {
      expected.replace(at, 2, "\n");
    }
    EXPECT_EQ(print(*plain), expected) << row;
    if (alone) continue;
    EXPECT_EQ(print(*make_awkward(*plain).array), expected) << row;
  }
  EXPECT_GT(nrows, 200U);
}

}  // namespace
}  // namespace gufunc::array
