// SPDX-License-Identifier: Apache-2.0
// Provides methods that are called through the C ABI on memory that the test owns.
#ifndef GUFUNC_TESTS_UNIT_METHOD_METHOD_FIXTURE_H
#define GUFUNC_TESTS_UNIT_METHOD_METHOD_FIXTURE_H

#include "tests/unit/call/call_fixture.h"

namespace gufunc {

// Returns the elements of an allocated output in C order.
template <class T>
std::vector<T> elements_of(const guf_operand &output) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(output.array, &info, nullptr), GUF_OK);
  std::vector<T> values(info.size);
  EXPECT_EQ(guf_array_copy_to_host(output.array, values.data(), values.size() * sizeof(T),
                                   GUF_ORDER_C, nullptr, nullptr),
            GUF_OK);
  return values;
}

inline guf_array_info info_of(const guf_operand &output) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(guf_array_get_info(output.array, &info, nullptr), GUF_OK);
  return info;
}

// A call of a reduction method: its arguments, operands and output.
template <class Args>
struct Fold : Operands {
  explicit Fold(const char *ufunc, const View &input) : handle(find_ufunc(ufunc)) { start(input); }
  Fold(guf_ufunc ufunc, const View &input) : handle(ufunc) { start(input); }
  Fold(const Fold &) = delete;
  Fold &operator=(const Fold &) = delete;
  ~Fold() {
    if (output.kind == GUF_OPERAND_ARRAY) guf_array_release(output.array, nullptr);
  }
  void into(const View &view) { output = *tensor(view); }

  guf_ufunc handle;
  Args args = {};
  guf_operand output = {};
  guf_error error = fresh_error();

 private:
  void start(const View &input) {
    args.struct_size = sizeof args;
    args.input = tensor(input);
    args.output = &output;
  }
};

struct Reduce : Fold<guf_reduce_args> {
  using Fold::Fold;
  void axes(std::vector<int64_t> list) {
    axes_ = std::move(list);
    axes_.reserve(1);
    args.axis = axes_.data();
    args.naxis = static_cast<int32_t>(axes_.size());
  }
  guf_status run() { return guf_reduce(handle, &args, &error); }

 private:
  std::vector<int64_t> axes_;
};

struct Accumulate : Fold<guf_accumulate_args> {
  using Fold::Fold;
  guf_status run() { return guf_accumulate(handle, &args, &error); }
  guf_status run_at(const View &indices) {
    args.indices = tensor(indices);
    return guf_reduceat(handle, &args, &error);
  }
};

struct At : Operands {
  At(const char *ufunc, const View &array) : handle(find_ufunc(ufunc)) {
    args.struct_size = sizeof args;
    args.array = tensor(array);
  }
  void index(const View &view) {
    indices_.push_back(*tensor(view));
    args.indices = indices_.data();
    args.nindices = static_cast<int32_t>(indices_.size());
  }
  void with(const View &view) { args.operand = tensor(view); }
  guf_status run() { return guf_at(handle, &args, &error); }

  guf_ufunc handle;
  guf_at_args args = {};
  guf_error error = fresh_error();

 private:
  std::vector<guf_operand> indices_;
};

template <class T>
View matrix(guf_dtype dtype, const std::vector<T> &data, int64_t rows, int64_t columns) {
  return {dtype, data.data(), {rows, columns}, {}, 0};
}

// Operands of several calls. A failing call must leave the results unchanged.
struct MethodOperands {
  std::vector<double> data = std::vector<double>(24, 1.0);
  std::vector<double> result = std::vector<double>(24, 7.0);
  std::vector<uint8_t> mask = std::vector<uint8_t>(24, 1);
  std::vector<int64_t> indices = {0, 4};

  View input(std::vector<int64_t> shape) const {
    return {GUF_F64, data.data(), std::move(shape), {}, 0};
  }
  View output(std::vector<int64_t> shape) const {
    return {GUF_F64, result.data(), std::move(shape), {}, 0};
  }
  View where(std::vector<int64_t> shape) const {
    return {GUF_BOOL, mask.data(), std::move(shape), {}, 0};
  }
};

}  // namespace gufunc

#endif  // GUFUNC_TESTS_UNIT_METHOD_METHOD_FIXTURE_H
