// SPDX-License-Identifier: Apache-2.0
#include "bench_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "call_parts.h"
#include "type_keywords.h"

namespace gufunc::cli {
namespace {

// Returns the number of elements of an operand. Throws Failure(kRefused) if it is very large, such
// as the product of a large size and a large --dim.
int64_t elements_of(const std::vector<int64_t> &shape) {
  double elements = 1;
  for (const int64_t extent : shape) elements *= static_cast<double>(extent);
  if (elements > kMostElements) {
    throw Failure(Exit::kRefused, fmt::format("--size: an operand of shape {} has more than {:.0e} "
                                              "elements",
                                              shape_text(shape), kMostElements));
  }
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

// Returns the sizes of the core dimensions: fixed, or given by --dim; -1 for a dimension of outputs
// whose size the library determines.
std::vector<int64_t> core_sizes(const BenchPlan &plan, const guf_ufunc_info &info) {
  std::vector<int64_t> sizes;
  const std::vector<std::string> names = core_dimensions(info.signature);
  size_t next = 0;
  for (int32_t number = 0; number < info.ncore; ++number) {
    int64_t size = info.core_sizes[number];
    if (size < 0 && next < names.size()) {
      const std::string &name = names[next++];
      const auto given = std::find_if(plan.dims.begin(), plan.dims.end(),
                                      [&](const auto &dim) { return dim.first == name; });
      if (given != plan.dims.end()) size = given->second;
    }
    sizes.push_back(size);
  }
  return sizes;
}

// Returns the shape of input `index` of a call: the loop, then the core dimensions.
std::vector<int64_t> shape_of_input(size_t index, const BenchCase &row, const BenchPlan &plan,
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
  view.size = elements_of(view.shape);
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

// Returns what the message of a refused call is about: the option whose value is probably wrong.
std::string option_of(guf_status status, const BenchCase &row) {
  if (status == GUF_E_SHAPE) return "--dim: ";
  if (status == GUF_E_AXIS) return "--axis: ";
  return fmt::format("--dtype {}: ", guf_dtype_name(row.dtype));
}

}  // namespace

std::vector<BenchOperand> inputs_of(const BenchCase &row, const BenchPlan &plan,
                                    const guf_ufunc_info &info) {
  std::vector<BenchOperand> inputs;
  const size_t count = row.method == "call" ? static_cast<size_t>(info.nin) : 1;
  for (size_t i = 0; i < count; ++i) {
    const guf_dtype dtype = row.method == "call" ? row.loop[i] : row.dtype;
    inputs.push_back(
        view_of(dtype, shape_of_input(i, row, plan, info), row.layout, i == 0, i + 1 == count));
  }
  return inputs;
}

// Nothing reads the elements of the inputs, so one element with strides of 0 represents all.
std::vector<BenchOperand> outputs_of(guf_ufunc ufunc, const BenchCase &row, const BenchPlan &plan,
                                     const guf_ufunc_info &info) {
  alignas(16) static constexpr std::byte kElement[16] = {};
  const std::vector<BenchOperand> inputs = inputs_of(row, plan, info);
  const std::vector<int64_t> strides(GUF_MAX_NDIM, 0);
  std::vector<guf_tensor> tensors(inputs.size());
  BenchArguments arguments(row, plan, info);
  for (size_t i = 0; i < inputs.size(); ++i) {
    tensors[i].struct_size = sizeof tensors[i];
    tensors[i].dtype = inputs[i].dtype;
    tensors[i].ndim = static_cast<int32_t>(inputs[i].shape.size());
    tensors[i].flags = GUF_TENSOR_READ_ONLY;
    tensors[i].address = reinterpret_cast<uint64_t>(kElement);
    tensors[i].shape = inputs[i].shape.data();
    tensors[i].strides = strides.data();
    arguments.set_input(i, tensor_operand(&tensors[i]));
  }
  guf_resolution resolution = {};
  resolution.struct_size = sizeof resolution;
  const guf_request request = arguments.request();
  Call call;
  const guf_status status = guf_resolve(ufunc, &request, &resolution, call.error());
  call.check(status, option_of(status, row));
  std::vector<BenchOperand> outputs(row.method == "call" ? static_cast<size_t>(info.nout) : 1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int64_t *const shape = resolution.output_shapes[i];
    outputs[i] = view_of(resolution.dtypes[row.method == "call" ? inputs.size() + i : 0],
                         {shape, shape + resolution.output_ndims[i]}, "contiguous", false, false);
  }
  return outputs;
}

uint64_t moved_bytes(const std::vector<BenchOperand> &inputs,
                     const std::vector<BenchOperand> &outputs) {
  uint64_t bytes = 0;
  const auto add = [&](const BenchOperand &operand) {
    int64_t elements = 1;
    for (size_t axis = 0; axis < operand.shape.size(); ++axis) {
      if (operand.strides[axis] != 0) elements *= operand.shape[axis];
    }
    bytes += static_cast<uint64_t>(elements) * itemsize_of(operand.dtype);
  };
  std::for_each(inputs.begin(), inputs.end(), add);
  std::for_each(outputs.begin(), outputs.end(), add);
  return bytes;
}

BenchArguments::BenchArguments(const BenchCase &row, const BenchPlan &plan,
                               const guf_ufunc_info &info)
    : row_(row),
      inputs_(row.method == "call" ? static_cast<size_t>(info.nin) : 1),
      outputs_(row.method == "call" ? static_cast<size_t>(info.nout) : 1),
      axis_(plan.axis.value_or(0)) {
  const std::vector<std::string> of_inputs = core_dimensions_of_inputs(info.signature);
  for (const auto &[name, size] : plan.dims) {
    if (std::find(of_inputs.begin(), of_inputs.end(), name) != of_inputs.end()) continue;
    dim_names_.push_back(name);
    dims_.push_back({dim_names_.back().c_str(), size});
  }
  call_.struct_size = sizeof call_;
  call_.inputs = inputs_.data();
  call_.ninputs = static_cast<int32_t>(inputs_.size());
  call_.outputs = outputs_.data();
  call_.noutputs = static_cast<int32_t>(outputs_.size());
  call_.dims = dims_.data();
  call_.ndims = static_cast<int32_t>(dims_.size());
  call_.options.device = device_of(row.device);
  call_.options.threads = row.threads;
  reduce_.struct_size = sizeof reduce_;
  reduce_.input = inputs_.data();
  reduce_.output = outputs_.data();
  reduce_.axis = &axis_;
  reduce_.naxis = plan.axis ? 1 : GUF_ALL_AXES;
  reduce_.options = call_.options;
  accumulate_.struct_size = sizeof accumulate_;
  accumulate_.input = inputs_.data();
  accumulate_.output = outputs_.data();
  accumulate_.axis = axis_;
  accumulate_.options = call_.options;
}

guf_request BenchArguments::request() const {
  if (row_.method == "call") return request_of(GUF_OPERATION_CALL, call_);
  if (row_.method == "reduce") return request_of(GUF_OPERATION_REDUCE, reduce_);
  return request_of(GUF_OPERATION_ACCUMULATE, accumulate_);
}

guf_status BenchArguments::call(guf_ufunc ufunc, int64_t calls, guf_error *error) {
  guf_status status = GUF_OK;
  if (row_.method == "call") {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i) status = guf_call(ufunc, &call_, error);
  } else if (row_.method == "reduce") {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i)
      status = guf_reduce(ufunc, &reduce_, error);
  } else {
    for (int64_t i = 0; i < calls && status == GUF_OK; ++i)
      status = guf_accumulate(ufunc, &accumulate_, error);
  }
  return status;
}

}  // namespace gufunc::cli
