// SPDX-License-Identifier: Apache-2.0
// Parses PTX and the output of llvm-readelf and ptxas about entries, and reports faults. The rules
// for PTX ensure identical result bits on the device and on the cpu.
#ifndef GUFUNC_TESTS_IMAGES_INSPECTION_H
#define GUFUNC_TESTS_IMAGES_INSPECTION_H

#include <cstdint>
#include <gufunc/kernel/work_item.hpp>
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

// Returns violations of the rules, as "name: instruction":
//   no .ftz and no .approx;  add, sub, mul, div, sqrt of f32 and f64 round to nearest (.rn);
//   fma only if `may_fuse`;  no stack memory as large as the parameter block.
std::vector<std::string> find_ptx_faults(const PtxFunction &function, bool may_fuse);

// The properties of a kernel in the output of `llvm-readelf --notes`.
struct AmdKernel {
  std::string name;
  uint64_t kernarg_bytes = 0, scratch_bytes = 0, lds_bytes = 0, max_threads = 0;
  uint64_t vector_spills = 0, scalar_spills = 0;
  bool dynamic_stack = false;
};
std::vector<AmdKernel> read_amd_notes(const std::string &notes);

// Returns whether the output of `llvm-readelf --dyn-syms -W` contains the kernel's launch
// descriptor, which has 64 bytes.
bool has_descriptor(const std::string &symbols, const std::string &kernel);

// The properties of a function in the output of `ptxas -v`.
struct PtxasLine {
  std::string name;
  bool is_entry = false;
  uint64_t stack_bytes = 0, spill_bytes = 0;
};
std::vector<PtxasLine> read_ptxas(const std::string &message);

// Returns whether the source of a PTX function contains fused multiply-adds: the mathematical
// functions, and functions that compute with unevaluated sums of two numbers.
bool may_fuse(const std::string &function);

// Return faults in the form "name: description". Entries named *_row are limited by bandwidth and
// must have no spills and no stack.
std::vector<std::string> find_amd_faults(const AmdKernel &kernel,
                                         const guf::device::emulated_kernel &known);
std::vector<std::string> find_ptxas_faults(const PtxasLine &line);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_INSPECTION_H
