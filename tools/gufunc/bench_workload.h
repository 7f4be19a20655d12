// SPDX-License-Identifier: Apache-2.0
// The operands of one row of `gufunc bench`, and the timed calls of the library on them.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <vector>

#include "bench_operands.h"
#include "bench_plan.h"
#include "owned_handle.h"

namespace gufunc::cli {

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
  guf_ufunc ufunc_;
  const BenchCase &row_;
  guf_device device_;
  std::vector<BenchOperand> inputs_, outputs_;
  ValueRange values_;
  std::vector<ArrayHandle> arrays_;  // memory and views
  BenchArguments arguments_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_WORKLOAD_H
