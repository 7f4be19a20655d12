// SPDX-License-Identifier: Apache-2.0
// The table that `gufunc bench` prints.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_TABLE_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_TABLE_H

#include <cstddef>
#include <string>
#include <vector>

#include "bench_report.h"

namespace gufunc::cli {

// Prints a table on stdout, one row after the other.
class BenchTable {
 public:
  // `cases` are the rows that will be printed, and determine the widths of the columns.
  BenchTable(const std::vector<BenchCase> &cases, const std::vector<std::string> &peers);

  // Throw Failure(kFile) if standard output cannot be written.
  void print_header() const;
  void print_row(const BenchRow &row) const;

 private:
  void print(const std::vector<std::string> &cells) const;

  std::vector<std::string> names_;
  std::vector<size_t> widths_;
};

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_TABLE_H
