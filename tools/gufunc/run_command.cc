// SPDX-License-Identifier: Apache-2.0
// run: files and literals in, one call, files or text out. Files appear only when the call
// succeeded.
#include <fmt/format.h>
#include <gufunc/gufunc.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "literal.h"
#include "npy_file.h"
#include "outcome.h"
#include "owned_handle.h"
#include "progress.h"

namespace gufunc::cli {
namespace {

[[noreturn]] void usage(const std::string &message) {
  throw Failure(Exit::kUsage, message);
}

bool is_file(const std::string &path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0;
}

int32_t casting_of(const std::string &name) {
  static constexpr const char *kNames[] = {"", "no", "equiv", "safe", "same_kind", "unsafe"};
  for (int32_t i = 0; i < 6; ++i) {
    if (name == kNames[i]) return i;
  }
  usage(fmt::format("--casting {}: wanted no, equiv, safe, same_kind or unsafe", name));
}

int32_t order_of(const std::string &letter) {
  return letter == "C"   ? GUF_ORDER_C
         : letter == "F" ? GUF_ORDER_F
         : letter == "A" ? GUF_ORDER_ANY
                         : GUF_ORDER_KEEP;
}

uint64_t elements_of(const guf_tensor &tensor) {
  uint64_t count = 1;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis)
    count *= static_cast<uint64_t>(tensor.shape[axis]);
  return count;
}

guf_operand tensor_operand(const guf_tensor *tensor) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_TENSOR;
  operand.tensor = tensor;
  return operand;
}

uint32_t itemsize_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  return guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK ? info.itemsize : 0;
}

// One run: owns files, tensors and handles; `args` borrows from it.
class Run {
 public:
  Run(const Common &common, const RunOptions &options)
      : common_(common),
        options_(options),
        modules_(load_modules(common.modules)),
        ufunc_(find_ufunc(options.name)) {
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
      wait_with_progress(stream.get(), options_.name, touched_elements());
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options_.time) report_time(device);
  }

  void finish() {
    for (NpyOutput &file : new_files_) file.commit();
    if (common_.json) {
      print_json();
    } else if (new_files_.empty() && options_.into.empty()) {
      for (size_t i = 0; i < outputs_.size(); ++i) fmt::print("{}\n", values_text(i));
    }
  }

 private:
  bool no_outputs() const { return info_.nout == 0; }
  // How many results there are: the outputs, or the inout operand of a signature without outputs.
  size_t nresults() const { return no_outputs() ? 1 : static_cast<size_t>(info_.nout); }

  void set_options() {
    Call call;
    if (!options_.device.empty()) {
      call.check(guf_device_get(nullptr, options_.device.c_str(), &args_.device, call.error()));
    }
    if (!options_.dtype.empty())
      call.check(guf_dtype_parse(options_.dtype.c_str(), &args_.dtype, call.error()));
    args_.casting = casting_of(options_.casting);
    args_.order = order_of(options_.order);
    args_.threads = options_.threads;
    if (options_.keepdims) args_.flags |= GUF_CALL_KEEPDIMS;
    if (options_.axis) args_.axis = &*options_.axis;
    for (const std::string &text : options_.dims) add_dim(text);
    args_.dims = dims_.data();
    args_.ndims = static_cast<int32_t>(dims_.size());
    if (!options_.where.empty()) {
      where_ = operand_of(options_.where, false);
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

  guf_operand operand_of(const std::string &text, bool writable) {
    if (!is_file(text)) {
      if (const auto literal = parse_literal(text)) return *literal;
      throw Failure(
          Exit::kFile,
          fmt::format("{}: no such file, and not a literal (2, 2.5, 1+2j, f4:2, True)", text));
    }
    files_.push_back(NpyInput::open(text, options_.raw, writable));
    tensors_.push_back(files_.back().tensor(writable));
    return tensor_operand(&tensors_.back());
  }

  void add_inputs() {
    for (size_t i = 0; i < options_.inputs.size(); ++i) {
      // An inout operand is asked about before its output exists; a private mapping keeps the file.
      const bool writable = i == 0 && (options_.inplace || no_outputs());
      inputs_.push_back(operand_of(options_.inputs[i], writable));
      if (options_.inplace && i == 0 && inputs_[0].kind != GUF_OPERAND_TENSOR)
        usage("--inplace: the first input must be a .npy file");
    }
    args_.inputs = inputs_.data();
    args_.ninputs = static_cast<int32_t>(inputs_.size());
  }

  void resolve() {
    resolution_.struct_size = sizeof resolution_;
    for (const std::string &path : options_.into) {
      files_.push_back(NpyInput::open(path, options_.raw, true));
      tensors_.push_back(files_.back().tensor(true));
      outputs_.push_back(tensor_operand(&tensors_.back()));
    }
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
    if (!options_.outputs.empty() && !outputs_.empty())
      usage("-o cannot be combined with --into or --inplace");
    for (size_t i = 0; i < options_.outputs.size(); ++i) add_file(i);
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

  void add_file(size_t i) {
    const bool fortran = options_.order == "F";
    new_files_.emplace_back(options_.outputs[i], result_dtype(i), result_shape(i), fortran,
                            options_.raw, NpyOutput::Over::kAnything);
    tensors_.push_back(new_files_.back().tensor());
    outputs_.push_back(tensor_operand(&tensors_.back()));
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

  // A file that is written over: its elements are copied into a new file, the call works there, and
  // commit() puts the new file in its place. A failing call leaves the old one as it was.
  void rewrite_files() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const guf_tensor *const old = outputs_[i].tensor;
      const NpyInput *source = nullptr;
      for (const NpyInput &file : files_) {
        if (file.tensor().address == old->address) source = &file;
      }
      if (source == nullptr || source->header().swapped)
        usage("--into and --inplace need a file in this machine's byte order");
      const NpyHeader &header = source->header();
      new_files_.emplace_back(source->path(), header.dtype, header.shape, header.fortran_order,
                              options_.raw, NpyOutput::Over::kSuccessor);
      std::memcpy(new_files_.back().data(), reinterpret_cast<const void *>(old->address),
                  header.data_size);
      tensors_.push_back(new_files_.back().tensor());
      for (guf_operand &input : inputs_) {
        if (input.tensor == old) input.tensor = &tensors_.back();
      }
      outputs_[i].tensor = &tensors_.back();
    }
  }

  uint64_t touched_elements() const {
    uint64_t most = 1;
    for (const guf_tensor &tensor : tensors_) most = std::max(most, elements_of(tensor));
    return most;
  }

  void report_time(guf_device device) const {
    guf_device_info info = {};
    info.struct_size = sizeof info;
    Call call;
    call.check(guf_device_get_info(device, &info, call.error()));
    uint64_t bytes = 0;
    for (const guf_tensor &tensor : tensors_)
      bytes += elements_of(tensor) * itemsize_of(tensor.dtype);
    fmt::print(stderr,
               "{} on {} ({}, {}, {} threads): {:.6f} s, {:.2f} GB/s, {:.1f} M elements/s\n",
               options_.name, info.spec, info.name, info.target, info.units, seconds_,
               static_cast<double>(bytes) / seconds_ / 1e9,
               static_cast<double>(touched_elements()) / seconds_ / 1e6);
  }

  // The result as an array handle: allocated ones as they are, files wrapped.
  std::string values_text(size_t i) {
    guf_array array = outputs_[i].array;
    ArrayHandle wrapped;
    Call call;
    if (array == nullptr) {
      call.check(
          guf_array_wrap(outputs_[i].tensor, nullptr, nullptr, 0, wrapped.out(), call.error()));
      array = wrapped.get();
    }
    uint64_t length = 0;
    guf_array_print(array, nullptr, &length, nullptr);
    std::string text(length, '\0');
    call.check(guf_array_print(array, text.data(), &length, call.error()));
    text.resize(std::strlen(text.c_str()));
    return text.substr(0, text.rfind('\n'));  // without the line of shape, dtype and device
  }

  void print_json() {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      nlohmann::ordered_json row = {{"dtype", guf_dtype_name(result_dtype(i))},
                                    {"shape", result_shape(i)}};
      if (i < new_files_.size()) {
        row["file"] = new_files_[i].path();
      } else {
        row["values"] = values_text(i);
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
  std::deque<NpyInput> files_;  // deques: operands point into them
  std::deque<NpyOutput> new_files_;
  std::deque<guf_tensor> tensors_;
  std::vector<ArrayHandle> arrays_;
  std::vector<guf_operand> inputs_, outputs_;
  std::deque<std::string> dim_names_;
  std::vector<guf_dim> dims_;
  double seconds_ = 0;
};

}  // namespace

void run_command(const Common &common, const RunOptions &options) {
  Run run(common, options);
  run.execute();
  run.finish();
}

}  // namespace gufunc::cli
