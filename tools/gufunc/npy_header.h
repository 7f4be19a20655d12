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

// What a header describes.
struct NpyHeader {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;  // bytes before the first element
  uint64_t data_size = 0;  // bytes of all elements
};

// All throw Failure(kFile) that begins with `name` and says what is wrong. `raw_bf16`: two-byte
// void ("V2") means bfloat16, which .npy cannot name.

// Bytes before the first element, from the first 10 (version 1) or 12 bytes of a file.
size_t npy_header_size(std::span<const std::byte> bytes, const std::string &name);

// Parses the start of a file; reads nothing outside `bytes`, which may end with the header.
NpyHeader parse_npy_description(std::span<const std::byte> bytes, bool raw_bf16,
                                const std::string &name);

// Refuses a file with missing or extra bytes; `present` are there after the header.
void check_npy_size(const NpyHeader &header, uint64_t present, const std::string &name);

// Both, of a whole file.
NpyHeader parse_npy_header(std::span<const std::byte> bytes, bool raw_bf16,
                           const std::string &name);

// The header of a new file, padded so that data starts on a multiple of 64.
// Throws Failure(kFile) for bf16 unless `raw_bf16`.
std::string make_npy_header(guf_dtype dtype, const std::vector<int64_t> &shape, bool fortran_order,
                            bool raw_bf16);

// Strides of a contiguous layout. Sizes were checked by whoever made the shape.
std::vector<int64_t> contiguous_strides(guf_dtype dtype, const std::vector<int64_t> &shape,
                                        bool fortran_order);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_HEADER_H
