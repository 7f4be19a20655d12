// SPDX-License-Identifier: Apache-2.0
// The shapes and layouts of the operands of one row of `gufunc bench`, and the arguments of its
// call.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_OPERANDS_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_OPERANDS_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "bench_plan.h"

namespace gufunc::cli {

// The memory of one operand and the view of it that the calls use.
struct BenchOperand {
  guf_dtype dtype = 0;
  int64_t size = 0;  // elements of memory
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;    // in elements
  std::vector<std::byte> pattern;  // inputs: fills the memory repeatedly
};

// Returns the inputs of a row, without patterns.
std::vector<BenchOperand> inputs_of(const BenchCase &row, const BenchPlan &plan,
                                    const guf_ufunc_info &info);
// Returns the outputs of a row. The library determines their dtypes and shapes. Throws Failure if
// it refuses the call.
std::vector<BenchOperand> outputs_of(guf_ufunc ufunc, const BenchCase &row, const BenchPlan &plan,
                                     const guf_ufunc_info &info);
// Returns the bytes of the elements that a call reads and writes, each element once.
uint64_t moved_bytes(const std::vector<BenchOperand> &inputs,
                     const std::vector<BenchOperand> &outputs);

// The arguments of the call or the method of a row. `row` must outlive the object.
class BenchArguments {
 public:
  BenchArguments(const BenchCase &row, const BenchPlan &plan, const guf_ufunc_info &info);
  BenchArguments(const BenchArguments &) = delete;
  BenchArguments &operator=(const BenchArguments &) = delete;

  // The operands are borrowed.
  void set_input(size_t index, const guf_operand &operand) { inputs_[index] = operand; }
  void set_output(size_t index, const guf_operand &operand) { outputs_[index] = operand; }

  guf_request request() const;
  // Calls until a call fails, at most `calls` times. Returns the status of the last call.
  guf_status call(guf_ufunc ufunc, int64_t calls, guf_error *error);

 private:
  const BenchCase &row_;
  std::vector<guf_operand> inputs_, outputs_;
  std::deque<std::string> dim_names_;
  std::vector<guf_dim> dims_;
  int64_t axis_ = 0;
  guf_call_args call_ = {};
  guf_reduce_args reduce_ = {};
  guf_accumulate_args accumulate_ = {};
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_OPERANDS_H
