// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3. Files are mapped for reading and created through an unnamed
// file.
#ifndef GUFUNC_TOOLS_GUFUNC_NPY_FILE_H
#define GUFUNC_TOOLS_GUFUNC_NPY_FILE_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mapping.h"
#include "new_file.h"
#include "npy_header.h"

namespace gufunc::cli {

// An existing array: a mapped file or, in memory, the next array of standard input ("-") or an
// array of an archive ("x.npz:a"). The elements begin at `mapping.data() + header.data_offset`.
class NpyInput {
 public:
  // With `private_copy` the elements may be changed in memory; the file does not change.
  static NpyInput open(const std::string &path, bool raw_bf16, bool private_copy = false);
  const NpyHeader &header() const { return header_; }
  const std::string &path() const { return path_; }
  // Whether the array is a separate .npy file, which a new file can replace.
  bool is_file() const { return is_file_; }
  // Returns a borrowed tensor that is valid as long as this object.
  guf_tensor tensor(bool writable = false) const;

 private:
  std::string path_;
  bool is_file_ = false;
  NpyHeader header_;
  Mapping mapping_;
  std::vector<int64_t> strides_;
};

// Reads the header of a file and compares it with the size of the file. Maps nothing, so it works
// for a file that is larger than the memory. Throws Failure.
NpyHeader read_npy_file_header(int fd, bool raw_bf16, const std::string &path);

// A new array. Its file is mapped, so the elements are written directly to the file. The file has
// no name or a temporary name until commit() gives it the name `path`; without commit() nothing
// remains. If `path` is a symbolic link, the link stays and its target is replaced. An existing
// path that is not a regular file is refused. The array of a stream ("-") or of an archive
// ("x.npz:a") is in memory: commit() writes it to standard output, and does nothing for an archive,
// which NpzOutput writes.
class NpyOutput {
 public:
  // A successor replaces an existing file: it requires write permission on that file, and copies
  // its mode and owner.
  enum class Over { kAnything, kSuccessor };
  NpyOutput(const std::string &path, guf_dtype dtype, std::vector<int64_t> shape,
            bool fortran_order, bool raw_bf16, Over over);
  NpyOutput(const NpyOutput &) = delete;
  NpyOutput &operator=(const NpyOutput &) = delete;

  guf_tensor tensor() const;
  std::byte *data() const { return mapping_.data() + data_offset_; }
  // The complete array in .npy format, header included.
  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  const std::string &path() const { return path_; }
  void commit();

 private:
  void make_file(size_t size, Over over);

  std::string path_;  // as the user wrote it
  std::optional<NewFile> file_;
  guf_dtype dtype_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  size_t data_offset_ = 0;
  Mapping mapping_;
};

// Returns the file that a new file at `path` replaces, following symbolic links. Refuses an
// existing path that is not a regular file. `shown` is the name used in error messages. Throws
// Failure(kFile).
std::string resolve_target(const std::string &path, const std::string &shown);
inline std::string resolve_target(const std::string &path) {
  return resolve_target(path, path);
}

// Checks write permission on a file before it is replaced: rename(2) checks the folder only, and a
// user without write permission must not replace the contents. Throws Failure(kFile).
void check_writable(const std::string &path);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_FILE_H
