// SPDX-License-Identifier: Apache-2.0
// reduce, accumulate, reduceat, outer, at: runs one method of a ufunc on files and literals, and
// writes a file or text. Files appear only if the method succeeds.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "call_parts.h"
#include "commands.h"
#include "fp_flags.h"
#include "json_values.h"
#include "kernel_rows.h"
#include "operand_files.h"
#include "outcome.h"
#include "owned_handle.h"
#include "progress.h"
#include "terminal.h"
#include "type_keywords.h"

namespace gufunc::cli {
namespace {

constexpr const char *kAxes = "an integer, several (0,2), none or ()";

// Parses "0,2", or Python's spelling: "(0, 2)", "(0,)". "()" selects no axis.
std::vector<int64_t> axes_of(std::string_view text) {
  std::vector<int64_t> axes;
  std::string_view rest = text;
  if (rest.starts_with('(') && rest.ends_with(')')) {
    rest = rest.substr(1, rest.size() - 2);
    if (rest.empty()) return axes;
    if (rest.find(',') == rest.size() - 1) rest.remove_suffix(1);
  }
  for (const std::string_view axis : parts_of(rest)) axes.push_back(axis_of(axis, text, kAxes));
  return axes;
}

// One method call. Owns its files and handles.
class Method {
 public:
  Method(const Common &common, const MethodOptions &options)
      : common_(common),
        options_(options),
        modules_(load_modules(common.modules)),
        ufunc_(find_function(modules_, options.name)),
        info_(info_of(ufunc_.get())),
        fp_flags_(options.fp_flags),
        files_(options.raw),
        threads_(threads_of(options.threads)) {
    check_one_per_result(options.name, nresults(), "-o", options.outputs.size());
    check_one_per_result(options.name, nresults(), "--into", options.into.size());
    check_streams(options.outputs, options.into, common.json);
    check_different_files("-o", options.outputs);
    check_different_files("--into", options.into);
    // `at` changes its first array. The array is a private copy, so without --inplace the file
    // stays the same.
    const bool changed = options.method == "at";
    for (size_t i = 0; i < options.inputs.size(); ++i)
      inputs_.push_back(files_.operand_of(options.inputs[i], changed && i == 0));
    if (options.method == "reduceat" && options.indices.size() > 1)
      usage("--indices: reduceat expects one list, for its only axis");
    for (const std::string &text : options.indices) indices_.push_back(files_.indices_of(text));
    if (options.where) where_ = files_.operand_of(*options.where, false);
    if (options.initial && *options.initial != "none")
      initial_ = files_.operand_of(*options.initial, false);
    for (const std::string &text : options.parameters)
      parameters_.push_back(files_.operand_of(text, false));
    files_.check_inputs();
    for (const std::string &path : options.into)
      outputs_.push_back(written_over(files_.file(path, true)));
    if (changed) outputs_ = {array_to_change()};
    outputs_.resize(nresults());
    device_ = device_of(options.device.value_or("cpu"));
  }

  void execute() {
    start_ = std::chrono::steady_clock::now();
    {
      const ProgressLine progress(options_.name, files_.touched_elements());
      call_method();
      Call call;
      if (!automatic() && !options_.explain)
        call.check(guf_device_synchronize(device_, UINT64_MAX, call.error()));
    }
    for (const guf_operand &output : outputs_) {
      if (output.kind == GUF_OPERAND_ARRAY && !zeroed_) results_.emplace_back(output.array);
    }
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    fp_flags_.print(info_.name);
    if (options_.time && !options_.explain) {
      report_time(options_.name + "." + options_.method, automatic() ? device_in(text_) : device_,
                  text_, seconds_, files_.touched_bytes(), files_.touched_elements());
    }
  }

  void print_explanation() {
    if (!common_.json) {
      print_text(text_);
      return;
    }
    const nlohmann::ordered_json all = {
        {"ufunc", options_.name}, {"method", options_.method}, {"text", text_}};
    gufunc::cli::print_json(all);
  }

  void finish() {
    for (size_t i = 0; i < options_.outputs.size() && !results_.empty(); ++i) save(i);
    files_.commit();
    if (common_.json) {
      print_json();
    } else if (options_.outputs.empty() && options_.into.empty() && !options_.inplace) {
      for (const guf_operand &output : outputs_) print_text(values_text(output) + "\n");
    }
  }

 private:
  void call_method() {
    if (options_.method == "reduce") {
      reduce();
    } else if (options_.method == "outer") {
      outer();
    } else if (options_.method == "at") {
      at();
    } else {
      accumulate();
    }
  }

  bool automatic() const { return options_.device == "auto"; }

  // The number of outputs of a ufunc, or of results of a reduction with a user-defined accumulator.
  size_t nresults() const {
    if (options_.method == "outer") return results_of(info_);
    return options_.method == "reduce" && info_.nresults > 0 ? static_cast<size_t>(info_.nresults)
                                                             : 1;
  }

  // Returns the new file that replaces an existing one. --explain changes no file and uses the
  // existing one.
  guf_operand written_over(const guf_operand &file) {
    if (!options_.explain) return files_.successor_of(file);
    files_.check_successor(file);
    return file;
  }

  guf_operand array_to_change() {
    if (inputs_[0].kind != GUF_OPERAND_TENSOR) usage("at: the array must be a .npy file");
    if (options_.inplace) return written_over(inputs_[0]);
    if (options_.outputs.empty() || options_.explain) return inputs_[0];
    return files_.copy_of(inputs_[0], options_.outputs[0]);
  }

  // Sets the options that all methods except `at` share.
  template <class Args>
  void set_options(Args *args) {
    fp_flags_.set_options(args);
    args->options.device = device_;
    args->order = order_of(options_.order);
    args->dtype = dtype_of(options_.dtype);
    args->options.threads = threads_;
  }

  // Runs the method or, with --explain, describes it.
  template <class Args, class Run>
  void answer(int32_t operation, Args &args, Run run) {
    Call call;
    if (options_.explain || options_.time) {
      const guf_request request = request_of(operation, args);
      text_ = text_of([&](char *to, uint64_t *length, guf_error *error) {
        return guf_explain(ufunc_.get(), &request, to, length, error);
      });
      start_ = std::chrono::steady_clock::now();
    }
    if (!options_.explain) call.check(run(ufunc_.get(), &args, call.error()));
  }

  void reduce() {
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    if (options_.keepdims) args.flags |= GUF_CALL_KEEPDIMS;
    args.input = inputs_.data();
    args.outputs = outputs_.data();
    args.noutputs = static_cast<int32_t>(outputs_.size());
    if (info_.nresults > 0 && initial_) {
      throw Failure(Exit::kRefused, fmt::format("--initial {}: {} has a user-defined accumulator "
                                                "and does not accept an initial value",
                                                options_.initial.value_or(""), info_.name));
    }
    const guf_operand no_value = {};
    if (options_.initial) args.initial = initial_ ? &*initial_ : &no_value;
    if (where_) args.where = &*where_;
    args.parameters = parameters_.data();
    args.nparameters = static_cast<int32_t>(parameters_.size());
    std::vector<int64_t> axes;
    if (options_.axis == "none") {
      args.naxis = GUF_ALL_AXES;
    } else if (options_.axis) {
      axes = axes_of(*options_.axis);
      args.naxis = static_cast<int32_t>(axes.size());
      axes.push_back(0);  // data() must not be NULL: "()" means no axis, NULL means the default
      args.axis = axes.data();
    }
    set_options(&args);
    answer(GUF_OPERATION_REDUCE, args, guf_reduce);
  }

  void accumulate() {
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = inputs_.data();
    args.output = outputs_.data();
    if (!indices_.empty()) args.indices = indices_.data();
    if (options_.axis) args.axis = axis_of(*options_.axis, *options_.axis, kOneAxis);
    set_options(&args);
    if (indices_.empty()) {
      answer(GUF_OPERATION_ACCUMULATE, args, guf_accumulate);
    } else {
      answer(GUF_OPERATION_REDUCEAT, args, guf_reduceat);
    }
  }

  void outer() {
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = inputs_.data();
    args.ninputs = static_cast<int32_t>(inputs_.size());
    args.outputs = outputs_.data();
    args.noutputs = static_cast<int32_t>(outputs_.size());
    if (where_) args.where = &*where_;
    args.casting = casting_of(options_.casting);
    const std::vector<guf_dtype> types = loop_types_of(options_.signature, options_.dtype, info_);
    if (!types.empty()) args.signature = types.data();
    args.nsignature = static_cast<int32_t>(types.size());
    set_options(&args);
    zeroed_ = where_ && options_.into.empty() && !options_.explain;
    if (zeroed_) results_ = files_.zeros(ufunc_.get(), args, guf_outer);
    answer(GUF_OPERATION_OUTER, args, guf_outer);
  }

  void at() {
    guf_at_args args = {};
    args.struct_size = sizeof args;
    args.array = outputs_.data();
    args.indices = indices_.data();
    args.nindices = static_cast<int32_t>(indices_.size());
    if (inputs_.size() > 1) args.operand = &inputs_[1];
    fp_flags_.set_options(&args);
    args.options.device = device_;
    args.options.threads = threads_;
    answer(GUF_OPERATION_AT, args, guf_at);
  }

  // Saves an allocated result in the memory order that it has.
  void save(size_t i) {
    const guf_array_info info = info_of(outputs_[i]);
    const bool fortran =
        options_.order == "F" || is_fortran(info.dtype, info.ndim, info.shape, info.strides);
    const guf_operand file = files_.new_file(options_.outputs[i], info.dtype,
                                             {info.shape, info.shape + info.ndim}, fortran);
    Call call;
    call.check(guf_array_copy_to_host(outputs_[i].array,
                                      reinterpret_cast<void *>(file.tensor->address), info.nbytes,
                                      fortran ? GUF_ORDER_F : GUF_ORDER_C, nullptr, call.error()));
  }

  void print_json() {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const guf_array_info info = info_of(outputs_[i]);
      rows.push_back({{"dtype", guf_dtype_name(info.dtype)},
                      {"shape", std::vector<int64_t>(info.shape, info.shape + info.ndim)}});
      if (i < files_.new_files().size()) {
        rows.back()["file"] = files_.new_files()[i].path();
      } else {
        rows.back()["values"] = values_json(outputs_[i]);
      }
    }
    nlohmann::ordered_json all = {{"ufunc", options_.name},
                                  {"method", options_.method},
                                  {"seconds", seconds_},
                                  {"outputs", rows}};
    if (fp_flags_.requested()) all["fp_flags"] = fp_flags_.json();
    gufunc::cli::print_json(all);
  }

  const Common &common_;
  const MethodOptions &options_;
  std::vector<ModuleHandle> modules_;
  UfuncHandle ufunc_;
  guf_ufunc_info info_;
  FpFlags fp_flags_;
  OperandFiles files_;
  uint32_t threads_;
  std::vector<guf_operand> inputs_, indices_;
  std::optional<guf_operand> initial_, where_;
  std::vector<guf_operand> parameters_;
  std::vector<guf_operand> outputs_;
  guf_device device_ = nullptr;
  std::vector<ArrayHandle> results_;  // allocated by the library
  bool zeroed_ = false;               // results_ were allocated before the call
  std::chrono::steady_clock::time_point start_;
  double seconds_ = 0;
  std::string text_;  // output of --explain
};

}  // namespace

void method_command(const Common &common, const MethodOptions &options) {
  check_one_destination(!options.outputs.empty(), !options.into.empty(), options.inplace);
  Method method(common, options);
  method.execute();
  options.explain ? method.print_explanation() : method.finish();
}

}  // namespace gufunc::cli
