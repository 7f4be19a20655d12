// SPDX-License-Identifier: Apache-2.0
// Calls a ufunc whose kernel calls another device function, and reduces the result.
// tests/bindings/programs/README.md describes the program.
#include "npy_files.hpp"

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("device_function");
    const gufunc::Ufunc power_over("power_over"), add("add"), maximum("maximum");
    auto x = here.load<double>("device_function_x"), y = here.load<double>("device_function_y");
    const gufunc::Array out =
        power_over({x.operand(), y.operand(), 7}, gufunc::CallKeywords().on(here.device));
    here.save<double>("device_function_out", out);
    const auto on = gufunc::ReduceKeywords().on(here.device);
    here.save<double>("device_function_sum",
                      add.reduce(out, gufunc::ReduceKeywords(on).axes({0, 1})));
    here.save<double>("device_function_most",
                      maximum.reduce(out, gufunc::ReduceKeywords(on).axis(1).keepdims()));
  });
}
