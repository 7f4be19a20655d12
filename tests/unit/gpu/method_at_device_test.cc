// SPDX-License-Identifier: Apache-2.0
// Compares `at` on device entries with element-by-element updates. Duplicate indices are applied
// repeatedly, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "backends/gpu/geometry/element_cast.h"
#include "backends/gpu/geometry/method_queue.h"
#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/cpu/method_case.h"
#include "tests/unit/gpu/fold_loops.h"

namespace gufunc::gpu {
namespace {

using cpu::Value;

struct AtRow {
  const char *name;
  const char *function;
  guf_dtype dtype, array, operand;
  int64_t places, nindices;
  bool swapped = false, odd = false, unary = false;
  std::vector<int64_t> kept = {};  // extents of the dimensions after the indexed axis
};
void PrintTo(const AtRow &row, std::ostream *out) {
  *out << row.name;
}

const AtRow kRows[] = {
    {"Few", "add", GUF_F32, GUF_F32, GUF_F32, 10, 20},
    {"ManyOfFew", "add", GUF_F64, GUF_F64, GUF_F64, 3, 5000},
    {"One", "add", GUF_I64, GUF_I64, GUF_I64, 1, 1000},
    {"Sparse", "add", GUF_F32, GUF_F32, GUF_F32, 100000, 3000},
    {"Order", "subtract", GUF_F32, GUF_F32, GUF_F32, 50, 4000},
    {"Cast", "add", GUF_F64, GUF_I32, GUF_F32, 40, 3000},
    {"Half", "multiply", GUF_F16, GUF_F16, GUF_U8, 40, 700},
    {"Wide", "add", GUF_C128, GUF_C128, GUF_C64, 300, 2000},
    {"Narrow", "maximum", GUF_U8, GUF_U8, GUF_U8, 300, 2000},
    {"Swapped", "add", GUF_I32, GUF_I32, GUF_I32, 300, 2000, true},
    {"Unaligned", "subtract", GUF_F64, GUF_F64, GUF_F64, 300, 2000, false, true},
    {"Unary", "negative", GUF_I16, GUF_I16, GUF_I16, 20, 501, false, false, true},
    {"Rows", "subtract", GUF_F32, GUF_F32, GUF_F32, 9, 400, false, false, false, {70}},
    {"CastRows", "add", GUF_F32, GUF_F16, GUF_I8, 9, 400, true, true, false, {5, 3}},
    {"UnaryRows", "negative", GUF_F64, GUF_F64, GUF_F64, 9, 77, false, false, true, {4}},
    {"NoRows", "add", GUF_F64, GUF_F64, GUF_F64, 9, 77, false, false, false, {0}},
    {"NoIndices", "add", GUF_F64, GUF_F64, GUF_F64, 9, 0},
};

// Elements with small integers as values, which every dtype can represent.
class Elements {
 public:
  Elements(int64_t count, guf_dtype dtype, const AtRow &row, std::mt19937 &random)
      : dtype_(dtype), swapped_(row.swapped), size_(dtype_size(dtype)) {
    bytes_.resize(static_cast<size_t>(count * size_ + 1));
    first_ = row.odd ? 1 : 0;
    for (int64_t i = 0; i < count; ++i) {
      const Value number = {static_cast<unsigned char>(random() % 7)};
      put(i * size_, cpu::converted(number, GUF_U8, dtype));
    }
  }
  Value get(int64_t at) const {
    Value value = {};
    std::memcpy(value.data(), bytes_.data() + place(at), static_cast<size_t>(size_));
    swap(&value);
    return value;
  }
  void put(int64_t at, Value value) {
    swap(&value);
    std::memcpy(bytes_.data() + place(at), value.data(), static_cast<size_t>(size_));
  }
  int64_t size() const { return size_; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_.data()) + first_; }
  bool operator==(const Elements &other) const { return bytes_ == other.bytes_; }

 private:
  size_t place(int64_t at) const { return first_ + static_cast<size_t>(at); }
  void swap(Value *value) const {
    const int64_t unit = dtype_ == GUF_C64 || dtype_ == GUF_C128 ? size_ / 2 : size_;
    for (int64_t at = 0; swapped_ && at < size_; at += unit) {
      std::reverse(value->begin() + at, value->begin() + at + unit);
    }
  }
  guf_dtype dtype_;
  bool swapped_;
  int64_t size_;
  std::vector<unsigned char> bytes_;
  size_t first_ = 0;
};

// Computes array[index] = array[index] op operand, element by element.
void fold_one_by_one(const AtRow &row, const std::vector<int64_t> &indices, const Elements &operand,
                     int64_t items, Elements *right) {
  const cpu::MethodLoop loop = cpu::find_method_loop(row.function, row.dtype, row.unary);
  for (int64_t i = 0; i < row.nindices; ++i) {
    for (int64_t k = 0; k < items; ++k) {
      const int64_t at = indices[static_cast<size_t>(i)] + k * right->size();
      Value a = cpu::converted(right->get(at), row.array, row.dtype), out = {};
      Value b =
          cpu::converted(operand.get((i * items + k) * operand.size()), row.operand, row.dtype);
      char *args[3] = {reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(b.data()),
                       reinterpret_cast<char *>(out.data())};
      if (row.unary) args[1] = args[2];
      const int64_t one = 1, steps[3] = {16, 16, 16};
      reinterpret_cast<guf_loop_numpy>(loop.kernel)(args, &one, steps, nullptr);
      right->put(at, cpu::converted(out, row.dtype, row.array));
    }
  }
}

class DeviceAt : public testing::TestWithParam<AtRow> {
 protected:
  static void SetUpTestSuite() { cpu::cpu(); }
};

TEST_P(DeviceAt, IsOneAfterTheOther) {
  const AtRow &row = GetParam();
  std::mt19937 random(3);
  int64_t items = 1;
  for (const int64_t size : row.kept) items *= size;
  Elements array(row.places * items, row.array, row, random);
  const Elements operand(std::max<int64_t>(row.nindices * items, 1), row.operand, row, random);
  std::vector<int64_t> indices, operand_indices;
  for (int64_t i = 0; i < row.nindices; ++i) {
    indices.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(row.places)) * items *
                      array.size());
    operand_indices.push_back(i * items * operand.size());
  }
  guf_method_block block = {};
  block.method = GUF_METHOD_AT;
  block.items = static_cast<uint64_t>(items);
  block.nkept = static_cast<int32_t>(row.kept.size());
  int64_t distance = 1;
  for (size_t d = 0; d < row.kept.size(); ++d) {
    block.kept_size[d] = row.kept[d];
    block.kept_input_step[d] = distance * operand.size();
    block.kept_output_step[d] = distance * array.size();
    distance *= row.kept[d];
  }
  block.indices = indices.data();
  block.operand_indices = operand_indices.data();
  block.nindices = row.nindices;
  block.input = row.unary ? 0 : operand.address();
  block.output = array.address();
  block.input_dtype = row.operand;
  block.output_dtype = row.array;
  block.loop_dtype = row.dtype;
  block.input_flags = block.output_flags =
      (row.swapped ? uint32_t{GUF_LAUNCH_OPERAND_SWAPPED} : 0) |
      (row.odd ? uint32_t{GUF_LAUNCH_OPERAND_UNALIGNED} : 0);

  Elements right = array;
  fold_one_by_one(row, indices, operand, items, &right);
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink commands(fold_loop(row.function, row.dtype));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  EXPECT_EQ(array == right, true);
}
// The sum is converted to the dtype of the array at every step. Adding 0.75 to an integer array
// therefore never changes the array.
TEST(DeviceAtOfOneElement, GoesThroughTheArraysDtypeAtEveryStep) {
  int32_t array = 2;
  const std::vector<float> data(5, 0.75f);
  const std::vector<int64_t> places(5, 0), operands = {0, 4, 8, 12, 16};
  guf_method_block block = {};
  block.method = GUF_METHOD_AT;
  block.items = 1;
  block.indices = places.data();
  block.operand_indices = operands.data();
  block.nindices = 5;
  block.input = reinterpret_cast<uint64_t>(data.data());
  block.output = reinterpret_cast<uint64_t>(&array);
  block.input_dtype = GUF_F32;
  block.output_dtype = GUF_I32;
  block.loop_dtype = GUF_F64;
  guf_backend_method method = {};
  method.block = &block;
  guf_error error = fresh_error();
  HostSink commands(fold_loop("add", GUF_F64));
  ASSERT_EQ(queue_method(method, commands, &error), GUF_OK) << error.message;
  EXPECT_EQ(array, 2);
}
INSTANTIATE_TEST_SUITE_P(Rows, DeviceAt, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

}  // namespace
}  // namespace gufunc::gpu
