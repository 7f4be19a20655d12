// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, versions 1 to 3: read by mapping, written through a file without a name.
#ifndef GUFUNC_TOOLS_GUFUNC_NPY_FILE_H
#define GUFUNC_TOOLS_GUFUNC_NPY_FILE_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "new_file.h"

namespace gufunc::cli {

// What a header says.
struct NpyHeader {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;  // bytes before the first element
  uint64_t data_size = 0;  // bytes of all elements
};

// Parses the start of a file. `raw_bf16`: two-byte void ("V2") means bfloat16, which .npy cannot
// name. Throws Failure(kFile) naming what is wrong; reads nothing outside `bytes`.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, bool raw_bf16,
                           const std::string &name);

// The header of a new file, padded so that data starts on a multiple of 64.
// Throws Failure(kFile) for bf16 unless `raw_bf16`.
std::string make_npy_header(guf_dtype dtype, const std::vector<int64_t> &shape, bool fortran_order,
                            bool raw_bf16);

// Private pages of a file: unmapped on destruction.
class Mapping {
 public:
  Mapping() = default;
  Mapping(const Mapping &) = delete;
  Mapping &operator=(const Mapping &) = delete;
  Mapping(Mapping &&other) noexcept;
  Mapping &operator=(Mapping &&other) noexcept;
  ~Mapping();

  // `writable`: writes go to memory only (private) or to the file (shared).
  enum class Mode { kRead, kPrivate, kShared };
  static Mapping of(int fd, size_t size, Mode mode, const std::string &name);

  std::byte *data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte *data_ = nullptr;
  size_t size_ = 0;
};

// An existing file, mapped. The elements lie at `mapping.data() + header.data_offset`.
class NpyInput {
 public:
  // `private_copy`: elements may be changed in memory; the file keeps its bytes.
  static NpyInput open(const std::string &path, bool raw_bf16, bool private_copy = false);
  const NpyHeader &header() const { return header_; }
  const std::string &path() const { return path_; }
  // Borrowed description; valid as long as this object.
  guf_tensor tensor(bool writable = false) const;

 private:
  std::string path_;
  NpyHeader header_;
  Mapping mapping_;
  std::vector<int64_t> strides_;
};

// A new file, filled in place, which commit() puts at `path`; without it nothing is left behind. A
// symbolic link stays and the file it leads to is replaced; what exists and is no regular file is
// refused.
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
  const std::string &path() const { return path_; }
  void commit();

 private:
  std::string path_;    // as the user wrote it
  std::string target_;  // the file that it means, behind symbolic links
  NewFile file_;
  guf_dtype dtype_;
  std::vector<int64_t> shape_;
  std::vector<int64_t> strides_;
  size_t data_offset_ = 0;
  Mapping mapping_;
};

// Whether a file may be replaced: the rename asks the folder only, and whoever may not write the
// file may not replace its contents. Throws Failure(kFile).
void check_writable(const std::string &path);

// Strides of a contiguous layout. Sizes were checked by whoever made the shape.
std::vector<int64_t> contiguous_strides(guf_dtype dtype, const std::vector<int64_t> &shape,
                                        bool fortran_order);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_FILE_H
