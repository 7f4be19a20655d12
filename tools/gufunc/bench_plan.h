// SPDX-License-Identifier: Apache-2.0
// What `gufunc bench` measures: the options of the command, parsed and checked.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_PLAN_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_PLAN_H

#include <gufunc/gufunc.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench_values.h"
#include "commands.h"

namespace gufunc::cli {

// The largest number of elements of an operand. f64 represents all integers up to it.
constexpr double kMostElements = 1e15;

// One row of the table.
struct BenchCase {
  std::string method;  // "call", "reduce", "accumulate"
  guf_dtype dtype = 0;
  std::string layout;           // "contiguous", "strided", "broadcast", "transposed"
  std::vector<int64_t> shape;   // of the loop; of the input of a method
  std::string device;           // "cpu", "cuda:0"
  uint32_t threads = 0;         // 0: the backend chooses
  std::vector<guf_dtype> loop;  // call: the dtypes of the inputs, then of the outputs
};

struct BenchPlan {
  std::vector<BenchCase> cases;
  std::vector<std::string> peers;
  std::vector<std::pair<std::string, int64_t>> dims;  // sizes of core dimensions
  std::optional<int64_t> axis;                        // of methods; without a value: all axes
  std::optional<ValueRange> values;                   // without a value: chosen by the function
  std::optional<uint64_t> memory;                     // limit in bytes
  double seconds = 0;                                 // per row
  bool plots_time = false;                            // y is the time, not the throughput
};

// Throws Failure: kUsage for an invalid value, kRefused for a dtype without a loop.
BenchPlan plan_of(const BenchOptions &options, guf_ufunc ufunc, const guf_ufunc_info &info);

// Returns a shape as "1000x1000"; "1" for no dimensions.
std::string shape_text(const std::vector<int64_t> &shape);
// "1 thread", "2 threads", "" if the backend chooses.
std::string threads_text(uint32_t threads);

guf_dtype_info info_of(guf_dtype dtype);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_PLAN_H
