// SPDX-License-Identifier: Apache-2.0
// What llvm-readelf and ptxas say of entries, and what of that is a fault.
#ifndef GUFUNC_TESTS_IMAGES_INSPECTION_H
#define GUFUNC_TESTS_IMAGES_INSPECTION_H

#include <cstdint>
#include <string>
#include <vector>

#include <gufunc/kernel/work_item.hpp>

namespace gufunc::images {

// A kernel of `llvm-readelf --notes`.
struct AmdKernel {
  std::string name;
  uint64_t kernarg_bytes = 0, scratch_bytes = 0, lds_bytes = 0, max_threads = 0;
  uint64_t vector_spills = 0, scalar_spills = 0;
  bool dynamic_stack = false;
};
std::vector<AmdKernel> read_amd_notes(const std::string &notes);

// A function of `ptxas -v`.
struct PtxasLine {
  std::string name;
  bool is_entry = false;
  uint64_t stack_bytes = 0, spill_bytes = 0;
};
std::vector<PtxasLine> read_ptxas(const std::string &said);

// Whether an entry is allowed fused multiply-adds and approximate instructions: the vendor's
// mathematics has them, what IEEE 754 fixes has not.
bool is_inexact(const std::string &entry);

// Faults as "name: what". Entries called *_row are what bandwidth is lost in: no stack, no spills;
// of the vendor's trigonometry, whose reduction of large arguments wants it, a little.
std::vector<std::string> find_amd_faults(const AmdKernel &kernel,
                                         const guf::device::items_kernel &known);
std::vector<std::string> find_ptxas_faults(const PtxasLine &line);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_INSPECTION_H
