// SPDX-License-Identifier: Apache-2.0
// What llvm-readelf and ptxas say of entries, and what of that is a fault.
#ifndef GUFUNC_TESTS_IMAGES_INSPECTION_H
#define GUFUNC_TESTS_IMAGES_INSPECTION_H

#include <cstdint>
#include <string>
#include <vector>

#include <gufunc/kernel/work_item.hpp>

#include "tests/images/ptx_rules.h"

namespace gufunc::images {

// A kernel of `llvm-readelf --notes`.
struct AmdKernel {
  std::string name;
  uint64_t kernarg_bytes = 0, scratch_bytes = 0, lds_bytes = 0, max_threads = 0;
  uint64_t vector_spills = 0, scalar_spills = 0;
  bool dynamic_stack = false;
};
std::vector<AmdKernel> read_amd_notes(const std::string &notes);

// Whether `llvm-readelf --dyn-syms -W` lists the descriptor that a launch reads: 64 bytes of data.
bool has_descriptor(const std::string &symbols, const std::string &kernel);

// A function of `ptxas -v`.
struct PtxasLine {
  std::string name;
  bool is_entry = false;
  uint64_t stack_bytes = 0, spill_bytes = 0;
};
std::vector<PtxasLine> read_ptxas(const std::string &said);

// What a function of PTX may have beside exact operations. The vendor's mathematics, which is a
// function of its own (GUF_HEAVY), has approximations; what works with sums of two numbers has
// fused multiply-adds, for exact products.
Freedom freedom_of(const std::string &function);

// Faults as "name: what". Entries called *_row are what bandwidth is lost in: no spills and no
// stack; of the vendor's trigonometry, whose reduction of large arguments wants it, a little.
std::vector<std::string> find_amd_faults(const AmdKernel &kernel,
                                         const guf::device::items_kernel &known);
std::vector<std::string> find_ptxas_faults(const PtxasLine &line);

}  // namespace gufunc::images

#endif  // GUFUNC_TESTS_IMAGES_INSPECTION_H
