// SPDX-License-Identifier: Apache-2.0
#include "bench_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <utility>

#include "call_parts.h"
#include "type_keywords.h"

namespace gufunc::cli {
namespace {

// Elements of a pattern. A prime, so that it does not align with extents and strides.
constexpr int64_t kPattern = 65521;

int64_t product(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> c_strides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

std::vector<int64_t> fortran_strides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = 1; axis < shape.size(); ++axis)
    strides[axis] = strides[axis - 1] * shape[axis - 1];
  return strides;
}

// Returns the size of core dimension `number`: fixed, or given by --dim.
std::vector<int64_t> core_sizes(const BenchPlan &plan, const guf_ufunc_info &info) {
  std::vector<int64_t> sizes;
  const std::vector<std::string> names = core_dimensions(info.signature);
  size_t next = 0;
  for (int32_t number = 0; number < info.ncore; ++number) {
    int64_t size = info.core_sizes[number];
    if (size < 0 && next < names.size()) {
      const std::string &name = names[next++];
      size = std::find_if(plan.dims.begin(), plan.dims.end(), [&](const auto &dim) {
               return dim.first == name;
             })->second;
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Returns the shape of operand `index` of a call: the loop, then the core dimensions.
std::vector<int64_t> shape_of_operand(size_t index, const BenchCase &row, const BenchPlan &plan,
                                      const guf_ufunc_info &info) {
  std::vector<int64_t> shape = row.shape;
  if (row.method != "call" || info.ncore == 0) return shape;
  const std::vector<int64_t> sizes = core_sizes(plan, info);
  const int32_t *next = info.core_dims;
  for (size_t i = 0; i < index; ++i) next += info.core_ndim[i];
  for (int32_t axis = 0; axis < info.core_ndim[index]; ++axis)
    shape.push_back(sizes[static_cast<size_t>(next[axis])]);
  return shape;
}

// Returns the view of input `index`, and the size of its memory.
BenchOperand view_of(guf_dtype dtype, std::vector<int64_t> shape, const std::string &layout,
                     bool first, bool last) {
  BenchOperand view;
  view.dtype = dtype;
  view.shape = std::move(shape);
  view.strides = c_strides(view.shape);
  view.size = product(view.shape);
  if (layout == "strided") {
    for (int64_t &step : view.strides) step *= 2;
    view.size *= 2;
  } else if (layout == "broadcast" && !first) {
    std::fill(view.strides.begin(), view.strides.end() - 1, 0);
    view.size = view.shape.back();
  } else if (layout == "transposed" && last) {
    view.strides = fortran_strides(view.shape);
  }
  return view;
}

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

}  // namespace

std::vector<BenchOperand> inputs_of(const BenchCase &row, const BenchPlan &plan,
                                    const guf_ufunc_info &info) {
  std::vector<BenchOperand> inputs;
  const size_t count = row.method == "call" ? static_cast<size_t>(info.nin) : 1;
  for (size_t i = 0; i < count; ++i) {
    const guf_dtype dtype = row.method == "call" ? row.loop[i] : row.dtype;
    inputs.push_back(
        view_of(dtype, shape_of_operand(i, row, plan, info), row.layout, i == 0, i + 1 == count));
  }
  return inputs;
}

double operand_bytes(const BenchCase &row, const BenchPlan &plan, const guf_ufunc_info &info) {
  const auto bytes_of_shape = [](const std::vector<int64_t> &shape, guf_dtype dtype) {
    double bytes = itemsize_of(dtype);
    for (const int64_t extent : shape) bytes *= static_cast<double>(std::max<int64_t>(extent, 1));
    return bytes;
  };
  double bytes = 0;
  const auto nin = static_cast<size_t>(info.nin), nout = static_cast<size_t>(info.nout);
  for (size_t i = 0; i < (row.method == "call" ? nin + nout : 1); ++i) {
    const guf_dtype dtype = row.method == "call" ? row.loop[i] : row.dtype;
    const double own = bytes_of_shape(shape_of_operand(i, row, plan, info), dtype);
    const bool doubled = row.layout == "strided" && i < nin;
    bytes += doubled ? 2 * own : own;
  }
  if (row.method == "accumulate") bytes += bytes_of_shape(row.shape, row.dtype);
  return bytes;
}

BenchWorkload::BenchWorkload(guf_ufunc ufunc, const guf_ufunc_info &info, const BenchCase &row,
                             const BenchPlan &plan)
    : ufunc_(ufunc), row_(row), device_(device_of(row.device)) {
  for (BenchOperand &input : inputs_of(row, plan, info)) {
    const ValueRange values =
        plan.values.value_or(default_values(info.name, row.method, input.dtype));
    if (inputs_.empty()) values_ = values;
    add_input(std::move(input), values);
  }
  const std::string signature = info.signature;
  const size_t arrow = std::min(signature.find("->"), signature.size());
  const std::vector<std::string> of_inputs = core_dimensions(signature.substr(0, arrow));
  for (const auto &[name, size] : plan.dims) {
    if (std::find(of_inputs.begin(), of_inputs.end(), name) != of_inputs.end()) continue;
    dim_names_.push_back(name);
    dims_.push_back({dim_names_.back().c_str(), size});
  }
  output_operands_.resize(row.method == "call" ? static_cast<size_t>(info.nout) : 1);
  call_.struct_size = sizeof call_;
  call_.inputs = input_operands_.data();
  call_.ninputs = static_cast<int32_t>(input_operands_.size());
  call_.outputs = output_operands_.data();
  call_.noutputs = static_cast<int32_t>(output_operands_.size());
  call_.dims = dims_.data();
  call_.ndims = static_cast<int32_t>(dims_.size());
  call_.options.device = device_;
  call_.options.threads = row.threads;
  axis_ = plan.axis.value_or(0);
  reduce_.struct_size = sizeof reduce_;
  reduce_.input = input_operands_.data();
  reduce_.output = output_operands_.data();
  reduce_.axis = &axis_;
  reduce_.naxis = plan.axis ? 1 : GUF_ALL_AXES;
  reduce_.options = call_.options;
  accumulate_.struct_size = sizeof accumulate_;
  accumulate_.input = input_operands_.data();
  accumulate_.output = output_operands_.data();
  accumulate_.axis = axis_;
  accumulate_.options = call_.options;
  resolve();
}

void BenchWorkload::add_input(BenchOperand input, const ValueRange &values) {
  input.pattern =
      random_values(info_of(input.dtype), values, std::min(input.size, kPattern), inputs_.size());
  add_view(input, filled(device_, input));
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_ARRAY;
  operand.array = arrays_.back().get();
  input_operands_.push_back(operand);
  inputs_.push_back(std::move(input));
}

// Keeps the memory and a view of it.
void BenchWorkload::add_view(const BenchOperand &operand, ArrayHandle memory) {
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
  arrays_.push_back(std::move(memory));
  arrays_.push_back(std::move(view));
}

// Allocates the outputs. The library determines their dtypes and shapes.
void BenchWorkload::resolve() {
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  Call call;
  const guf_request asked = request();
  call.check(guf_resolve(ufunc_, &asked, &resolution, call.error()),
             fmt::format("--dtype {}: ", guf_dtype_name(row_.dtype)));
  for (size_t i = 0; i < output_operands_.size(); ++i) {
    const int64_t *const shape = resolution.output_shapes[i];
    const size_t operand = row_.method == "call" ? inputs_.size() + i : 0;
    add_output(resolution.dtypes[operand], {shape, shape + resolution.output_ndims[i]});
    output_operands_[i].kind = GUF_OPERAND_ARRAY;
    output_operands_[i].array = arrays_.back().get();
  }
}

void BenchWorkload::add_output(guf_dtype dtype, std::vector<int64_t> shape) {
  BenchOperand output;
  output.dtype = dtype;
  output.size = product(shape);
  output.strides = c_strides(shape);
  arrays_.push_back(new_array(device_, dtype, shape));
  output.shape = std::move(shape);
  outputs_.push_back(std::move(output));
}

guf_request BenchWorkload::request() const {
  if (row_.method == "call") return request_of(GUF_OPERATION_CALL, call_);
  if (row_.method == "reduce") return request_of(GUF_OPERATION_REDUCE, reduce_);
  return request_of(GUF_OPERATION_ACCUMULATE, accumulate_);
}

void BenchWorkload::call() {
  Call result;
  if (row_.method == "call") {
    result.check(guf_call(ufunc_, &call_, result.error()));
  } else if (row_.method == "reduce") {
    result.check(guf_reduce(ufunc_, &reduce_, result.error()));
  } else {
    result.check(guf_accumulate(ufunc_, &accumulate_, result.error()));
  }
}

// The error record of a call is not created again for each call.
double BenchWorkload::sample(int64_t calls) {
  Call result;
  const auto wait = [&] {
    result.check(guf_device_synchronize(device_, UINT64_MAX, result.error()));
  };
  call();
  wait();
  guf_status status = GUF_OK;
  const auto start = std::chrono::steady_clock::now();
  if (row_.method == "call") {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i)
      status = guf_call(ufunc_, &call_, result.error());
  } else if (row_.method == "reduce") {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i)
      status = guf_reduce(ufunc_, &reduce_, result.error());
  } else {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i)
      status = guf_accumulate(ufunc_, &accumulate_, result.error());
  }
  result.check(status);
  wait();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

int64_t BenchWorkload::elements() const {
  return product(row_.shape);
}

uint64_t BenchWorkload::bytes() const {
  uint64_t bytes = 0;
  const auto add = [&](const BenchOperand &operand) {
    int64_t elements = 1;
    for (size_t axis = 0; axis < operand.shape.size(); ++axis) {
      if (operand.strides[axis] != 0) elements *= operand.shape[axis];
    }
    bytes += static_cast<uint64_t>(elements) * itemsize_of(operand.dtype);
  };
  std::for_each(inputs_.begin(), inputs_.end(), add);
  std::for_each(outputs_.begin(), outputs_.end(), add);
  return bytes;
}

uint32_t BenchWorkload::threads() const {
  const guf_request asked = request();
  return most_threads(text_of([&](char *to, uint64_t *length, guf_error *error) {
    return guf_explain(ufunc_, &asked, to, length, error);
  }));
}

}  // namespace gufunc::cli
