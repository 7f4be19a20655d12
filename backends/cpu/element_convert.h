// SPDX-License-Identifier: Apache-2.0
// Elements from one dtype, byte order and alignment to another: what staging and `convert` are made
// of.
#ifndef GUFUNC_BACKENDS_CPU_ELEMENT_CONVERT_H
#define GUFUNC_BACKENDS_CPU_ELEMENT_CONVERT_H

#include <gufunc/backend.h>

#include <gufunc/kernel/time.hpp>

#include <cstdint>

namespace gufunc::cpu {

// How the elements of one side lie in memory.
struct ElementForm {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool unaligned = false;
};

// A chosen way to convert: usable once choose() has said true. No memory of its own.
class ElementConverter {
 public:
  // False when there is no such cast: of a record to another type or byte order, of a time to a
  // unit that it has no factor to.
  bool choose(const ElementForm &from, const ElementForm &to);

  void row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) const;

  // The same over several dimensions. The longest becomes the row.
  static constexpr int kMaxDims = 1 + GUF_MAX_CORE_STRIDES;
  void box(char *to, const int64_t *to_step, const char *from, const int64_t *from_step,
           const int64_t *size, int ndim) const;

 private:
  bool choose_cast(guf_dtype from, guf_dtype to);
  void row_by_blocks(char *to, int64_t to_step, const char *from, int64_t from_step,
                     int64_t count) const;

  guf_loop_numpy cast_;          // NULL: the bits stay
  guf::time::conversion units_;  // what a cast between units reads
  uint32_t from_bytes_, to_bytes_;
  uint32_t from_swap_, to_swap_;  // bytes that swap as one; 0: native order
  bool from_staged_, to_staged_;  // the cast cannot touch that side itself
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_ELEMENT_CONVERT_H
