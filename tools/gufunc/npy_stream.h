// SPDX-License-Identifier: Apache-2.0
// Arrays that are read or written as a stream of bytes: standard input and output, archive members.
#ifndef GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H
#define GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "mapping.h"
#include "npy_header.h"

namespace gufunc::cli {

// Operand name of standard input and output.
inline constexpr const char *kStandardStream = "-";

// Fills the span. Returns fewer bytes only at the end of the stream. Throws Failure.
using ReadBytes = std::function<size_t(std::span<std::byte>)>;

// Reads one array into memory, header included, and no byte after it. Throws Failure.
Mapping read_npy(const ReadBytes &read, bool raw_bf16, const std::string &name,
                 NpyHeader *out_header);

// Reads only the header of an array. Throws Failure.
NpyHeader read_npy_description(const ReadBytes &read, bool raw_bf16, const std::string &name);

// Reads the next array of standard input. Throws Failure(kFile).
Mapping read_standard_input(bool raw_bf16, NpyHeader *out_header);
// Waits for the end of standard input, and refuses bytes that no operand has read.
void check_end_of_standard_input();

// Writes all bytes, or throws Failure(kFile).
void write_all(int fd, std::span<const std::byte> bytes, const std::string &name);
// Refuses to write to a terminal. Throws Failure(kUsage).
void check_standard_output();

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_NPY_STREAM_H
