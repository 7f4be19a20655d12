// SPDX-License-Identifier: Apache-2.0
// Arrays that come and go as a stream of bytes: standard input and output, members of archives.
#ifndef GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H
#define GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "mapping.h"
#include "npy_header.h"

namespace gufunc::cli {

// What an operand is called that is standard input or output.
inline constexpr const char *kStandardStream = "-";

// Fills the span; returns fewer bytes at the end of the stream only. Throws Failure.
using ReadBytes = std::function<size_t(std::span<std::byte>)>;

// One array in memory, header included; reads no byte behind it. Throws Failure.
Mapping read_npy(const ReadBytes &read, bool raw_bf16, const std::string &name,
                 NpyHeader *out_header);

// The same as far as the header: what an array is, without its elements.
NpyHeader read_npy_description(const ReadBytes &read, bool raw_bf16, const std::string &name);

// The next array of standard input. Throws Failure(kFile).
Mapping read_standard_input(bool raw_bf16, NpyHeader *out_header);
// Refuses bytes that no operand has read; waits for the end of the stream.
void check_end_of_standard_input();

// Writes all, or throws Failure(kFile).
void write_all(int fd, std::span<const std::byte> bytes, const std::string &name);
// Refuses a terminal. Throws Failure(kUsage).
void check_standard_output();

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H
