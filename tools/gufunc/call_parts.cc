// SPDX-License-Identifier: Apache-2.0
// Operands from files and literals, and what else several commands share.
#include "call_parts.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <utility>

#include "literal.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

bool is_file(const std::string &path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0;
}

uint32_t itemsize_of(guf_dtype dtype) {
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  return guf_dtype_get_info(dtype, &info, nullptr) == GUF_OK ? info.itemsize : 0;
}

uint64_t elements_of(const guf_tensor &tensor) {
  uint64_t count = 1;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis)
    count *= static_cast<uint64_t>(tensor.shape[axis]);
  return count;
}

// "0,3,-5"; nothing for "".
std::vector<int64_t> integers_of(const std::string &text) {
  std::vector<int64_t> values;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at != end) {
    int64_t value = 0;
    const auto [rest, code] = std::from_chars(at, end, value);
    const bool more = rest != end && *rest == ',' && rest + 1 != end;
    if (code != std::errc() || (rest != end && !more)) {
      throw Failure(Exit::kFile, text + ": no such file, and not a list of integers (0,3,5)");
    }
    values.push_back(value);
    at = more ? rest + 1 : rest;
  }
  return values;
}

// Whether two paths lead to one file, which need not be there yet.
bool same_file(const std::string &a, const std::string &b) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (a == b || fs::equivalent(a, b, code)) return true;
  const auto whole = [](const std::string &path) {
    std::error_code failed;
    return fs::weakly_canonical(fs::absolute(path, failed), failed);
  };
  const fs::path first = whole(a);
  return !first.empty() && first == whole(b);
}

// A handle of a tensor; of an array, which has one, none.
ArrayHandle wrapped_of(const guf_operand &operand) {
  ArrayHandle wrapped;
  Call call;
  if (operand.array == nullptr)
    call.check(guf_array_wrap(operand.tensor, nullptr, nullptr, 0, wrapped.out(), call.error()));
  return wrapped;
}

}  // namespace

void usage(const std::string &message) {
  throw Failure(Exit::kUsage, message);
}

void want_one_place(bool output, bool into, bool inplace) {
  if (output + into + inplace > 1)
    usage("-o, --into and --inplace say where the result goes: wanted one of them");
}

void want_one_per_result(const std::string &name, size_t nresults, const char *option,
                         size_t given) {
  if (given == 0 || given == nresults) return;
  usage(fmt::format("{}: {} result{}, but {} was given {} time{}", name, nresults,
                    nresults == 1 ? "" : "s", option, given, given == 1 ? "" : "s"));
}

void want_different_files(const char *option, const std::vector<std::string> &paths) {
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!same_file(paths[j], paths[i])) continue;
      usage(fmt::format("{} {}: the same file as {} {}, wanted one of its own per result", option,
                        paths[i], option, paths[j]));
    }
  }
}

const char *role_name(int32_t role) {
  return role == GUF_ROLE_INOUT ? "inout" : role == GUF_ROLE_OUT ? "out" : "in";
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    std::string_view part = text.substr(begin, comma - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.push_back(part);
    begin = comma + 1;
  }
  return parts;
}

int32_t casting_of(const std::string &name) {
  static constexpr const char *kNames[] = {"", "no", "equiv", "safe", "same_kind", "unsafe"};
  for (int32_t i = 0; i < 6; ++i) {
    if (name == kNames[i]) return i;
  }
  usage(fmt::format("--casting {}: wanted no, equiv, safe, same_kind or unsafe", name));
}

int32_t order_of(const std::string &letter) {
  static constexpr std::pair<const char *, int32_t> kOrders[] = {
      {"K", GUF_ORDER_KEEP}, {"A", GUF_ORDER_ANY}, {"C", GUF_ORDER_C}, {"F", GUF_ORDER_F}};
  for (const auto &[name, order] : kOrders) {
    if (letter == name) return order;
  }
  usage(fmt::format("--order {}: wanted K, A, C or F", letter));
}

int64_t axis_of(std::string_view text, std::string_view whole, const char *wanted) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    usage(fmt::format("--axis {}: wanted {}", whole, wanted));
  return value;
}

uint32_t threads_of(const std::string &text) {
  uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!text.empty() && (code != std::errc() || end != text.data() + text.size()))
    usage(fmt::format("--threads {}: wanted a number; 0 is the backend's choice", text));
  return value;
}

guf_dtype dtype_of(const std::string &name) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  Call call;
  if (!name.empty()) call.check(guf_dtype_parse(name.c_str(), &dtype, call.error()));
  return dtype;
}

guf_device device_of(const std::string &spec) {
  guf_device device = nullptr;
  Call call;
  if (!spec.empty()) call.check(guf_device_get(nullptr, spec.c_str(), &device, call.error()));
  return device;
}

guf_device device_in(const std::string &explanation) {
  const std::string line = explanation.substr(0, explanation.find('\n'));
  const size_t begin = line.find(" on ") + 4;
  return device_of(line.substr(begin, line.find(": ", begin) - begin));
}

guf_operand tensor_operand(const guf_tensor *tensor) {
  guf_operand operand = {};
  operand.kind = GUF_OPERAND_TENSOR;
  operand.tensor = tensor;
  return operand;
}

guf_ufunc_info info_of(guf_ufunc ufunc) {
  guf_ufunc_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_ufunc_get_info(ufunc, &info, call.error()));
  return info;
}

size_t results_of(const guf_ufunc_info &info) {
  if (info.nout != 0) return static_cast<size_t>(info.nout);
  return static_cast<size_t>(std::count_if(info.roles, info.roles + info.nin,
                                           [](int32_t role) { return role != GUF_ROLE_IN; }));
}

guf_array_info info_of(const guf_operand &operand) {
  guf_array_info info = {};
  info.struct_size = sizeof info;
  Call call;
  const ArrayHandle wrapped = wrapped_of(operand);
  guf_array const array = wrapped.get() == nullptr ? operand.array : wrapped.get();
  call.check(guf_array_get_info(array, &info, call.error()));
  return info;
}

bool is_fortran(guf_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  auto expected = static_cast<int64_t>(itemsize_of(dtype));
  int32_t longer = 0;
  for (int32_t axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == 1) continue;
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
    ++longer;
  }
  return longer > 1 && expected != 0;
}

guf_operand OperandFiles::file(const std::string &path, bool writable) {
  files_.push_back(NpyInput::open(path, raw_, writable));
  tensors_.push_back(files_.back().tensor(writable));
  return tensor_operand(&tensors_.back());
}

guf_operand OperandFiles::operand_of(const std::string &text, bool writable) {
  if (!is_file(text)) {
    if (const auto literal = parse_literal(text)) return *literal;
    throw Failure(Exit::kFile, fmt::format("{}: no such file, and not a literal (2, 2.5, 1+2j, "
                                           "f4:2, True)",
                                           text.empty() ? "''" : text));
  }
  return file(text, writable);
}

guf_operand OperandFiles::indices_of(const std::string &text) {
  if (is_file(text)) return operand_of(text, false);
  // The extent stands in front of the values, so that one list keeps both alive.
  std::vector<int64_t> &list = lists_.emplace_back(integers_of(text));
  list.insert(list.begin(), static_cast<int64_t>(list.size()));
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = GUF_I64;
  tensor.ndim = 1;
  tensor.flags = GUF_TENSOR_READ_ONLY;
  tensor.address = reinterpret_cast<uint64_t>(list.data() + 1);
  tensor.shape = list.data();
  tensors_.push_back(tensor);
  return tensor_operand(&tensors_.back());
}

guf_operand OperandFiles::new_file(const std::string &path, guf_dtype dtype,
                                   const std::vector<int64_t> &shape, bool fortran_order) {
  new_files_.emplace_back(path, dtype, shape, fortran_order, raw_, NpyOutput::Over::kAnything);
  tensors_.push_back(new_files_.back().tensor());
  return tensor_operand(&tensors_.back());
}

const NpyInput &OperandFiles::source_of(const guf_operand &old) const {
  const auto source = std::find_if(files_.begin(), files_.end(), [&](const NpyInput &file) {
    return old.tensor != nullptr && file.tensor().address == old.tensor->address;
  });
  if (source == files_.end()) usage("wanted a .npy file to write the result over");
  if (source->header().swapped) {
    throw Failure(Exit::kFile, source->path() +
                                   ": not in this machine's byte order, which a file whose "
                                   "elements are written over has to be in");
  }
  return *source;
}

guf_operand OperandFiles::copied(const NpyInput &source, const guf_operand &old,
                                 const std::string &path, NpyOutput::Over over) {
  const NpyHeader &header = source.header();
  new_files_.emplace_back(path, header.dtype, header.shape, header.fortran_order, raw_, over);
  std::memcpy(new_files_.back().data(), reinterpret_cast<const void *>(old.tensor->address),
              header.data_size);
  tensors_.push_back(new_files_.back().tensor());
  return tensor_operand(&tensors_.back());
}

guf_operand OperandFiles::copy_of(const guf_operand &old, const std::string &path) {
  return copied(source_of(old), old, path, NpyOutput::Over::kAnything);
}

guf_operand OperandFiles::successor_of(const guf_operand &old) {
  const NpyInput &source = source_of(old);
  return copied(source, old, source.path(), NpyOutput::Over::kSuccessor);
}

void OperandFiles::check_successor(const guf_operand &old) const {
  check_writable(source_of(old).path());
}

// As the mask lies, since new outputs follow its layout too.
guf_operand OperandFiles::all_false(const guf_operand &mask) {
  guf_operand none = mask;
  none.value[0] = 0;
  if (mask.tensor == nullptr) return none;
  const size_t size = elements_of(*mask.tensor) * itemsize_of(mask.tensor->dtype);
  masks_.push_back({{std::calloc(std::max<size_t>(size, 1), 1), &std::free}, *mask.tensor});
  FalseMask &copy = masks_.back();
  if (copy.elements == nullptr) throw std::bad_alloc();
  copy.tensor.address = reinterpret_cast<uint64_t>(copy.elements.get());
  none.tensor = &copy.tensor;
  return none;
}

std::vector<ArrayHandle> OperandFiles::zeros(guf_ufunc ufunc, guf_call_args args,
                                             guf_status (*run)(guf_ufunc, guf_call_args *,
                                                               guf_error *)) {
  const guf_operand none = all_false(*args.where);
  args.where = &none;
  args.fp_events = nullptr;
  args.fp_report = args.fp_fail = 0;
  Call call;
  call.check(run(ufunc, &args, call.error()));
  std::vector<ArrayHandle> arrays;
  arrays.reserve(static_cast<size_t>(args.noutputs));
  for (int32_t i = 0; i < args.noutputs; ++i) arrays.emplace_back(args.outputs[i].array);
  for (int32_t i = 0; i < args.noutputs; ++i) {
    guf_operand zero = {};
    zero.kind = GUF_OPERAND_SCALAR;
    zero.dtype = info_of(args.outputs[i]).dtype;
    call.check(guf_array_fill(args.outputs[i].array, &zero, args.stream, call.error()));
  }
  return arrays;
}

void OperandFiles::commit() {
  for (NpyOutput &file : new_files_) file.commit();
}

uint64_t OperandFiles::touched_bytes() const {
  uint64_t bytes = 0;
  for (const guf_tensor &tensor : tensors_)
    bytes += elements_of(tensor) * itemsize_of(tensor.dtype);
  return bytes;
}

uint64_t OperandFiles::touched_elements() const {
  uint64_t most = 1;
  for (const guf_tensor &tensor : tensors_) most = std::max(most, elements_of(tensor));
  return most;
}

void report_time(const std::string &name, guf_device device, uint32_t threads, double seconds,
                 uint64_t bytes, uint64_t elements) {
  guf_device_info info = {};
  info.struct_size = sizeof info;
  Call call;
  call.check(guf_device_get_info(device, &info, call.error()));
  const bool cpu = info.host_memory != 0;  // a GPU's units run what they are given, on many threads
  const uint32_t used = threads == 0 || !cpu ? info.units : std::min(threads, info.units);
  fmt::print(stderr,
             "{} on {} ({}, {}, {} {}{}): {:.6f} s, {:.2f} GB/s, {:.1f} M "
             "elements/s\n",
             name, info.spec, info.name, info.target, used, cpu ? "thread" : "unit",
             used == 1 ? "" : "s", seconds, static_cast<double>(bytes) / seconds / 1e9,
             static_cast<double>(elements) / seconds / 1e6);
}

std::string values_text(const guf_operand &operand) {
  const ArrayHandle wrapped = wrapped_of(operand);
  guf_array const array = wrapped.get() == nullptr ? operand.array : wrapped.get();
  const std::string text = text_of([&](char *to, uint64_t *length, guf_error *error) {
    return guf_array_print(array, to, length, error);
  });
  return text.substr(0, text.rfind('\n'));  // without the line of shape, dtype and device
}

}  // namespace gufunc::cli
