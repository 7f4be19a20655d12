// SPDX-License-Identifier: Apache-2.0
// Calls a generalized ufunc that writes its input. tests/bindings/programs/README.md describes the
// program.
#include "npy_files.hpp"

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("cumulative_power");
    const gufunc::Ufunc cumulative_power("cumulative_power");
    const auto on = gufunc::CallKeywords().on(here.device);
    auto rows = here.load<float>("cumulative_power_rows");
    auto columns = here.load<double>("cumulative_power_columns");
    // A separate output with a negative stride.
    std::vector<float> reversed(rows.values.size());
    const gufunc::Operand backwards(reversed.data() + 3, rows.shape, {4 * sizeof(float), -4});
    cumulative_power({rows.operand()}, {backwards}, on);
    here.save("cumulative_power_reversed", reversed, rows.shape);
    cumulative_power({rows.operand()}, {}, on);
    here.save("cumulative_power_rows", rows.values, rows.shape);
    cumulative_power({columns.operand()}, {}, gufunc::CallKeywords(on).axis(0));
    here.save("cumulative_power_columns", columns.values, columns.shape);
  });
}
