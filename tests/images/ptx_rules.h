// SPDX-License-Identifier: Apache-2.0
// What PTX must not have if a device is to give the bits that the cpu gives, told by its text.
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
  uint64_t parameter_bytes = 0;           // of the first parameter, an entry's block
  uint64_t local_bytes = 0;               // of its memory on the stack
  std::vector<std::string> instructions;  // "fma.rn.f32 %f1, %f2, %f3, %f4;"
};

std::vector<PtxFunction> read_ptx(const std::string &text);

// What a function may have beside exact operations.
enum class Freedom { kNone, kFused, kApproximate };

// What breaks a rule, as "name: instruction":
//   no .ftz but in approximations;  add, sub, mul, div, sqrt of f32 and f64 are rounded to nearest
//   (.rn);  fma only where the function is free to, .approx only in approximating ones, and of a
//   square root not there either;  no memory on the stack as large as the parameter block.
std::vector<std::string> find_ptx_faults(const PtxFunction &function, Freedom freedom);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_PTX_RULES_H
