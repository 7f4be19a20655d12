// SPDX-License-Identifier: Apache-2.0
#include "bench_workload.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "call_parts.h"

namespace gufunc::cli {
namespace {

// Elements of a pattern. A prime, so that it does not align with extents and strides.
constexpr int64_t kPattern = 65521;

ArrayHandle new_array(guf_device device, guf_dtype dtype, const std::vector<int64_t> &shape) {
  ArrayHandle array;
  Call call;
  call.check(guf_array_alloc(device, dtype, static_cast<int32_t>(shape.size()), shape.data(),
                             nullptr, GUF_ORDER_C, array.out(), call.error()));
  return array;
}

guf_array_info array_info(const ArrayHandle &array) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_array_get_info(array.get(), &info, call.error()));
  return info;
}

// Returns memory of `device` that repeats the pattern.
ArrayHandle filled(guf_device device, const BenchOperand &operand) {
  guf_device host = device_of("cpu");
  ArrayHandle memory = new_array(host, operand.dtype, {operand.size});
  const guf_array_info info = array_info(memory);
  auto *const to = reinterpret_cast<std::byte *>(info.address);
  for (uint64_t done = 0; done < info.nbytes; done += operand.pattern.size()) {
    std::memcpy(to + done, operand.pattern.data(),
                std::min<uint64_t>(operand.pattern.size(), info.nbytes - done));
  }
  if (device == host) return memory;
  ArrayHandle moved;
  Call call;
  call.check(guf_array_to_device(memory.get(), device, nullptr, moved.out(), call.error()));
  return moved;
}

// Returns an array that uses the memory as an operand.
ArrayHandle view_of(const BenchOperand &operand, const ArrayHandle &memory) {
  const guf_array_info info = array_info(memory);
  std::vector<int64_t> strides = operand.strides;
  for (int64_t &step : strides) step *= static_cast<int64_t>(itemsize_of(operand.dtype));
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = operand.dtype;
  tensor.ndim = static_cast<int32_t>(operand.shape.size());
  tensor.address = info.address;
  tensor.shape = operand.shape.data();
  tensor.strides = strides.data();
  tensor.device = info.device;
  Call call;
  ArrayHandle view;
  call.check(guf_array_wrap(&tensor, nullptr, nullptr, 0, view.out(), call.error()));
  return view;
}

guf_operand array_operand(const ArrayHandle &array) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_ARRAY;
  operand.array = array.get();
  return operand;
}

}  // namespace

BenchWorkload::BenchWorkload(guf_ufunc ufunc, const guf_ufunc_info &info, const BenchCase &row,
                             const BenchPlan &plan)
    : ufunc_(ufunc),
      row_(row),
      device_(device_of(row.device)),
      inputs_(inputs_of(row, plan, info)),
      outputs_(outputs_of(ufunc, row, plan, info)),
      arguments_(row, plan, info) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    BenchOperand &input = inputs_[i];
    const ValueRange values =
        plan.values.value_or(default_values(info.name, row.method, input.dtype));
    if (i == 0) values_ = values;
    input.pattern = random_values(info_of(input.dtype), values, std::min(input.size, kPattern), i);
    ArrayHandle memory = filled(device_, input);
    ArrayHandle view = view_of(input, memory);
    arguments_.set_input(i, array_operand(view));
    arrays_.push_back(std::move(memory));
    arrays_.push_back(std::move(view));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    arrays_.push_back(new_array(device_, outputs_[i].dtype, outputs_[i].shape));
    arguments_.set_output(i, array_operand(arrays_.back()));
  }
}

// The error record of a call is not created again for each call.
double BenchWorkload::sample(int64_t calls) {
  Call result;
  const auto run = [&](int64_t count) {
    result.check(arguments_.call(ufunc_, count, result.error()));
    result.check(guf_device_synchronize(device_, UINT64_MAX, result.error()));
  };
  run(1);
  const auto start = std::chrono::steady_clock::now();
  run(calls);
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

int64_t BenchWorkload::elements() const {
  return std::accumulate(row_.shape.begin(), row_.shape.end(), int64_t{1}, std::multiplies<>());
}

uint64_t BenchWorkload::bytes() const {
  return moved_bytes(inputs_, outputs_);
}

uint32_t BenchWorkload::threads() const {
  const guf_request request = arguments_.request();
  return most_threads(text_of([&](char *to, uint64_t *length, guf_error *error) {
    return guf_explain(ufunc_, &request, to, length, error);
  }));
}

}  // namespace gufunc::cli
