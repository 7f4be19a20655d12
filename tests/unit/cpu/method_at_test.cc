// SPDX-License-Identifier: Apache-2.0
// Compares `at` with element-by-element updates. Duplicate indices are applied repeatedly, in
// order.
#include <algorithm>
#include <cstring>

#include "backends/cpu/loops/dtype_layout.h"
#include "tests/unit/cpu/cpu_fixture.h"
#include "tests/unit/cpu/method_case.h"

namespace gufunc::cpu {
namespace {

struct Row {
  const char *name;
  const char *function;
  guf_dtype dtype, array, operand;
  int64_t places, nindices;
  bool swapped = false, odd = false, unary = false;
  std::vector<int64_t> kept;  // extents of the dimensions after the indexed axis
};
void PrintTo(const Row &row, std::ostream *out) {
  *out << row.name;
}

const Row kRows[] = {
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
  Elements(int64_t count, guf_dtype dtype, const Row &row, std::mt19937 &random)
      : dtype_(dtype), swapped_(row.swapped), size_(dtype_size(dtype)) {
    bytes_.resize(static_cast<size_t>(count * size_ + 1));
    first_ = row.odd ? 1 : 0;
    for (int64_t i = 0; i < count; ++i) {
      Value number = {static_cast<unsigned char>(random() % 7)};
      put(i * size_, converted(number, GUF_U8, dtype));
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
    const auto unit = static_cast<int64_t>(dtype_swap_bytes(dtype_));
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
void fold_one_by_one(const Row &row, const MethodLoop &loop, const std::vector<int64_t> &indices,
                     const Elements &operand, Elements *right) {
  int64_t items = 1;
  for (const int64_t size : row.kept) items *= size;
  for (int64_t i = 0; i < row.nindices; ++i) {
    for (int64_t k = 0; k < items; ++k) {
      const int64_t at = indices[static_cast<size_t>(i)] + k * right->size();
      Value a = converted(right->get(at), row.array, row.dtype), out = {};
      Value b = converted(operand.get((i * items + k) * operand.size()), row.operand, row.dtype);
      char *args[3] = {reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(b.data()),
                       reinterpret_cast<char *>(out.data())};
      if (row.unary) args[1] = args[2];
      const int64_t one = 1, steps[3] = {16, 16, 16};
      reinterpret_cast<guf_loop_numpy>(loop.kernel)(args, &one, steps, nullptr);
      right->put(at, converted(out, row.dtype, row.array));
    }
  }
}

class At : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() { cpu(); }
};

TEST_P(At, IsOneAfterTheOther) {
  const Row &row = GetParam();
  std::mt19937 random(3);
  int64_t items = 1;
  for (const int64_t size : row.kept) items *= size;
  Elements array(row.places * items, row.array, row, random);
  Elements operand(std::max<int64_t>(row.nindices * items, 1), row.operand, row, random);
  std::vector<int64_t> indices, operand_indices;
  for (int64_t i = 0; i < row.nindices; ++i) {
    indices.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(row.places)) * items *
                      array.size());
    operand_indices.push_back(i * items * operand.size());
  }
  const MethodLoop loop = find_method_loop(row.function, row.dtype, row.unary);
  guf_method_block block = {};
  block.method = GUF_METHOD_AT;
  block.flags = GUF_METHOD_ANY_THREAD;
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
  fold_one_by_one(row, loop, indices, operand, &right);
  const Elements before = array;
  for (void *const fold : {static_cast<void *>(nullptr), loop.fold}) {
    array = before;
    block.output = array.address();
    guf_backend_method method = {};
    method.kernel = loop.kernel;
    method.fold = fold;
    method.block = &block;
    guf_error error = fresh_error();
    ASSERT_EQ(cpu().method(cpu_device(), &method, &error), GUF_OK) << error.message;
    EXPECT_EQ(array == right, true) << (fold == nullptr ? "the loop" : "the fold entry");
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, At, testing::ValuesIn(kRows),
                         [](const auto &row) { return row.param.name; });

}  // namespace
}  // namespace gufunc::cpu
