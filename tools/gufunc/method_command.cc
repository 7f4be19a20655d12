// SPDX-License-Identifier: Apache-2.0
// reduce, accumulate, reduceat, outer, at: one method of a ufunc, files and literals in, a file or
// text out. Files appear only when the method succeeded.
#include <fmt/format.h>
#include <gufunc/gufunc.h>

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "call_parts.h"
#include "commands.h"
#include "json_values.h"
#include "outcome.h"
#include "owned_handle.h"
#include "progress.h"

namespace gufunc::cli {
namespace {

int64_t axis_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    usage(fmt::format("--axis {}: wanted an axis, several (0,2), none or ()", text));
  return value;
}

// "0,2"; "()" is no axis at all.
std::vector<int64_t> axes_of(std::string_view text) {
  std::vector<int64_t> axes;
  if (text == "()") return axes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    axes.push_back(axis_number(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return axes;
}

guf_array_info info_of(const guf_operand &operand) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  Call call;
  ArrayHandle wrapped;
  guf_array array = operand.array;
  if (array == nullptr) {
    call.check(guf_array_wrap(operand.tensor, nullptr, nullptr, 0, wrapped.out(), call.error()));
    array = wrapped.get();
  }
  call.check(guf_array_get_info(array, &info, call.error()));
  return info;
}

// One method call: owns files and handles.
class Method {
 public:
  Method(const Common &common, const MethodOptions &options)
      : common_(common),
        options_(options),
        modules_(load_modules(common.modules)),
        ufunc_(find_ufunc(options.name)),
        files_(options.raw) {
    // An array that at changes is a private copy: without --inplace its file keeps its bytes.
    const bool changed = options.method == "at";
    for (size_t i = 0; i < options.inputs.size(); ++i)
      inputs_.push_back(files_.operand_of(options.inputs[i], changed && i == 0));
    for (const std::string &text : options.indices) indices_.push_back(files_.indices_of(text));
    if (!options.where.empty()) where_ = files_.operand_of(options.where, false);
    if (!options.initial.empty() && options.initial != "none")
      initial_ = files_.operand_of(options.initial, false);
    if (!options.into.empty()) output_ = files_.successor_of(files_.file(options.into, true));
    if (changed) output_ = array_to_change();
    device_ = device_of(options.device.empty() ? "cpu" : options.device);
  }

  void execute() {
    StreamHandle stream;
    Call call;
    if (shows_progress()) call.check(guf_stream_create(device_, 0, stream.out(), call.error()));
    const auto start = std::chrono::steady_clock::now();
    if (options_.method == "reduce") {
      reduce(stream.get());
    } else if (options_.method == "outer") {
      outer(stream.get());
    } else if (options_.method == "at") {
      at(stream.get());
    } else {
      accumulate(stream.get());
    }
    result_ = ArrayHandle(output_.kind == GUF_OPERAND_ARRAY ? output_.array : nullptr);
    if (stream.get() != nullptr)
      wait_with_progress(stream.get(), options_.name, files_.touched_elements());
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options_.time && !options_.explain) {
      report_time(options_.name + "." + options_.method, device_, options_.threads, seconds_,
                  files_.touched_bytes(), files_.touched_elements());
    }
  }

  void print_explanation() {
    if (!common_.json) {
      fmt::print("{}", text_);
      return;
    }
    const nlohmann::ordered_json all = {
        {"ufunc", options_.name}, {"method", options_.method}, {"text", text_}};
    fmt::print("{}\n", all.dump(2));
  }

  void finish() {
    const bool fresh = result_.get() != nullptr;
    if (!options_.output.empty() && fresh) save();
    files_.commit();
    if (common_.json) {
      print_json();
    } else if (options_.output.empty() && options_.into.empty() && !options_.inplace) {
      fmt::print("{}\n", values_text(output_));
    }
  }

 private:
  guf_operand array_to_change() {
    if (inputs_[0].kind != GUF_OPERAND_TENSOR) usage("at: the array must be a .npy file");
    if (options_.inplace) return files_.successor_of(inputs_[0]);
    if (options_.output.empty()) return inputs_[0];
    return files_.copy_of(inputs_[0], options_.output);
  }

  // What every method but at is told alike.
  template <class Args>
  void set_options(guf_stream stream, Args *args) const {
    args->stream = stream;
    args->device = device_;
    args->order = order_of(options_.order);
    args->dtype = dtype_of(options_.dtype);
    args->threads = options_.threads;
  }

  // Runs the method, or has it explained.
  template <class Args, class Run, class Explain>
  void answer(Args &args, Run run, Explain explain) {
    Call call;
    if (!options_.explain) {
      call.check(run(ufunc_.get(), &args, call.error()));
      return;
    }
    uint64_t length = 0;
    const guf_status status = explain(ufunc_.get(), &args, nullptr, &length, call.error());
    if (status != GUF_E_BUFFER_TOO_SMALL) call.check(status);
    text_.resize(length);
    call.check(explain(ufunc_.get(), &args, text_.data(), &length, call.error()));
    text_.resize(length - 1);  // without the NUL
  }

  void reduce(guf_stream stream) {
    guf_reduce_args args = {};
    args.struct_size = sizeof args;
    if (options_.keepdims) args.flags |= GUF_CALL_KEEPDIMS;
    args.input = inputs_.data();
    args.output = &output_;
    const guf_operand no_value = {};
    if (!options_.initial.empty()) args.initial = initial_ ? &*initial_ : &no_value;
    if (where_) args.where = &*where_;
    std::vector<int64_t> axes;
    if (options_.axis == "none") {
      args.naxis = GUF_ALL_AXES;
    } else if (!options_.axis.empty()) {
      axes = axes_of(options_.axis);
      args.naxis = static_cast<int32_t>(axes.size());
      axes.push_back(0);  // "()" is a list of none, which is not the same as no list
      args.axis = axes.data();
    }
    set_options(stream, &args);
    answer(args, guf_reduce, guf_explain_reduce);
  }

  void accumulate(guf_stream stream) {
    guf_accumulate_args args = {};
    args.struct_size = sizeof args;
    args.input = inputs_.data();
    args.output = &output_;
    if (!indices_.empty()) args.indices = indices_.data();
    if (!options_.axis.empty()) args.axis = axis_number(options_.axis);
    set_options(stream, &args);
    if (indices_.empty()) {
      answer(args, guf_accumulate, guf_explain_accumulate);
    } else {
      answer(args, guf_reduceat, guf_explain_reduceat);
    }
  }

  void outer(guf_stream stream) {
    guf_call_args args = {};
    args.struct_size = sizeof args;
    args.inputs = inputs_.data();
    args.ninputs = static_cast<int32_t>(inputs_.size());
    args.outputs = &output_;
    args.noutputs = 1;
    if (where_) args.where = &*where_;
    args.casting = casting_of(options_.casting);
    set_options(stream, &args);
    answer(args, guf_outer, guf_explain_outer);
  }

  void at(guf_stream stream) {
    guf_at_args args = {};
    args.struct_size = sizeof args;
    args.array = &output_;
    args.indices = indices_.data();
    args.nindices = static_cast<int32_t>(indices_.size());
    if (inputs_.size() > 1) args.operand = &inputs_[1];
    args.stream = stream;
    args.device = device_;
    args.threads = options_.threads;
    answer(args, guf_at, guf_explain_at);
  }

  // The allocated result goes into a file: C order, or Fortran's where that was asked for.
  void save() {
    const guf_array_info info = info_of(output_);
    const bool fortran = options_.order == "F";
    const guf_operand file =
        files_.new_file(options_.output, info.dtype, {info.shape, info.shape + info.ndim}, fortran);
    Call call;
    call.check(guf_array_copy_to_host(result_.get(), reinterpret_cast<void *>(file.tensor->address),
                                      info.nbytes, fortran ? GUF_ORDER_F : GUF_ORDER_C, nullptr,
                                      call.error()));
  }

  void print_json() {
    const guf_array_info info = info_of(output_);
    nlohmann::ordered_json row = {
        {"dtype", guf_dtype_name(info.dtype)},
        {"shape", std::vector<int64_t>(info.shape, info.shape + info.ndim)}};
    if (files_.new_files().empty()) {
      row["values"] = values_json(output_);
    } else {
      row["file"] = files_.new_files().back().path();
    }
    const nlohmann::ordered_json all = {{"ufunc", options_.name},
                                        {"method", options_.method},
                                        {"seconds", seconds_},
                                        {"outputs", nlohmann::ordered_json::array({row})}};
    fmt::print("{}\n", all.dump(2));
  }

  const Common &common_;
  const MethodOptions &options_;
  std::vector<ModuleHandle> modules_;
  UfuncHandle ufunc_;
  OperandFiles files_;
  std::vector<guf_operand> inputs_, indices_;
  std::optional<guf_operand> initial_, where_;
  guf_operand output_ = {};
  guf_device device_ = nullptr;
  ArrayHandle result_;  // what the library allocated
  double seconds_ = 0;
  std::string text_;  // --explain
};

}  // namespace

void method_command(const Common &common, const MethodOptions &options) {
  want_one_place(!options.output.empty(), !options.into.empty(), options.inplace);
  Method method(common, options);
  method.execute();
  options.explain ? method.print_explanation() : method.finish();
}

}  // namespace gufunc::cli
