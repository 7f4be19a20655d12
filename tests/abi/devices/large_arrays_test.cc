// SPDX-License-Identifier: Apache-2.0
// Tests arrays of more than 2^31 and more than 2^32 elements. The simulated drivers run only the
// first and the last blocks of a grid (GUFUNC_SIM_EDGES), and the system allocates no memory for
// pages that are never accessed. A kernel computes the addresses of the last items in the same way
// as all other addresses.
#include <numeric>

#include "device_fixture.h"

namespace device_test {
namespace {

constexpr int64_t kMany = (int64_t{1} << 32) + 77;
// kRows * kColumns is also more than 2^32.
constexpr int64_t kRows = (int64_t{1} << 17) + 3, kColumns = (int64_t{1} << 15) + 5;
constexpr int64_t kTail = 40;

using Bytes = std::vector<uint8_t>;

class LargeArrays : public Devices {
 protected:
  guf_array of_bytes(std::vector<int64_t> shape) {
    return empty(device_, std::move(shape), GUF_U8);
  }

  // Returns a view of the last elements along each axis. `extent` is the shape of the view.
  guf_array corner(guf_array array, std::vector<int64_t> extent) {
    for (int64_t &n : extent) n = -n;
    guf_array made = nullptr;
    const std::vector<int64_t> stop(extent.size(), INT64_MAX), step(extent.size(), 1);
    EXPECT_EQ(guf_array_slice(array, static_cast<int32_t>(extent.size()), extent.data(),
                              stop.data(), step.data(), &made, &error_),
              GUF_OK)
        << error_.message;
    return keep(made);
  }
  guf_array every_second(guf_array array) {
    guf_array made = nullptr;
    const int64_t start = 0, stop = INT64_MAX, step = 2;
    EXPECT_EQ(guf_array_slice(array, 1, &start, &stop, &step, &made, &error_), GUF_OK)
        << error_.message;
    return keep(made);
  }
  guf_array transposed(guf_array array) {
    guf_array made = nullptr;
    EXPECT_EQ(guf_array_transpose(array, 0, nullptr, &made, &error_), GUF_OK) << error_.message;
    return keep(made);
  }

  void write(guf_array to, const Bytes &bytes, std::vector<int64_t> shape) {
    gufunc::Operands operands;
    const gufunc::View view = {GUF_U8, bytes.data(), std::move(shape), {}, 0};
    guf_array host = nullptr, moved = nullptr;
    EXPECT_EQ(guf_array_wrap(operands.tensor(view)->tensor, nullptr, nullptr, 0, &host, &error_),
              GUF_OK);
    EXPECT_EQ(guf_array_to_device(host, device_, nullptr, &moved, &error_), GUF_OK);
    EXPECT_EQ(guf_array_assign(to, moved, GUF_CASTING_DEFAULT, nullptr, &error_), GUF_OK)
        << error_.message;
    EXPECT_EQ(guf_device_synchronize(device_, UINT64_MAX, &error_), GUF_OK) << error_.message;
    guf_array_release(host, nullptr);
    keep(moved);
  }
  Bytes read(guf_array array, size_t count) {
    Bytes bytes(count, 255);
    EXPECT_EQ(guf_array_copy_to_host(array, bytes.data(), count, GUF_ORDER_C, nullptr, &error_),
              GUF_OK)
        << error_.message;
    return bytes;
  }
  void add(guf_array a, guf_array b, guf_array out) {
    EXPECT_EQ(call("add", {operand_of(a), operand_of(b)}, operand_of(out), stream_), GUF_OK)
        << error_.message;
    synchronize(stream_);
  }

  static Bytes numbers() {
    Bytes made(kTail);
    std::iota(made.begin(), made.end(), uint8_t{1});
    return made;
  }
  static Bytes doubled() {
    Bytes made = numbers();
    for (uint8_t &n : made) n = static_cast<uint8_t>(2 * n);
    return made;
  }

  const guf_device device_ = device(0);
  const guf_stream stream_ = stream(device_);
};

TEST_P(LargeArrays, InARow) {
  const guf_array x = of_bytes({kMany}), sum = of_bytes({kMany});
  write(corner(x, {kTail}), numbers(), {kTail});
  add(x, x, sum);
  EXPECT_EQ(read(corner(sum, {kTail}), kTail), doubled());
}

TEST_P(LargeArrays, WithStrides) {
  const guf_array x = of_bytes({2 * kMany}), sum = of_bytes({kMany});
  write(corner(every_second(x), {kTail}), numbers(), {kTail});
  add(every_second(x), every_second(x), sum);
  EXPECT_EQ(read(corner(sum, {kTail}), kTail), doubled());
}

TEST_P(LargeArrays, InSeveralDimensions) {
  const guf_array x = of_bytes({kColumns, kRows}), y = of_bytes({kRows, kColumns});
  const guf_array sum = of_bytes({kRows, kColumns});
  write(corner(transposed(x), {1, kTail}), numbers(), {1, kTail});
  write(corner(y, {1, kTail}), numbers(), {1, kTail});
  add(transposed(x), y, sum);
  EXPECT_EQ(read(corner(sum, {1, kTail}), kTail), doubled());
}

TEST_P(LargeArrays, InShortRows) {
  constexpr int64_t kShort = kMany / 3 + 50;
  const guf_array x = of_bytes({kShort, 4}), sum = of_bytes({kShort, 3});
  const guf_array three = corner(x, {kShort, 3});
  Bytes some = numbers(), expected = doubled();
  some.resize(30);
  expected.resize(30);
  write(corner(three, {10, 3}), some, {10, 3});
  add(three, three, sum);
  EXPECT_EQ(read(corner(sum, {10, 3}), 30), expected);
}

TEST_P(LargeArrays, Copied) {
  const guf_array x = of_bytes({2 * kMany}), to = of_bytes({kMany});
  write(corner(every_second(x), {kTail}), numbers(), {kTail});
  EXPECT_EQ(guf_array_assign(to, every_second(x), GUF_CASTING_DEFAULT, stream_, &error_), GUF_OK)
      << error_.message;
  synchronize(stream_);
  EXPECT_EQ(read(corner(to, {kTail}), kTail), numbers());
}

TEST_P(LargeArrays, CopiedTransposed) {
  const guf_array x = of_bytes({kColumns, kRows}), to = of_bytes({kRows, kColumns});
  write(corner(transposed(x), {1, kTail}), numbers(), {1, kTail});
  EXPECT_EQ(guf_array_assign(to, transposed(x), GUF_CASTING_DEFAULT, stream_, &error_), GUF_OK)
      << error_.message;
  synchronize(stream_);
  EXPECT_EQ(read(corner(to, {1, kTail}), kTail), numbers());
}

TEST_P(LargeArrays, ComparedAndCast) {
  const guf_array x = of_bytes({kMany}), wide = empty(device_, {kMany}, GUF_U16);
  write(corner(x, {kTail}), numbers(), {kTail});
  EXPECT_EQ(call("square", {operand_of(x)}, operand_of(wide), stream_), GUF_OK) << error_.message;
  synchronize(stream_);
  const guf_array narrow = of_bytes({kMany});
  EXPECT_EQ(guf_array_assign(narrow, wide, GUF_CASTING_UNSAFE, stream_, &error_), GUF_OK)
      << error_.message;
  synchronize(stream_);
  Bytes expected = numbers();
  for (uint8_t &n : expected) n = static_cast<uint8_t>(n * n);
  EXPECT_EQ(read(corner(narrow, {kTail}), kTail), expected);
}

INSTANTIATE_TEST_SUITE_P(On, LargeArrays, testing::Values("cuda", "roc"), name_of);

}  // namespace
}  // namespace device_test
