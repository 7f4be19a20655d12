// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file, versions 1 to 3.
#ifndef GUFUNC_TOOLS_GUFUNC_NPY_HEADER_H
#define GUFUNC_TOOLS_GUFUNC_NPY_HEADER_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gufunc::cli {

// Contents of a header.
struct NpyHeader {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;  // bytes before the first element
  uint64_t data_size = 0;  // bytes of all elements
};

// All functions throw Failure(kFile) with a message that begins with `name`. With `raw_bf16`, the
// two-byte void type ("V2") means bfloat16, which .npy has no name for.

// Returns the number of bytes before the first element. `bytes` must contain the first 10 (version
// 1) or 12 bytes of the file.
size_t npy_header_size(std::span<const std::byte> bytes, const std::string &name);

// Parses the start of a file. Reads nothing outside `bytes`, which may end after the header.
NpyHeader parse_npy_description(std::span<const std::byte> bytes, bool raw_bf16,
                                const std::string &name);

// Refuses a file with missing or extra bytes. `present` is the number of bytes after the header.
void check_npy_size(const NpyHeader &header, uint64_t present, const std::string &name);

// Returns the header of a new file, padded so that the data starts at a multiple of 64 bytes.
// Throws Failure(kFile) for bf16 unless `raw_bf16` is set.
std::string make_npy_header(guf_dtype dtype, const std::vector<int64_t> &shape, bool fortran_order,
                            bool raw_bf16);

// Returns the strides of a contiguous layout. The caller must have checked that its size does not
// overflow.
std::vector<int64_t> contiguous_strides(guf_dtype dtype, const std::vector<int64_t> &shape,
                                        bool fortran_order);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_HEADER_H
