// SPDX-License-Identifier: Apache-2.0
#include "bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "outcome.h"
#include "terminal.h"

namespace gufunc::cli {
namespace {

std::string number_text(double value) {
  return value < 10     ? fmt::format("{:.4f}", value)
         : value < 1000 ? fmt::format("{:.1f}", value)
                        : fmt::format("{:.0f}", value);
}

// Returns the cells that describe a row, without its results.
std::vector<std::string> labels(const BenchCase &row) {
  const bool chosen = row.threads == 0;
  return {row.method, guf_dtype_name(row.dtype),
          row.layout, shape_text(row.shape),
          row.device, row.device != "cpu" ? "-" : chosen ? "any" : std::to_string(row.threads)};
}

}  // namespace

BenchTable::BenchTable(const std::vector<BenchCase> &cases, const std::vector<std::string> &peers)
    : names_({"method", "dtype", "layout", "shape", "device", "threads", "gufunc ns", "GB/s",
              "copy GB/s"}) {
  for (const std::string &peer : peers) {
    names_.push_back(peer + " ns");
    names_.emplace_back("ratio");
  }
  for (const std::string &name : names_) widths_.push_back(std::max<size_t>(name.size(), 8));
  for (const BenchCase &row : cases) {
    const std::vector<std::string> cells = labels(row);
    for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  }
}

void BenchTable::print_header() const {
  print(names_);
}

void BenchTable::print_row(const BenchRow &row) const {
  std::vector<std::string> cells = labels(row.what);
  const BenchTime &own = row.times[0];
  cells.push_back(number_text(row.ns_per_element(own)));
  cells.push_back(number_text(own.gb_per_s()));
  cells.push_back(number_text(row.times[1].gb_per_s()));
  for (size_t i = 2; i < row.times.size(); ++i) {
    const BenchTime &time = row.times[i];
    cells.push_back(time.measured() ? number_text(row.ns_per_element(time)) : "-");
    cells.push_back(time.measured() ? fmt::format("{:.2f}", row.ratio(time)) : "-");
  }
  print(cells);
}

// Aligns words to the left and numbers to the right.
void BenchTable::print(const std::vector<std::string> &cells) const {
  constexpr size_t kWords = 3;
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string gap = i == 0 ? "" : "  ";
    line += i < kWords || i == 4 ? fmt::format("{}{:<{}}", gap, cells[i], widths_[i])
                                 : fmt::format("{}{:>{}}", gap, cells[i], widths_[i]);
  }
  write_line(line);
  if (std::fflush(stdout) != 0) throw Failure(Exit::kFile, "cannot write to standard output");
}

}  // namespace gufunc::cli
