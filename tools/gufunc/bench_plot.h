// SPDX-License-Identifier: Apache-2.0
// The plot of `gufunc bench`.
#ifndef GUFUNC_TOOLS_GUFUNC_BENCH_PLOT_H
#define GUFUNC_TOOLS_GUFUNC_BENCH_PLOT_H

#include <string>

#include "bench_report.h"

namespace gufunc::cli {

// Returns an SVG image without scripts. It has one panel for each combination of method, dtype,
// layout, device and number of threads. In a panel, x is the number of elements, y the throughput
// (with `plots_time` the time per element), and each library has one line. The line of the copy,
// the limit of memory throughput, is dashed. Both axes are logarithmic. Colours follow the light or
// dark mode of the viewer.
std::string plot_svg(const BenchReport &report, bool plots_time);

}  // namespace gufunc::cli

#endif  // GUFUNC_TOOLS_GUFUNC_BENCH_PLOT_H
