// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3: read by mapping, written through a file without a name.
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

// An existing array: a file, mapped; the next array of standard input ("-"), or one of an archive
// ("x.npz:a"), in memory. The elements begin at `mapping.data() + header.data_offset`.
class NpyInput {
 public:
  // `private_copy`: elements may be changed in memory; the file keeps its bytes.
  static NpyInput open(const std::string &path, bool raw_bf16, bool private_copy = false);
  const NpyHeader &header() const { return header_; }
  const std::string &path() const { return path_; }
  // Whether it is a .npy file, which another one can take the place of.
  bool is_file() const { return is_file_; }
  // Borrowed description; valid as long as this object.
  guf_tensor tensor(bool writable = false) const;

 private:
  std::string path_;
  bool is_file_ = false;
  NpyHeader header_;
  Mapping mapping_;
  std::vector<int64_t> strides_;
};

// A new array. A file is filled in place, and commit() puts it at `path`; without it nothing is
// left behind. A symbolic link stays and the file it leads to is replaced; what exists and is no
// regular file is refused. The array of a stream ("-") or an archive ("x.npz:a") is in memory:
// commit() writes it to standard output, and leaves an archive's to whoever writes the archive.
class NpyOutput {
 public:
  // A successor needs the right to write the old file, and takes its mode and owner.
  enum class Over { kAnything, kSuccessor };
  NpyOutput(const std::string &path, guf_dtype dtype, std::vector<int64_t> shape,
            bool fortran_order, bool raw_bf16, Over over);
  NpyOutput(const NpyOutput &) = delete;
  NpyOutput &operator=(const NpyOutput &) = delete;

  guf_tensor tensor() const;
  std::byte *data() const { return mapping_.data() + data_offset_; }
  // The whole of it, as a .npy file has it.
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

// The file that a new one at `path` replaces, through symbolic links. Refuses what exists and is no
// regular file. Throws Failure(kFile).
std::string resolve_target(const std::string &path);

// Whether a file may be replaced: the rename asks the folder only, and whoever may not write the
// file may not replace its contents. Throws Failure(kFile).
void check_writable(const std::string &path);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_FILE_H
