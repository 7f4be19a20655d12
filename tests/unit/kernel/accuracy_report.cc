// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/accuracy.md: the largest error of each function over many points.
#include <cstdio>
#include <cstdlib>

#include "math_points.h"

int main(int argc, char **argv) {
  using namespace gufunc::test;
  const int count = argc > 1 ? std::atoi(argv[1]) : 100000;
  std::printf("| function | f32 | bar | f64 | bar | f64 worst at |\n|---|---|---|---|---|---|\n");
  for (const MathRow &row : math_rows()) {
    const Worst f32 = measure<float>(row, count), f64 = measure<double>(row, count);
    std::printf("| %s | %.3f | %.2f | %.3f | %.2f | %a", row.name, f32.error, row.bar32, f64.error,
                row.bar64, f64.x);
    if (!row.second.empty()) std::printf(", %a", f64.y);
    std::printf(" |\n");
    std::fflush(stdout);
  }
}
