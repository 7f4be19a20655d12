// SPDX-License-Identifier: Apache-2.0
// Parses the output of llvm-readelf and ptxas about entries, and reports faults.
#ifndef GUFUNC_TESTS_IMAGES_INSPECTION_H
#define GUFUNC_TESTS_IMAGES_INSPECTION_H

#include <cstdint>
#include <string>
#include <vector>

#include <gufunc/kernel/work_item.hpp>

#include "tests/images/ptx_rules.h"

namespace gufunc::images {

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

// Returns which inexact operations a PTX function may use. The vendor's mathematics, in separate
// functions (GUF_HEAVY), uses approximations. Functions with double-word arithmetic use fused
// multiply-adds to compute exact products.
InexactOps allowed_inexact_ops(const std::string &function);

// Return faults in the form "name: description". Entries named *_row are limited by bandwidth and
// must have no spills and no stack, except that the vendor's trigonometric functions may use a
// small stack to reduce large arguments.
std::vector<std::string> find_amd_faults(const AmdKernel &kernel,
                                         const guf::device::emulated_kernel &known);
std::vector<std::string> find_ptxas_faults(const PtxasLine &line);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_INSPECTION_H
