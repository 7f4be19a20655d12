// SPDX-License-Identifier: Apache-2.0
// Runs the Hermite recurrence on device arrays on a stream. tests/bindings/programs/README.md
// describes the program.
#include "npy_files.hpp"

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("hermite");
    const gufunc::Ufunc hermite("hermite");
    const gufunc::Stream stream(here.device);
    const auto on = gufunc::CallKeywords().on(stream);
    auto rows = here.load<float>("hermite_rows");
    auto longer = here.load<double>("hermite_long");
    const gufunc::Array there = gufunc::Array::wrap(rows.operand()).to_device(here.device, stream);
    const gufunc::Array out = gufunc::Array::alloc(GUF_F32, rows.shape, here.device);
    out.fill(9, stream);
    hermite({there}, {out}, on);
    hermite({there}, {}, on);
    const gufunc::Array both = gufunc::Array::wrap(longer.operand()).to_device(here.device, stream);
    hermite({both}, {}, on);
    stream.synchronize();
    here.save<float>("hermite_out", out);
    here.save<float>("hermite_in_place", there);
    here.save<double>("hermite_long", both);
  });
}
