// SPDX-License-Identifier: Apache-2.0
// run: files and literals in, one call, files or text out. Files appear only when the call
// succeeded. explain: the same call, told instead of made.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>

#include "call_parts.h"
#include "commands.h"
#include "json_values.h"
#include "literal.h"
#include "outcome.h"
#include "owned_handle.h"
#include "progress.h"

namespace gufunc::cli {
namespace {

// One run: owns files, tensors and handles; `args` borrows from it.
class Run {
 public:
  Run(const Common &common, const RunOptions &options)
      : common_(common),
        options_(options),
        modules_(load_modules(common.modules)),
        ufunc_(find_ufunc(options.name)),
        files_(options.raw) {
    args_.struct_size = sizeof args_;
    info_.struct_size = sizeof info_;
    Call call;
    call.check(guf_ufunc_get_info(ufunc_.get(), &info_, call.error()));
    set_options();
    add_inputs();
    resolve();
    add_outputs();
  }

  void execute() {
    Call call;
    guf_device device = args_.device;
    if (device == nullptr) call.check(guf_device_get(nullptr, "cpu", &device, call.error()));
    // A stream is there for the progress line only: failures of a call without one read as NumPy's.
    StreamHandle stream;
    if (shows_progress()) {
      call.check(guf_stream_create(device, 0, stream.out(), call.error()));
      args_.stream = stream.get();
    }
    args_.device = device;
    const auto start = std::chrono::steady_clock::now();
    call.check(guf_call(ufunc_.get(), &args_, call.error()));
    if (stream.get() != nullptr)
      wait_with_progress(stream.get(), options_.name, files_.touched_elements());
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options_.time)
      report_time(options_.name, device, options_.threads, seconds_, files_.touched_bytes(),
                  files_.touched_elements());
  }

  void explain() {
    Call call;
    PlanHandle plan;
    call.check(guf_plan_create(ufunc_.get(), &args_, plan.out(), call.error()));
    uint64_t length = 0;
    guf_plan_explain(plan.get(), nullptr, &length, nullptr);
    std::string text(length, '\0');
    call.check(guf_plan_explain(plan.get(), text.data(), &length, call.error()));
    text.resize(std::strlen(text.c_str()));
    if (common_.json) {
      fmt::print("{}\n", nlohmann::ordered_json(
                             {{"ufunc", info_.name}, {"operands", operands_json()}, {"plan", text}})
                             .dump(2));
    } else {
      fmt::print("{}", text);
    }
  }

  void finish() {
    files_.commit();
    if (common_.json) {
      print_json();
    } else if (files_.new_files().empty() && options_.into.empty()) {
      for (size_t i = 0; i < outputs_.size(); ++i) fmt::print("{}\n", values_text(outputs_[i]));
    }
  }

 private:
  bool no_outputs() const { return info_.nout == 0; }
  // How many results there are: the outputs, or the inout operand of a signature without outputs.
  size_t nresults() const { return no_outputs() ? 1 : static_cast<size_t>(info_.nout); }

  void set_options() {
    args_.device = device_of(options_.device);
    args_.dtype = dtype_of(options_.dtype);
    args_.casting = casting_of(options_.casting);
    args_.order = order_of(options_.order);
    args_.threads = options_.threads;
    if (options_.keepdims) args_.flags |= GUF_CALL_KEEPDIMS;
    if (options_.axis) args_.axis = &*options_.axis;
    for (const std::string &text : options_.dims) add_dim(text);
    args_.dims = dims_.data();
    args_.ndims = static_cast<int32_t>(dims_.size());
    if (!options_.where.empty()) {
      where_ = files_.operand_of(options_.where, false);
      args_.where = &where_;
    }
  }

  void add_dim(const std::string &text) {
    const size_t equals = text.find('=');
    int64_t size = -1;
    if (equals != std::string::npos && equals != 0) {
      const auto literal = parse_literal(text.substr(equals + 1));
      if (literal && literal->kind == GUF_OPERAND_WEAK_INT)
        size = static_cast<int64_t>(literal->value[0]);
    }
    if (size < 0) usage(fmt::format("--dim {}: wanted NAME=SIZE with a size of at least 0", text));
    dim_names_.push_back(text.substr(0, equals));
    dims_.push_back({dim_names_.back().c_str(), size});
  }

  void add_inputs() {
    for (size_t i = 0; i < options_.inputs.size(); ++i) {
      // An inout operand is asked about before its output exists; a private mapping keeps the file.
      const bool writable = i == 0 && (options_.inplace || no_outputs());
      inputs_.push_back(files_.operand_of(options_.inputs[i], writable));
      if (options_.inplace && i == 0 && inputs_[0].kind != GUF_OPERAND_TENSOR)
        usage("--inplace: the first input must be a .npy file");
    }
    args_.inputs = inputs_.data();
    args_.ninputs = static_cast<int32_t>(inputs_.size());
  }

  void resolve() {
    resolution_.struct_size = sizeof resolution_;
    for (const std::string &path : options_.into) outputs_.push_back(files_.file(path, true));
    if (options_.into.empty() && options_.inplace) outputs_.push_back(inputs_[0]);
    if (!outputs_.empty() && outputs_.size() != nresults()) {
      usage(fmt::format("{}: {} outputs wanted, {} given by --into or --inplace", options_.name,
                        nresults(), outputs_.size()));
    }
    args_.outputs = outputs_.data();
    args_.noutputs = static_cast<int32_t>(outputs_.size());
    Call call;
    call.check(guf_resolve(ufunc_.get(), &args_, &resolution_, call.error()));
  }

  guf_dtype result_dtype(size_t i) const {
    return resolution_.dtypes[no_outputs() ? 0 : static_cast<size_t>(info_.nin) + i];
  }
  std::vector<int64_t> result_shape(size_t i) const {
    if (no_outputs()) {
      const guf_tensor *const tensor = inputs_[0].tensor;
      if (tensor == nullptr)
        usage(fmt::format("{}: the first input must be a .npy file", options_.name));
      return {tensor->shape, tensor->shape + tensor->ndim};
    }
    return {resolution_.output_shapes[i],
            resolution_.output_shapes[i] + resolution_.output_ndims[i]};
  }

  // -o: new files. --into: the mapped copy of an existing file, written back at the end through a
  // new file.
  void add_outputs() {
    if (!options_.outputs.empty() && options_.outputs.size() != nresults()) {
      usage(fmt::format("{}: {} outputs, but -o was given {} times", options_.name, nresults(),
                        options_.outputs.size()));
    }
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      outputs_.push_back(files_.new_file(options_.outputs[i], result_dtype(i), result_shape(i),
                                         options_.order == "F"));
    }
    if (outputs_.empty()) outputs_.resize(nresults());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].kind == GUF_OPERAND_NONE) allocate(i);
    }
    const bool rewrites = !options_.into.empty() || options_.inplace;
    if (rewrites) rewrite_files();
    args_.outputs = outputs_.data();
    args_.noutputs = static_cast<int32_t>(outputs_.size());
    if (no_outputs() && options_.inplace) {
      inputs_[0] = outputs_[0];
      args_.outputs = nullptr;
      args_.noutputs = 0;
    }
  }

  void allocate(size_t i) {
    const auto shape = result_shape(i);
    Call call;
    ArrayHandle array;
    call.check(guf_array_alloc(args_.device, result_dtype(i), static_cast<int32_t>(shape.size()),
                               shape.data(), nullptr, GUF_ORDER_C, array.out(), call.error()));
    outputs_[i].kind = GUF_OPERAND_ARRAY;
    outputs_[i].array = array.get();
    arrays_.push_back(std::move(array));
  }

  // Inputs that are written over are read from the new file too.
  void rewrite_files() {
    for (guf_operand &output : outputs_) {
      const guf_tensor *const old = output.tensor;
      output = files_.successor_of(output);
      for (guf_operand &input : inputs_) {
        if (input.tensor == old) input.tensor = output.tensor;
      }
    }
  }

  // What the loop computes in, and what each operand is.
  nlohmann::ordered_json operands_json() const {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (int32_t i = 0; i < resolution_.noperands; ++i) {
      const auto dtype = resolution_.dtypes[static_cast<size_t>(i)];
      const auto loop = resolution_.loop_dtypes[static_cast<size_t>(i)];
      rows.push_back({{"role", role_name(info_.roles[i])},
                      {"dtype", guf_dtype_name(dtype)},
                      {"loop_dtype", guf_dtype_name(loop)},
                      {"cast", dtype != loop}});
      if (i >= info_.nin) rows.back()["shape"] = result_shape(static_cast<size_t>(i - info_.nin));
    }
    return rows;
  }

  void print_json() {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      nlohmann::ordered_json row = {{"dtype", guf_dtype_name(result_dtype(i))},
                                    {"shape", result_shape(i)}};
      if (i < files_.new_files().size()) {
        row["file"] = files_.new_files()[i].path();
      } else {
        row["values"] = values_json(outputs_[i]);
      }
      results.push_back(row);
    }
    const nlohmann::ordered_json all = {
        {"ufunc", info_.name}, {"seconds", seconds_}, {"outputs", results}};
    fmt::print("{}\n", all.dump(2));
  }

  const Common &common_;
  const RunOptions &options_;
  std::vector<ModuleHandle> modules_;
  UfuncHandle ufunc_;
  guf_ufunc_info info_ = {};
  guf_call_args args_ = {};
  guf_resolution resolution_ = {};
  guf_operand where_ = {};
  OperandFiles files_;
  std::vector<ArrayHandle> arrays_;
  std::vector<guf_operand> inputs_, outputs_;
  std::deque<std::string> dim_names_;
  std::vector<guf_dim> dims_;
  double seconds_ = 0;
};

}  // namespace

void run_command(const Common &common, const RunOptions &options) {
  want_one_place(!options.outputs.empty(), !options.into.empty(), options.inplace);
  Run run(common, options);
  run.execute();
  run.finish();
}

void explain_command(const Common &common, const RunOptions &options) {
  want_one_place(!options.outputs.empty(), !options.into.empty(), options.inplace);
  Run(common, options).explain();
}

}  // namespace gufunc::cli
