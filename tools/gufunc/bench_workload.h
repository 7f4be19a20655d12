// SPDX-License-Identifier: Apache-2.0
// The operands of one row of `gufunc bench`, and the timed calls of the library on them.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H

#include <gufunc/gufunc.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "bench_plan.h"
#include "owned_handle.h"

namespace gufunc::cli {

// The memory of one operand and the view of it that the calls use.
struct BenchOperand {
  guf_dtype dtype = 0;
  int64_t size = 0;  // elements of memory
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;    // in elements
  std::vector<std::byte> pattern;  // inputs: fills the memory repeatedly
};

// Returns the layouts of the inputs of a row, without patterns.
std::vector<BenchOperand> inputs_of(const BenchCase &row, const BenchPlan &plan,
                                    const guf_ufunc_info &info);
// Returns the memory of all operands of a row, in bytes. The result of a reduction is not included.
double operand_bytes(const BenchCase &row, const BenchPlan &plan, const guf_ufunc_info &info);

// Owns the operands of one row. `ufunc`, `row` and `plan` must outlive the object.
class BenchWorkload {
 public:
  // Allocates and fills the operands. Throws Failure if the library refuses the call.
  BenchWorkload(guf_ufunc ufunc, const guf_ufunc_info &info, const BenchCase &row,
                const BenchPlan &plan);

  // Returns the nanoseconds of `calls` calls, after one call that reads the operands into the
  // cache.
  double sample(int64_t calls);

  const std::vector<BenchOperand> &inputs() const { return inputs_; }
  const std::vector<BenchOperand> &outputs() const { return outputs_; }
  ValueRange values() const { return values_; }  // of the first input
  // Number of elements of the loop, or of the input of a method.
  int64_t elements() const;
  // Bytes of the elements that a call reads and writes, each element once.
  uint64_t bytes() const;
  // The maximum number of threads that the backend uses; 0 if it is a GPU.
  uint32_t threads() const;
  guf_device device() const { return device_; }

 private:
  void add_input(BenchOperand input, const ValueRange &values);
  void resolve();
  void add_output(guf_dtype dtype, std::vector<int64_t> shape);
  void add_view(const BenchOperand &operand, ArrayHandle memory);
  guf_request request() const;
  void call();

  guf_ufunc ufunc_;
  const BenchCase &row_;
  guf_device device_;
  std::vector<BenchOperand> inputs_, outputs_;
  ValueRange values_;
  std::vector<ArrayHandle> arrays_;  // memory and views
  std::vector<guf_operand> input_operands_, output_operands_;
  std::deque<std::string> dim_names_;
  std::vector<guf_dim> dims_;
  guf_call_args call_ = {};
  guf_reduce_args reduce_ = {};
  guf_accumulate_args accumulate_ = {};
  int64_t axis_ = 0;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H
