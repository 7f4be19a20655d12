// SPDX-License-Identifier: Apache-2.0
// What run, explain and the methods share: operands from files and literals, keywords, the text of
// a result.
#ifndef GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
#define GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "npy_file.h"
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

// The arrays and files that the operands of one call lie in: operands borrow from it.
class OperandFiles {
 public:
  explicit OperandFiles(bool raw) : raw_(raw) {}
  OperandFiles(const OperandFiles &) = delete;
  OperandFiles &operator=(const OperandFiles &) = delete;

  // A .npy file. `writable`: the elements may be changed in memory; the file keeps its bytes.
  guf_operand file(const std::string &path, bool writable);
  // A .npy file, or else a literal.
  guf_operand operand_of(const std::string &text, bool writable);
  // A .npy file, or a list of integers: "0,3,5".
  guf_operand indices_of(const std::string &text);
  // A file to be: it appears with commit().
  guf_operand new_file(const std::string &path, guf_dtype dtype, const std::vector<int64_t> &shape,
                       bool fortran_order);
  // A new file with the elements of one that stays.
  guf_operand copy_of(const guf_operand &old, const std::string &path);
  // A new file with the elements of an existing one, whose place it takes with commit(): a failing
  // call leaves the old one as it was.
  guf_operand successor_of(const guf_operand &old);
  // Whether that would be possible; for a question.
  void check_successor(const guf_operand &old) const;
  // The outputs that `run`, guf_call or guf_outer, would allocate, full of zeros: an element that
  // args.where leaves out is 0 then, not what memory held.
  std::vector<ArrayHandle> zeros(guf_ufunc ufunc, guf_call_args args,
                                 guf_status (*run)(guf_ufunc, guf_call_args *, guf_error *));

  const std::deque<NpyOutput> &new_files() const { return new_files_; }
  void commit();
  uint64_t touched_bytes() const;
  uint64_t touched_elements() const;

 private:
  struct FalseMask {
    std::unique_ptr<void, decltype(&std::free)> elements;
    guf_tensor tensor;
  };
  guf_operand all_false(const guf_operand &mask);
  const NpyInput &source_of(const guf_operand &old) const;
  guf_operand copied(const NpyInput &source, const guf_operand &old, const std::string &path,
                     NpyOutput::Over over);

  bool raw_;
  std::deque<NpyInput> files_;  // deques: operands point into them
  std::deque<NpyOutput> new_files_;
  std::deque<guf_tensor> tensors_;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<FalseMask> masks_;
};

// A line on stderr: where, on how many threads at most (0: all of the device), how long, how much.
void report_time(const std::string &name, guf_device device, uint32_t threads, double seconds,
                 uint64_t bytes, uint64_t elements);

// An array or tensor as NumPy prints it.
std::string values_text(const guf_operand &operand);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_CALL_PARTS_H
