// SPDX-License-Identifier: Apache-2.0
// Converts elements between dtypes, byte orders and alignments. Staging and the `convert` slot use
// it.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H

#include <gufunc/backend.h>

#include <gufunc/kernel/time.hpp>

#include <cstdint>

namespace gufunc::cpu {

// The representation of the elements of one side in memory.
struct ElementForm {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool unaligned = false;
};

// A chosen conversion, usable after choose() has returned true. It owns no memory.
class ElementConverter {
 public:
  // Returns false if there is no such cast: from a structured dtype to another dtype or byte order,
  // or between datetime units without a conversion factor.
  bool choose(const ElementForm &from, const ElementForm &to);

  void row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) const;

  // Converts several dimensions. The longest one becomes the row.
  static constexpr int kMaxDims = 1 + GUF_MAX_CORE_STRIDES;
  void box(char *to, const int64_t *to_step, const char *from, const int64_t *from_step,
           const int64_t *size, int ndim) const;

 private:
  bool choose_cast(guf_dtype from, guf_dtype to);
  void row_by_blocks(char *to, int64_t to_step, const char *from, int64_t from_step,
                     int64_t count) const;

  guf_loop_numpy cast_;          // NULL: the bits do not change
  guf::time::conversion units_;  // the parameters of a cast between units
  uint32_t from_bytes_, to_bytes_;
  uint32_t from_swap_, to_swap_;  // bytes that are swapped as one unit; 0: native order
  bool from_staged_, to_staged_;  // the cast cannot access that side directly
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H
