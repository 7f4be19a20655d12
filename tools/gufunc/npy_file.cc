// SPDX-License-Identifier: Apache-2.0
// Maps .npy files for reading, and creates new files, which get their names when they are complete.
#include "npy_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "npy_stream.h"
#include "npz_file.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

// Copies owner and mode of `target` to a file that replaces it. Only root may change the owner;
// set-id bits are dropped because they have no meaning for data.
void take_over(int fd, const std::string &target, const std::string &path) {
  struct stat old = {};
  if (::stat(target.c_str(), &old) != 0) fail_file(path, "stat");
  if (::fchown(fd, old.st_uid, old.st_gid) != 0 && errno != EPERM)
    fail_file(path, "keep the owner of");
  if (::fchmod(fd, old.st_mode & 0777U) != 0) fail_file(path, "keep the mode of");
}

}  // namespace

// Follows symbolic links, because rename(2) would replace the link itself. Refuses a device or a
// fifo, which rename(2) would replace as well.
std::string resolve_target(const std::string &path, const std::string &shown) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return path;  // new, or inaccessible: open(2) reports it
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (real == nullptr || ::stat(real.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Failure(Exit::kFile, shown + ": is not a regular file");
  return real.get();
}

void check_writable(const std::string &path) {
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail_file(path, "write");
}

NpyHeader read_npy_file_header(int fd, bool raw_bf16, const std::string &path) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) fail_file(path, "stat");
  if (!S_ISREG(status.st_mode)) throw Failure(Exit::kFile, path + ": not a regular file");
  off_t offset = 0;
  const ReadBytes read = [&](std::span<std::byte> to) {
    size_t done = 0;
    while (done < to.size()) {
      const ssize_t got = ::pread(fd, to.data() + done, to.size() - done, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_file(path, "read");
      if (got == 0) break;
      done += static_cast<size_t>(got);
      offset += got;
    }
    return done;
  };
  NpyHeader header = read_npy_description(read, raw_bf16, path);
  const auto size = static_cast<uint64_t>(status.st_size);
  check_npy_size(header, size - std::min<uint64_t>(size, header.data_offset), path);
  return header;
}

NpyInput NpyInput::open(const std::string &path, bool raw_bf16, bool private_copy) {
  NpyInput input;
  input.path_ = path;
  if (path == kStandardStream) {
    input.mapping_ = read_standard_input(raw_bf16, &input.header_);
  } else if (const auto npz = npz_path_of(path)) {
    input.mapping_ = NpzInput(npz->archive).read(npz->array, raw_bf16, &input.header_);
  } else {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) fail_file(path, "open");
    input.header_ = read_npy_file_header(file.get(), raw_bf16, path);
    const auto mode = private_copy ? Mapping::Mode::kPrivate : Mapping::Mode::kRead;
    const size_t size = input.header_.data_offset + input.header_.data_size;
    input.mapping_ = Mapping::of(file.get(), size, mode, path);
    input.is_file_ = true;
  }
  input.strides_ =
      contiguous_strides(input.header_.dtype, input.header_.shape, input.header_.fortran_order);
  return input;
}

guf_tensor NpyInput::tensor(bool writable) const {
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = header_.dtype;
  tensor.ndim = static_cast<int32_t>(header_.shape.size());
  tensor.flags = (writable ? 0U : static_cast<uint32_t>(GUF_TENSOR_READ_ONLY)) |
                 (header_.swapped ? static_cast<uint32_t>(GUF_TENSOR_SWAPPED) : 0U);
  tensor.address = reinterpret_cast<uint64_t>(mapping_.data() + header_.data_offset);
  tensor.shape = header_.shape.data();
  tensor.strides = strides_.data();
  return tensor;
}

NpyOutput::NpyOutput(const std::string &path, guf_dtype dtype, std::vector<int64_t> shape,
                     bool fortran_order, bool raw_bf16, Over over)
    : path_(path), dtype_(dtype), shape_(std::move(shape)) {
  const std::string header = make_npy_header(dtype_, shape_, fortran_order, raw_bf16);
  strides_ = contiguous_strides(dtype_, shape_, fortran_order);
  guf_dtype_info info = {};
  info.struct_size = sizeof info;
  guf_dtype_get_info(dtype_, &info, nullptr);
  size_t size = info.itemsize;
  for (const int64_t extent : shape_) size *= static_cast<size_t>(extent);
  size += header.size();

  if (path == kStandardStream || npz_path_of(path)) {
    mapping_ = Mapping::anonymous(size, path_);
  } else {
    make_file(size, over);
  }
  std::memcpy(mapping_.data(), header.data(), header.size());
  data_offset_ = header.size();
}

// rename(2) checks only the permissions of the folder, so for a successor this function checks the
// permissions of the replaced file. posix_fallocate makes a full disk an error here, instead of a
// SIGBUS during the computation.
void NpyOutput::make_file(size_t size, Over over) {
  const bool successor = over == Over::kSuccessor;
  if (successor) check_writable(path_);
  const std::string target = resolve_target(path_);
  file_.emplace(target, path_, successor ? 0600 : 0666);
  if (successor) take_over(file_->fd(), target, path_);
  if (const int code = ::posix_fallocate(file_->fd(), 0, static_cast<off_t>(size)); code != 0) {
    fail_file(path_, "allocate space for", code);
  }
  mapping_ = Mapping::of(file_->fd(), size, Mapping::Mode::kShared, path_);
}

guf_tensor NpyOutput::tensor() const {
  guf_tensor tensor = {};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = dtype_;
  tensor.ndim = static_cast<int32_t>(shape_.size());
  tensor.address = reinterpret_cast<uint64_t>(data());
  tensor.shape = shape_.data();
  tensor.strides = strides_.data();
  return tensor;
}

void NpyOutput::commit() {
  if (file_) file_->publish();
  if (path_ == kStandardStream) write_all(STDOUT_FILENO, bytes(), "standard output");
}

}  // namespace gufunc::cli
