// SPDX-License-Identifier: Apache-2.0
// run: performs one call on files and literals, and writes files or text. Files appear only if the
// call succeeds. explain: describes the same call without making it.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>

#include "call_parts.h"
#include "commands.h"
#include "fp_flags.h"
#include "json_values.h"
#include "kernel_rows.h"
#include "literal.h"
#include "operand_files.h"
#include "outcome.h"
#include "owned_handle.h"
#include "progress.h"
#include "terminal.h"
#include "type_keywords.h"

namespace gufunc::cli {
namespace {

int32_t show(void *progress, int64_t done, int64_t items) {
  static_cast<ProgressLine *>(progress)->set_done(done, items);
  return 0;
}

// Runs a call in chunks, for files larger than memory. `args` must contain every output. The
// progress line shows the number of finished items.
void call_in_chunks(guf_ufunc ufunc, guf_call_args *args, uint64_t chunk_bytes,
                    ProgressLine *progress) {
  guf_chunk_options options = {};
  options.struct_size = sizeof options;
  options.chunk_bytes = chunk_bytes;
  options.progress = show;
  options.user = progress;
  Call call;
  call.check(guf_call_chunked(ufunc, args, &options, nullptr, call.error()));
}

// One run. Owns its files, tensors and handles; `args` borrows them.
class Run {
 public:
  Run(const Common &common, const RunOptions &options)
      : common_(common),
        options_(options),
        modules_(load_modules(common.modules)),
        ufunc_(find_function(modules_, options.name)),
        info_(info_of(ufunc_.get())),
        fp_flags_(options.fp_flags),
        files_(options.raw) {
    args_.struct_size = sizeof args_;
    check_streams(options.outputs, options.into, common.json);
    set_options();
    add_inputs();
    files_.check_inputs();
    resolve();
  }

  void execute() {
    Call call;
    make_files();
    guf_device device = args_.options.device;
    if (device == nullptr) call.check(guf_device_get(nullptr, "cpu", &device, call.error()));
    const bool automatic = options_.device == "auto";
    if (automatic && options_.time) device = device_in(explanation());
    if (!automatic) args_.options.device = device;
    const std::string text = options_.time ? explanation() : "";
    const auto start = std::chrono::steady_clock::now();
    // Elements that the mask excludes are 0 in a new file and unchanged in an existing one.
    if (args_.where != nullptr && files_.new_files().empty())
      arrays_ = files_.zeros(ufunc_.get(), args_, guf_call);
    {
      ProgressLine progress(options_.name, files_.touched_elements());
      if (!options_.chunk) {
        call.check(guf_call(ufunc_.get(), &args_, call.error()));
      } else {
        call_in_chunks(ufunc_.get(), &args_, chunk_, &progress);
      }
      take_results();
      if (!automatic) call.check(guf_device_synchronize(device, UINT64_MAX, call.error()));
    }
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fp_flags_.print(info_.name);
    if (options_.time)
      report_time(options_.name, device, text, seconds_, files_.touched_bytes(),
                  files_.touched_elements());
  }

  void explain() {
    const std::string text = explanation();
    if (common_.json) {
      gufunc::cli::print_json(
          {{"ufunc", info_.name}, {"operands", operands_json()}, {"plan", text}});
    } else {
      print_text(text);
    }
  }

  void finish() {
    files_.commit();
    if (common_.json) {
      print_json();
    } else if (files_.new_files().empty() && options_.into.empty()) {
      for (size_t i = 0; i < outputs_.size(); ++i) print_text(values_text(outputs_[i]) + "\n");
    }
  }

 private:
  std::string explanation() {
    const guf_request request = request_of(GUF_OPERATION_CALL, args_);
    return text_of([&](char *to, uint64_t *length, guf_error *error) {
      return guf_explain(ufunc_.get(), &request, to, length, error);
    });
  }

  // Whether the signature has no outputs. Its inout operands are then the results, and each of them
  // is copied first unless --inplace is given.
  bool no_outputs() const { return info_.nout == 0; }
  size_t nresults() const { return results_of(info_); }
  bool in_place() const { return no_outputs() && options_.inplace; }

  void set_options() {
    args_.options.device = device_of(options_.device);
    args_.dtype = dtype_of(options_.dtype);
    args_.casting = casting_of(options_.casting);
    args_.order = order_of(options_.order);
    args_.options.threads = threads_of(options_.threads);
    if (options_.chunk) {
      chunk_ = bytes_of_option("--chunk", *options_.chunk);
      if (options_.outputs.empty() && options_.into.empty() && !options_.inplace)
        usage("--chunk: expected -o, --into or --inplace");
    }
    if (options_.keepdims) args_.flags |= GUF_CALL_KEEPDIMS;
    if (options_.axis) {
      axis_ = axis_of(*options_.axis, *options_.axis, kOneAxis);
      args_.axis = &axis_;
    }
    for (const std::string &text : options_.dims) add_dim(text);
    refuse_core_options();
    set_loop();
    args_.dims = dims_.data();
    args_.ndims = static_cast<int32_t>(dims_.size());
    if (options_.where) {
      where_ = files_.operand_of(*options_.where, false);
      args_.where = &where_;
    }
  }

  // Sets the types and axes of the loop, and its floating-point flags.
  void set_loop() {
    signature_ = loop_types_of(options_.signature, options_.dtype, info_);
    if (!signature_.empty()) args_.signature = signature_.data();
    args_.nsignature = static_cast<int32_t>(signature_.size());
    if (options_.axes) {
      if (options_.axis) usage("--axes and --axis: expected one of them");
      axes_ = axes_by_operand(*options_.axes);
      for (const std::vector<int64_t> &own : axes_)
        core_axes_.push_back({own.data(), static_cast<int32_t>(own.size()), 0});
      args_.naxes = static_cast<int32_t>(core_axes_.size());
      args_.axes = core_axes_.data();
    }
    fp_flags_.set_options(&args_);
  }

  // Refuses options that need a signature if the ufunc has none. The library would refuse them too,
  // but its message would name arguments of the C API instead of the options.
  void refuse_core_options() const {
    if (info_.signature[0] != '\0') return;
    const std::string option = !options_.dims.empty() ? "--dim " + options_.dims[0]
                               : options_.axis        ? "--axis " + *options_.axis
                               : options_.axes        ? "--axes " + *options_.axes
                               : options_.keepdims    ? "--keepdims"
                                                      : "";
    if (option.empty()) return;
    throw Failure(Exit::kRefused, fmt::format("{}: {} has no core dimensions", option, info_.name));
  }

  void add_dim(const std::string &text) {
    const size_t equals = text.find('=');
    int64_t size = -1;
    if (equals != std::string::npos && equals != 0) {
      const auto literal = parse_literal(text.substr(equals + 1));
      if (literal && literal->kind == GUF_OPERAND_WEAK_INT)
        size = static_cast<int64_t>(literal->value[0]);
    }
    if (size < 0) refuse_value("--dim", "NAME=SIZE with a size of at least 0", text);
    const std::string name = text.substr(0, equals);
    const std::vector<std::string> known = core_dimensions(info_.signature);
    if (!known.empty() && std::find(known.begin(), known.end(), name) == known.end()) {
      throw Failure(Exit::kRefused,
                    fmt::format("--dim {}: {} has no core dimension '{}', expected one of {} in {}",
                                text, info_.name, name, fmt::join(known, ", "), info_.signature));
    }
    dim_names_.push_back(name);
    dims_.push_back({dim_names_.back().c_str(), size});
  }

  void add_inputs() {
    for (size_t i = 0; i < options_.inputs.size(); ++i) {
      inputs_.push_back(files_.operand_of(options_.inputs[i], i == 0 && options_.inplace));
    }
    if (options_.inplace && (inputs_.empty() || inputs_[0].kind != GUF_OPERAND_TENSOR))
      usage("--inplace: the first input must be a .npy file");
    args_.inputs = inputs_.data();
    args_.ninputs = static_cast<int32_t>(inputs_.size());
  }

  // Describes the outputs for explain: existing files are used, new files are not created.
  void resolve() {
    resolution_.struct_size = sizeof resolution_;
    check_one_per_result(options_.name, nresults(), "-o", options_.outputs.size());
    check_one_per_result(options_.name, nresults(), "--into", options_.into.size());
    check_different_files("-o", options_.outputs);
    check_different_files("--into", options_.into);
    check_one_per_result(options_.name, nresults(), "--inplace", options_.inplace ? 1 : 0);
    for (const std::string &path : options_.into) outputs_.push_back(files_.file(path, true));
    if (options_.inplace && !in_place()) outputs_.push_back(inputs_[0]);
    if (!in_place()) outputs_.resize(nresults());
    set_outputs();
    Call call;
    const guf_request request = request_of(GUF_OPERATION_CALL, args_);
    const guf_status status = guf_resolve(ufunc_.get(), &request, &resolution_, call.error());
    call.check(status, "", status == GUF_E_SHAPE ? dim_hint() : "");
    if (options_.inplace) files_.check_successor(inputs_[0]);
    for (size_t i = 0; i < options_.into.size(); ++i) files_.check_successor(outputs_[i]);
  }

  bool is_dim_given(const std::string &name) const {
    return std::find(dim_names_.begin(), dim_names_.end(), name) != dim_names_.end();
  }

  // Returns a hint for core dimensions that occur only in outputs.
  std::string dim_hint() const {
    if (info_.rules[0] != '\0' || !options_.into.empty()) return "";
    const std::string signature = info_.signature;
    const size_t arrow = std::min(signature.find("->"), signature.size());
    const std::vector<std::string> known = core_dimensions_of_inputs(signature);
    std::string hint;
    for (const std::string &name : core_dimensions(signature.substr(arrow))) {
      if (std::find(known.begin(), known.end(), name) != known.end() || is_dim_given(name))
        continue;
      hint += fmt::format("{} --dim {}=SIZE", hint.empty() ? "; state its size with" : "", name);
    }
    return hint;
  }

  void set_outputs() {
    args_.outputs = outputs_.data();
    args_.noutputs = static_cast<int32_t>(outputs_.size());
  }

  guf_dtype result_dtype(size_t i) const {
    return resolution_.dtypes[in_place() ? 0 : static_cast<size_t>(info_.nin) + i];
  }
  std::vector<int64_t> result_shape(size_t i) const {
    if (in_place()) {
      const guf_tensor *const tensor = inputs_[0].tensor;
      return {tensor->shape, tensor->shape + tensor->ndim};
    }
    return {resolution_.output_shapes[i],
            resolution_.output_shapes[i] + resolution_.output_ndims[i]};
  }

  // Whether a new file is in Fortran order, by NumPy's rules for results.
  bool saves_fortran(size_t ndim) const {
    if (options_.order != "K" && options_.order != "A") return options_.order == "F";
    bool found = false;
    for (size_t i = 0; i <= inputs_.size(); ++i) {
      const guf_tensor *const tensor = (i < inputs_.size() ? inputs_[i] : where_).tensor;
      if (tensor == nullptr || tensor->ndim < 2) continue;
      const bool fortran = is_fortran(tensor->dtype, tensor->ndim, tensor->shape, tensor->strides);
      if (!fortran && !is_line(*tensor)) return false;
      found = found || (fortran && static_cast<size_t>(tensor->ndim) == ndim);
    }
    return found && (info_.signature[0] == '\0' || options_.order == "A");
  }

  // Whether at most one axis has a length other than 1. Such an array is contiguous in either
  // order.
  static bool is_line(const guf_tensor &tensor) {
    return std::count_if(tensor.shape, tensor.shape + tensor.ndim,
                         [](int64_t extent) { return extent != 1; }) < 2;
  }

  // Creates new files for -o, and replacement files for --into and --inplace. The call allocates
  // the other results.
  void make_files() {
    if (copies_first()) return copy_first();
    for (size_t i = 0; i < options_.outputs.size(); ++i) {
      const std::vector<int64_t> shape = result_shape(i);
      outputs_[i] =
          files_.new_file(options_.outputs[i], result_dtype(i), shape, saves_fortran(shape.size()));
    }
    if (in_place()) {
      inputs_[0] = files_.successor_of(inputs_[0]);
    } else if (!options_.into.empty() || options_.inplace) {
      rewrite_files();
    }
    set_outputs();
  }

  // A chunked call overwrites operands that are read and written, so it works on a copied file.
  bool copies_first() const { return no_outputs() && options_.chunk && !options_.outputs.empty(); }

  void copy_first() {
    size_t result = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (info_.roles[i] != GUF_ROLE_INOUT) continue;
      const guf_tensor *const tensor = inputs_[i].tensor;
      const bool fits = tensor != nullptr && tensor->dtype == result_dtype(result) &&
                        (tensor->flags & GUF_TENSOR_SWAPPED) == 0 && args_.where == nullptr;
      if (!fits)
        usage(
            fmt::format("--chunk: {} writes operands that it reads: without --where, argument {} "
                        "must be a .npy file of {}",
                        info_.name, i, guf_dtype_name(result_dtype(result))));
      inputs_[i] = files_.copy_of(inputs_[i], options_.outputs[result++]);
    }
    outputs_.clear();
    set_outputs();
  }

  // Collects the arrays that the call allocated and the operands that it wrote in place.
  void take_results() {
    if (in_place()) outputs_ = {inputs_[0]};
    if (copies_first()) {
      for (size_t i = 0; i < inputs_.size(); ++i) {
        if (info_.roles[i] == GUF_ROLE_INOUT) outputs_.push_back(inputs_[i]);
      }
    }
    if (!arrays_.empty()) return;
    for (const guf_operand &output : outputs_) {
      if (output.kind == GUF_OPERAND_ARRAY) arrays_.emplace_back(output.array);
    }
  }

  // An operand that is both input and output is read from the new file too.
  void rewrite_files() {
    for (guf_operand &output : outputs_) {
      const guf_tensor *const old = output.tensor;
      output = files_.successor_of(output);
      for (guf_operand &input : inputs_) {
        if (input.tensor == old) input.tensor = output.tensor;
      }
    }
  }

  // Describes the loop's dtype and the operand's dtype for each operand.
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
    nlohmann::ordered_json all = {
        {"ufunc", info_.name}, {"seconds", seconds_}, {"outputs", results}};
    if (fp_flags_.requested()) all["fp_flags"] = fp_flags_.json();
    gufunc::cli::print_json(all);
  }

  const Common &common_;
  const RunOptions &options_;
  std::vector<ModuleHandle> modules_;
  UfuncHandle ufunc_;
  guf_ufunc_info info_ = {};
  guf_call_args args_ = {};
  guf_resolution resolution_ = {};
  guf_operand where_ = {};
  FpFlags fp_flags_;
  OperandFiles files_;
  std::vector<ArrayHandle> arrays_;
  std::vector<guf_operand> inputs_, outputs_;
  std::deque<std::string> dim_names_;
  std::vector<guf_dim> dims_;
  std::vector<guf_dtype> signature_;
  std::vector<std::vector<int64_t>> axes_;  // per operand
  std::vector<guf_core_axes> core_axes_;    // points to axes_
  int64_t axis_ = 0;
  uint64_t chunk_ = 0;
  double seconds_ = 0;
};

}  // namespace

void run_command(const Common &common, const RunOptions &options) {
  check_one_destination(!options.outputs.empty(), !options.into.empty(), options.inplace);
  Run run(common, options);
  run.execute();
  run.finish();
}

void explain_command(const Common &common, const RunOptions &options) {
  check_one_destination(!options.outputs.empty(), !options.into.empty(), options.inplace);
  Run(common, options).explain();
}

}  // namespace gufunc::cli
