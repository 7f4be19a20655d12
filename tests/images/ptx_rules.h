// SPDX-License-Identifier: Apache-2.0
// Checks the rules for PTX that ensure identical result bits on the device and on the cpu.
#ifndef GUFUNC_TESTS_IMAGES_PTX_RULES_H
#define GUFUNC_TESTS_IMAGES_PTX_RULES_H

#include <cstdint>
#include <string>
#include <vector>

namespace gufunc::images {

// A function of a PTX text.
struct PtxFunction {
  std::string name;
  bool is_entry = false;
  // Size of the first parameter, which is the launch block of an entry.
  uint64_t parameter_bytes = 0;
  uint64_t local_bytes = 0;               // size of stack memory
  std::vector<std::string> instructions;  // for example "fma.rn.f32 %f1, %f2, %f3, %f4;"
};

std::vector<PtxFunction> read_ptx(const std::string &text);

// The inexact operations that a function may use: none, fused multiply-adds, or approximations.
enum class InexactOps { kNone, kFused, kApproximate };

// Returns violations of the rules, as "name: instruction":
//   .ftz only in approximations;  add, sub, mul, div, sqrt of f32 and f64 round to nearest (.rn);
//   fma only in functions that may use it;  .approx only in functions that may approximate, and
//   never for a square root;  no stack memory as large as the parameter block.
std::vector<std::string> find_ptx_faults(const PtxFunction &function, InexactOps inexact_ops);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_PTX_RULES_H
