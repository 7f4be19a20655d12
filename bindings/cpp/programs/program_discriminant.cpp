// SPDX-License-Identifier: Apache-2.0
// Calls a ufunc on arrays, on an array and numbers, and with a mask.
// tests/bindings/programs/README.md describes the program.
#include "npy_files.hpp"

int main(int argc, char **argv) {
  return run_program(argc, argv, [](const Folders &here) {
    const gufunc::Module module = here.module("discriminant");
    const gufunc::Ufunc discriminant("discriminant");
    const auto on = gufunc::CallKeywords().on(here.device);
    auto a = here.load<float>("discriminant_a"), b = here.load<float>("discriminant_b"),
         c = here.load<float>("discriminant_c");
    auto taken = here.load<uint8_t>("discriminant_mask");
    here.save<float>("discriminant_x", discriminant({a.operand(), b.operand(), c.operand()}, on));
    // Numbers are weak scalars: they adopt the dtype of the array.
    here.save<float>("discriminant_numbers", discriminant({a.operand(), 10.1, 1}, on));
    std::vector<float> out(a.values.size(), 7);
    const gufunc::Operand where(GUF_BOOL, taken.values.data(), taken.shape);
    discriminant({a.operand(), b.operand(), c.operand()}, {out},
                 gufunc::CallKeywords(on).where(where));
    here.save("discriminant_masked", out, a.shape);
  });
}
