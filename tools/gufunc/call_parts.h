// SPDX-License-Identifier: Apache-2.0
// What run, explain and the methods share: keywords, the text of a result.
#ifndef GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
#define GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "outcome.h"
#include "owned_handle.h"

namespace gufunc::cli {

// Throws Failure(kUsage).
[[noreturn]] void usage(const std::string &message);

// Results go to one place at most: -o, --into or --inplace.
void want_one_place(bool output, bool into, bool inplace);
// -o or --into, where given, once per result.
void want_one_per_result(const std::string &name, size_t nresults, const char *option,
                         size_t given);
// No file takes two results, of which one would be lost.
void want_different_files(const char *option, const std::vector<std::string> &paths);

// What cannot be a stream or an array of an archive, and what cannot share standard output.
void check_streams(const std::vector<std::string> &outputs, const std::vector<std::string> &into,
                   bool json);

const char *role_name(int32_t role);  // "inout"

// "a, b,c" -> a, b, c: parts between commas, without spaces before them. "" has one part.
std::vector<std::string_view> parts_of(std::string_view text);
int32_t casting_of(const std::string &name);
int32_t order_of(const std::string &letter);
// `whole`: the option's value where `text` is a part of it.
int64_t axis_of(std::string_view text, std::string_view whole, const char *wanted);
uint32_t threads_of(const std::string &text);   // "" is 0: the backend's choice
guf_dtype dtype_of(const std::string &name);    // "" is 0: any
guf_device device_of(const std::string &spec);  // "" is NULL: where the operands lie
// The device that the first line of an explanation names: "add on cuda:0: loop 11 ...".
guf_device device_in(const std::string &explanation);
guf_operand tensor_operand(const guf_tensor *tensor);
guf_ufunc_info info_of(guf_ufunc ufunc);
// How many results a call has: its outputs, or its inout operands where it has no outputs.
size_t results_of(const guf_ufunc_info &info);
// An array or tensor.
guf_array_info info_of(const guf_operand &operand);

uint32_t itemsize_of(guf_dtype dtype);

// Whether a layout is F-contiguous and not C-contiguous as well.
bool is_fortran(guf_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides);

// A text of the library whose length it tells first: ask(buffer, &length, error).
template <class Ask>
std::string text_of(Ask ask) {
  Call call;
  uint64_t length = 0;
  const guf_status status = ask(nullptr, &length, call.error());
  if (status != GUF_E_BUFFER_TOO_SMALL) call.check(status);
  std::string text(length, '\0');
  call.check(ask(text.data(), &length, call.error()));
  text.resize(length - 1);  // without the NUL
  return text;
}

// A line on stderr: where, on how many threads at most by the call's explanation, how long, how
// much.
void report_time(const std::string &name, guf_device device, const std::string &explanation,
                 double seconds, uint64_t bytes, uint64_t elements);

// An array or tensor as NumPy prints it.
std::string values_text(const guf_operand &operand);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
