// SPDX-License-Identifier: Apache-2.0
// The memory that the rows of `gufunc bench` need.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_MEMORY_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_MEMORY_H

#include <string>
#include <vector>

#include "bench_plan.h"

namespace gufunc::cli {

// Throws Failure(kRunTime) if the operands of a row do not fit into memory. The operands of gufunc,
// of the copy and of the libraries `peers` count.
void check_memory(const BenchPlan &plan, const std::vector<std::string> &peers, guf_ufunc ufunc,
                  const guf_ufunc_info &info);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_MEMORY_H
