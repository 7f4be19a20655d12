// SPDX-License-Identifier: Apache-2.0
// Helpers shared by run, explain and the methods: option parsing and printing of results.
#ifndef GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
#define GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H

#include <gufunc/gufunc.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome.h"
#include "owned_handle.h"

namespace gufunc::cli {

// A request for `operation` (guf_operation), which borrows the arguments.
inline guf_request request_of(int32_t operation, const guf_call_args &args) {
  return {sizeof(guf_request), operation, &args, nullptr, nullptr, nullptr};
}
inline guf_request request_of(int32_t operation, const guf_reduce_args &args) {
  return {sizeof(guf_request), operation, nullptr, &args, nullptr, nullptr};
}
inline guf_request request_of(int32_t operation, const guf_accumulate_args &args) {
  return {sizeof(guf_request), operation, nullptr, nullptr, &args, nullptr};
}
inline guf_request request_of(int32_t operation, const guf_at_args &args) {
  return {sizeof(guf_request), operation, nullptr, nullptr, nullptr, &args};
}

// Throws Failure(kUsage).
[[noreturn]] void usage(const std::string &message);
// Throws Failure(kUsage) for a value of an option: "--axis: expected an integer, got 'x'".
[[noreturn]] void refuse_value(const char *option, const std::string &expected,
                               std::string_view got);

// Refuses more than one of -o, --into and --inplace.
void check_one_destination(bool output, bool into, bool inplace);
// Refuses -o or --into unless it is given once per result or not at all.
void check_one_per_result(const std::string &name, size_t nresults, const char *option,
                          size_t given);
// Refuses a file that is named for two results, because the second result would overwrite the
// first.
void check_different_files(const char *option, const std::vector<std::string> &paths);

// Refuses --into with a stream or an archive member, and -o - together with --json.
void check_streams(const std::vector<std::string> &outputs, const std::vector<std::string> &into,
                   bool json);

const char *role_name(int32_t role);  // such as "inout"

// Splits at commas and drops leading spaces: "a, b,c" -> a, b, c. "" has one part.
std::vector<std::string_view> parts_of(std::string_view text);
// Parses a whole text as a finite number.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value = 0;
  const char *const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}
int32_t casting_of(const std::optional<std::string> &name);  // without a value: the default
int32_t order_of(const std::string &letter);
// Parses `text` as the value of --axis, or as a part of the value `whole`, which the error quotes.
int64_t axis_of(std::string_view text, std::string_view whole, const char *expected);
inline constexpr const char *kOneAxis = "an integer";
// Returns the number of threads. Returns 0 without a value; the backend then chooses the number.
uint32_t threads_of(const std::optional<std::string> &text);
// Parses a number of bytes: "65536", "64K", "8M", "1G". Throws Failure(kUsage).
uint64_t bytes_of_option(const char *option, const std::string &text);
guf_dtype dtype_of(const std::optional<std::string> &name);    // without a value: 0, any dtype
guf_device device_of(const std::optional<std::string> &spec);  // without a value: NULL, the device
                                                               // of the operands
// Returns the device named in the first line of an explanation: "add on cuda:0: loop 11 ...".
guf_device device_in(const std::string &explanation);
guf_operand tensor_operand(const guf_tensor *tensor);
guf_ufunc_info info_of(guf_ufunc ufunc);
// Number of results of a call: its outputs, or its inout operands if it has no outputs.
size_t results_of(const guf_ufunc_info &info);
// The operand must be an array or a tensor.
guf_array_info info_of(const guf_operand &operand);

uint32_t itemsize_of(guf_dtype dtype);

// Whether a layout is F-contiguous but not C-contiguous.
bool is_fortran(guf_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides);

// Reads a text from a library function in two calls: the first call returns the length.
// query(buffer, &length, error) calls the function.
template <class Query>
std::string text_of(Query query) {
  Call call;
  uint64_t length = 0;
  const guf_status status = query(nullptr, &length, call.error());
  if (status != GUF_E_BUFFER_TOO_SMALL) call.check(status);
  std::string text(length, '\0');
  call.check(query(text.data(), &length, call.error()));
  text.resize(length - 1);  // without the NUL
  return text;
}

// Returns the maximum number of threads in an explanation: the number in its "threads: " line, or N
// if the line reads "up to N". Returns 0 if there is no such line.
uint32_t most_threads(const std::string &explanation);

// Prints one line on stderr: device, number of threads (from the explanation of the call), seconds,
// GB/s and elements per second.
void report_time(const std::string &name, guf_device device, const std::string &explanation,
                 double seconds, uint64_t bytes, uint64_t elements);

// Formats an array or a tensor as NumPy prints it.
std::string values_text(const guf_operand &operand);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
