// SPDX-License-Identifier: Apache-2.0
#include "operand_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>

#include "call_parts.h"
#include "literal.h"
#include "npy_stream.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

// Whether the text names standard input, an existing file, or an array of an existing archive.
bool is_file(const std::string &path) {
  struct stat status = {};
  if (path == kStandardStream || ::stat(path.c_str(), &status) == 0) return true;
  const auto npz = npz_path_of(path);
  return npz && ::stat(npz->archive.c_str(), &status) == 0;
}

uint64_t elements_of(const guf_tensor &tensor) {
  uint64_t count = 1;
  for (int32_t axis = 0; axis < tensor.ndim; ++axis)
    count *= static_cast<uint64_t>(tensor.shape[axis]);
  return count;
}

// Parses a list such as "0,3,-5". "" is an empty list. Throws Failure for any other text.
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

}  // namespace

guf_operand OperandFiles::file(const std::string &path, bool writable) {
  files_.push_back(NpyInput::open(path, raw_, writable));
  tensors_.push_back(files_.back().tensor(writable));
  return tensor_operand(&tensors_.back());
}

guf_operand OperandFiles::operand_of(const std::string &text, bool writable) {
  if (!is_file(text)) {
    if (const auto npz = npz_path_of(text))
      throw Failure(Exit::kFile, npz->archive + ": no such file");
    if (const auto literal = parse_literal(text)) return *literal;
    throw Failure(Exit::kFile, fmt::format("{}: no such file, and not a literal (2, 2.5, 1+2j, "
                                           "f4:2, True)",
                                           visible(text)));
  }
  return file(text, writable);
}

guf_operand OperandFiles::indices_of(const std::string &text) {
  if (is_file(text)) return operand_of(text, false);
  // The extent is stored in front of the values, so that one list holds both the shape and the
  // data.
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
  if (const auto npz = npz_path_of(path)) archive_of(npz->archive);
  new_files_.emplace_back(path, dtype, shape, fortran_order, raw_, NpyOutput::Over::kAnything);
  tensors_.push_back(new_files_.back().tensor());
  return tensor_operand(&tensors_.back());
}

const NpyInput &OperandFiles::source_of(const guf_operand &old) const {
  const auto source = std::find_if(files_.begin(), files_.end(), [&](const NpyInput &file) {
    return old.tensor != nullptr && file.tensor().address == old.tensor->address;
  });
  if (source == files_.end() || !source->is_file())
    usage(fmt::format("{}expected a .npy file to write the result over",
                      source == files_.end() ? "" : source->path() + ": "));
  if (source->header().swapped) {
    throw Failure(
        Exit::kFile,
        source->path() +
            ": not in this machine's byte order, which is required of a file that is overwritten");
  }
  return *source;
}

guf_operand OperandFiles::copied(const NpyInput &source, const guf_operand &old,
                                 const std::string &path, NpyOutput::Over over) {
  const NpyHeader &header = source.header();
  if (const auto npz = npz_path_of(path)) archive_of(npz->archive);
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

// Returns a mask of zeros. It has the layout of `mask`, because the layout of a mask influences the
// layout of new outputs.
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
  args.options.fp_flags = nullptr;
  args.options.fp_report = args.options.fp_fail = 0;
  Call call;
  call.check(run(ufunc, &args, call.error()));
  std::vector<ArrayHandle> arrays;
  arrays.reserve(static_cast<size_t>(args.noutputs));
  for (int32_t i = 0; i < args.noutputs; ++i) arrays.emplace_back(args.outputs[i].array);
  for (int32_t i = 0; i < args.noutputs; ++i) {
    guf_operand zero = {};
    zero.kind = GUF_OPERAND_SCALAR;
    zero.dtype = info_of(args.outputs[i]).dtype;
    call.check(guf_array_fill(args.outputs[i].array, &zero, args.options.stream, call.error()));
  }
  return arrays;
}

// Creates the archive before the call, so that an unwritable folder is reported before the work
// starts.
NpzOutput &OperandFiles::archive_of(const std::string &path) {
  for (NpzOutput &archive : archives_) {
    if (archive.path() == path) return archive;
  }
  return archives_.emplace_back(path, resolve_target(path));
}

void OperandFiles::check_inputs() const {
  const bool streamed = std::any_of(files_.begin(), files_.end(), [](const NpyInput &file) {
    return file.path() == kStandardStream;
  });
  if (streamed) check_end_of_standard_input();
}

void OperandFiles::commit() {
  for (NpyOutput &file : new_files_) {
    if (const auto npz = npz_path_of(file.path()))
      archive_of(npz->archive).add(npz->array, file.bytes());
  }
  for (NpzOutput &archive : archives_) archive.publish();
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

}  // namespace gufunc::cli
