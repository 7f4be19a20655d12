// SPDX-License-Identifier: Apache-2.0
// Tests copies of all kinds: overlap, broadcasting, casts, byte order, many dimensions, fills and
// printing.
#include <complex>
#include <limits>
#include <numeric>
#include <random>

#include "array_fixture.h"

namespace {

using testing::ElementsAre;

class Copies : public ArrayTest {
 protected:
  // Makes a random view of shape (rows, columns) over 400 integers.
  guf_array random_view(std::vector<int32_t> &memory, int64_t rows, int64_t columns) {
    std::uniform_int_distribution<int64_t> step(-9, 9);
    for (;;) {
      const int64_t down = step(random_) * 4;
      const int64_t right = step(random_) * 4;
      const int64_t offset = std::uniform_int_distribution<int64_t>(0, 399)(random_) * 4;
      const int64_t corners[] = {0, down * (rows - 1), right * (columns - 1),
                                 down * (rows - 1) + right * (columns - 1)};
      bool fits = true;
      for (const int64_t corner : corners) {
        fits &= offset + corner >= 0 && offset + corner < 400 * 4;
      }
      if (!fits) continue;
      return wrap(reinterpret_cast<char *>(memory.data()) + offset, GUF_I32, {rows, columns},
                  {down, right});
    }
  }
  std::mt19937 random_{3};
};

int32_t *element(const guf_array_info &view, int64_t row, int64_t column) {
  return reinterpret_cast<int32_t *>(view.address + static_cast<uint64_t>(row * view.strides[0]) +
                                     static_cast<uint64_t>(column * view.strides[1]));
}

// Copies between overlapping views must have the same result as code that first reads all elements
// and then writes all elements.
TEST_F(Copies, OverlapIsAsIfTheSourceWereCopiedFirst) {
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<int32_t> memory(400);
    std::iota(memory.begin(), memory.end(), 0);
    const int64_t rows = 1 + round % 7;
    const int64_t columns = 1 + round % 5;
    const guf_array to = random_view(memory, rows, columns);
    const guf_array from = random_view(memory, rows, round % 3 == 0 ? 1 : columns);
    const guf_array_info target = info(to);
    const guf_array_info source = info(from);
    std::vector<int32_t> read;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        read.push_back(*element(source, r, source.shape[1] == 1 ? 0 : c));
      }
    }
    const std::vector<int32_t> before = memory;
    const guf_status status = guf_array_assign(to, from, GUF_CASTING_DEFAULT, nullptr, &error_);
    if (status == GUF_E_OVERLAP) {
      ++refused;
      EXPECT_EQ(memory, before);
      continue;
    }
    expect(status);
    std::vector<int32_t> expected = before;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        expected[static_cast<size_t>(element(target, r, c) - memory.data())] =
            read[static_cast<size_t>(r * columns + c)];
      }
    }
    ASSERT_EQ(memory, expected) << "round " << round;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 1500);
}

TEST_F(Copies, TwelveDimensionsThatDoNotMerge) {
  const std::vector<int64_t> shape(12, 2);
  std::vector<int32_t> memory(4096);
  std::iota(memory.begin(), memory.end(), 0);
  const guf_array plain = wrap(memory.data(), GUF_I32, shape);
  // With the axes in this order, no two neighbouring axes can be coalesced.
  const int64_t axes[] = {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11};
  guf_array transposed = nullptr;
  expect(guf_array_transpose(plain, 12, axes, &transposed, &error_));
  keep(transposed);
  const std::vector<int32_t> found = values<int32_t>(transposed);
  for (size_t i = 0; i < found.size(); ++i) {
    size_t at = 0;
    for (size_t axis = 0; axis < 12; ++axis) {
      if ((i >> (11 - axis) & 1) != 0) at |= size_t{1} << (11 - axes[axis]);
    }
    ASSERT_EQ(found[i], static_cast<int32_t>(at));
  }
}

TEST_F(Copies, OrdersOfNewArrays) {
  std::vector<int32_t> memory = {0, 1, 2, 3, 4, 5};
  const guf_array fortran = wrap(memory.data(), GUF_I32, {2, 3}, {4, 8});
  EXPECT_THAT(values<int32_t>(fortran), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(values<int32_t>(fortran, GUF_ORDER_F), ElementsAre(0, 1, 2, 3, 4, 5));
  const struct {
    int32_t order;
    int64_t first;
  } rows[] = {{GUF_ORDER_KEEP, 4}, {GUF_ORDER_ANY, 4}, {GUF_ORDER_F, 4}, {GUF_ORDER_C, 12}};
  for (const auto &row : rows) {
    guf_array copy = nullptr;
    expect(guf_array_copy(fortran, row.order, nullptr, &copy, &error_));
    EXPECT_EQ(info(keep(copy)).strides[0], row.first) << row.order;
    EXPECT_THAT(values<int32_t>(copy), ElementsAre(0, 2, 4, 1, 3, 5));
    EXPECT_TRUE(info(copy).flags & GUF_ARRAY_OWNS_DATA);
  }
}

TEST_F(Copies, CastsFollowOneRule) {
  double numbers[] = {1.9, -1.9, 300.5, -1e20, std::numeric_limits<double>::quiet_NaN()};
  const guf_array from = wrap(numbers, GUF_F64, {5});
  guf_array bytes = nullptr;
  expect(guf_array_astype(from, GUF_I8, GUF_CASTING_DEFAULT, GUF_ORDER_C, nullptr, &bytes, &error_),
         GUF_E_CASTING);
  EXPECT_STREQ(error_.message,
               "Cannot cast array data from dtype('float64') to dtype('int8') according to the "
               "rule 'same_kind'");
  EXPECT_EQ(bytes, nullptr);
  expect(guf_array_astype(from, GUF_I8, GUF_CASTING_UNSAFE, GUF_ORDER_C, nullptr, &bytes, &error_));
  EXPECT_THAT(values<int8_t>(keep(bytes)), ElementsAre(1, -1, 127, -128, 0));
  guf_array complex = nullptr;
  expect(
      guf_array_astype(bytes, GUF_C128, GUF_CASTING_SAFE, GUF_ORDER_C, nullptr, &complex, &error_));
  EXPECT_EQ(values<std::complex<double>>(keep(complex))[3], std::complex<double>(-128, 0));
}

TEST_F(Copies, SwappedAndUnalignedElementsComeOutNative) {
  unsigned char memory[] = {0xEE, 0x01, 0x02, 0x03, 0x04};
  const guf_array array = wrap(memory + 1, GUF_U16, {2}, {2}, GUF_TENSOR_SWAPPED);
  EXPECT_THAT(values<uint16_t>(array), ElementsAre(0x0102, 0x0304));
  guf_array copy = nullptr;
  expect(guf_array_copy(array, GUF_ORDER_KEEP, nullptr, &copy, &error_));
  EXPECT_FALSE(info(keep(copy)).flags & GUF_ARRAY_SWAPPED);
  EXPECT_THAT(values<uint16_t>(copy), ElementsAre(0x0102, 0x0304));
}

TEST_F(Copies, AssignBroadcastsOrReportsTheReason) {
  int32_t memory[6] = {};
  int32_t row[] = {7, 8, 9};
  const guf_array to = wrap(memory, GUF_I32, {2, 3});
  expect(guf_array_assign(to, wrap(row, GUF_I32, {1, 1, 3}), 0, nullptr, &error_));
  EXPECT_THAT(values<int32_t>(to), ElementsAre(7, 8, 9, 7, 8, 9));
  expect(guf_array_assign(to, wrap(row, GUF_I32, {2}), 0, nullptr, &error_), GUF_E_SHAPE);
  EXPECT_STREQ(error_.message, "could not broadcast input array from shape (2,) into shape (2,3)");
  const guf_array closed = wrap(memory, GUF_I32, {3}, {}, GUF_TENSOR_READ_ONLY);
  expect(guf_array_assign(closed, to, 0, nullptr, &error_), GUF_E_READ_ONLY);
  EXPECT_STREQ(error_.message, "assignment destination is read-only");
}

TEST_F(Copies, FillsTakeEveryScalar) {
  const guf_array floats = alloc(GUF_F32, {2, 2});
  guf_operand value = gufunc::weak_float_of(0.5);
  expect(guf_array_fill(floats, &value, nullptr, &error_));
  EXPECT_THAT(values<float>(floats), ElementsAre(0.5F, 0.5F, 0.5F, 0.5F));
  const guf_array bytes = alloc(GUF_I8, {3});
  value = {GUF_OPERAND_WEAK_INT_HUGE, 0, 0, 0, nullptr, nullptr, {~uint64_t{0}, 1}};
  expect(guf_array_fill(bytes, &value, nullptr, &error_), GUF_E_OVERFLOW);
  value.value[1] = 4;
  expect(guf_array_fill(bytes, &value, nullptr, &error_), GUF_E_ARG);
  value.value[1] = 2;
  expect(guf_array_fill(floats, &value, nullptr, &error_), GUF_E_OVERFLOW);
  value.value[1] = 1;
  expect(guf_array_fill(floats, &value, nullptr, &error_));
  EXPECT_THAT(values<float>(floats), testing::Each(-18446744073709551616.0F));
  value = {GUF_OPERAND_WEAK_INT, 0, 0, 0, nullptr, nullptr, {300, 0}};
  expect(guf_array_fill(bytes, &value, nullptr, &error_), GUF_E_OVERFLOW);
  EXPECT_STREQ(error_.message, "Python integer 300 out of bounds for int8");
  value = {GUF_OPERAND_SCALAR, GUF_BOOL, 0, 0, nullptr, nullptr, {1, 0}};
  expect(guf_array_fill(bytes, &value, nullptr, &error_));
  EXPECT_THAT(values<int8_t>(bytes), ElementsAre(1, 1, 1));
  expect(guf_array_fill(alloc(GUF_F64, {0, 5}), &value, nullptr, &error_));
}

TEST_F(Copies, ToDeviceChecksTheArrayItIsGiven) {
  int32_t memory[] = {1, 2, 3};
  const guf_array from = wrap(memory, GUF_I32, {3});
  guf_array made = nullptr;
  expect(guf_array_to_device(from, cpu_, nullptr, &made, &error_));
  EXPECT_EQ(info(keep(made)).device, cpu_);
  EXPECT_THAT(values<int32_t>(made), ElementsAre(1, 2, 3));
  guf_array given = alloc(GUF_I32, {2});
  expect(guf_array_to_device(from, cpu_, nullptr, &given, &error_), GUF_E_SHAPE);
  given = alloc(GUF_I64, {3});
  expect(guf_array_to_device(from, cpu_, nullptr, &given, &error_), GUF_E_DTYPE);
  given = alloc(GUF_I32, {3});
  const guf_array same = given;
  expect(guf_array_to_device(from, nullptr, nullptr, &given, &error_));
  EXPECT_EQ(given, same);
  EXPECT_THAT(values<int32_t>(given), ElementsAre(1, 2, 3));
}

TEST_F(Copies, AllocationTakesStridesThatDoNotOverlap) {
  const int64_t shape[] = {2, 3};
  const int64_t backwards[] = {-64, 16};
  guf_array array = nullptr;
  expect(guf_array_alloc(cpu_, GUF_F64, 2, shape, backwards, GUF_ORDER_C, &array, &error_));
  const guf_operand value = gufunc::weak_float_of(2.5);
  expect(guf_array_fill(keep(array), &value, nullptr, &error_));
  EXPECT_THAT(values<double>(array), testing::Each(2.5));
  // The byte offsets of the six elements are 0, 16, 32, 24, 40 and 56. They are distinct, although
  // the address ranges of the two rows overlap.
  const int64_t woven[] = {24, 16};
  expect(guf_array_alloc(cpu_, GUF_F64, 2, shape, woven, GUF_ORDER_C, &array, &error_));
  keep(array);
  const int64_t crossing[] = {16, 16};
  expect(guf_array_alloc(cpu_, GUF_F64, 2, shape, crossing, GUF_ORDER_C, &array, &error_),
         GUF_E_SHAPE);
}

TEST_F(Copies, PrintReportsTheRequiredLength) {
  double memory[] = {1, 2};
  const guf_array array = wrap(memory, GUF_F64, {2});
  uint64_t length = 0;
  expect(guf_array_print(array, nullptr, &length, &error_), GUF_E_BUFFER_TOO_SMALL);
  std::string text(length, '?');
  uint64_t capacity = length - 1;
  expect(guf_array_print(array, text.data(), &capacity, &error_), GUF_E_BUFFER_TOO_SMALL);
  EXPECT_EQ(text, std::string(length, '?'));
  EXPECT_EQ(capacity, length);
  expect(guf_array_print(array, text.data(), &length, &error_));
  EXPECT_STREQ(text.c_str(), "[1. 2.]\nshape (2,), float64, cpu");
}

}  // namespace
