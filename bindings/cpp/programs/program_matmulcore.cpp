// SPDX-License-Identifier: Apache-2.0
// Calls a generalized ufunc on stacks of matrices, also with transposed core axes.
// tests/bindings/programs/README.md describes the program.
#include "npy_files.hpp"

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("matmulcore");
    const gufunc::Ufunc matmulcore("matmulcore");
    const auto on = gufunc::CallKeywords().on(here.device);
    auto a = here.load<float>("matmulcore_a"), b = here.load<float>("matmulcore_b");
    here.save<float>("matmulcore_c", matmulcore({a.operand(), b.operand()}, on));
    const gufunc::Operand first(a.values.data(), {a.shape[1], a.shape[2]});
    here.save<float>(
        "matmulcore_transposed",
        matmulcore({b.operand(), first}, gufunc::CallKeywords(on).axes({{1, 0}, {1, 0}, {0, 1}})));
  });
}
