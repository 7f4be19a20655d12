// SPDX-License-Identifier: Apache-2.0
// Copies elements, and converts them between dtypes, byte orders and alignments. Staging and the
// `convert` slot use these conversions.
#ifndef GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H
#define GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H

#include <gufunc/backend.h>
#include <gufunc/kernel/time.hpp>

#include <cstdint>

namespace gufunc::cpu {

// Copies `count` elements of `size` bytes. Steps are signed and in bytes.
// `swap` is 0, or the number of bytes that are reversed as one unit:
// `size`, or half of `size` for complex numbers. If `swap` is not 0, `size` is 1, 2, 4, 8 or 16.
void copy_elements(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count,
                   uint32_t size, uint32_t swap);

// The loops of guf::cast, one for each pair of dtypes, are compiled for this machine's ISA level.
// Returns the elementwise loop that casts from `from` to `to`,
// or NULL if the dtypes are equal or one of them is not among the fifteen builtin dtypes.
// Elements must be aligned and in native byte order; steps are arbitrary.
guf_loop_numpy find_cast(guf_dtype from, guf_dtype to);

// Chooses the cast between two datetime types. If `*out_cast` is NULL, the elements are copied;
// otherwise `*out_cast` is a loop whose user pointer must be `out_units`. NaT stays NaT. A cast
// between datetime64 and timedelta64 keeps the number of steps. Returns false if the units have no
// conversion factor.
bool choose_time_cast(guf_dtype from, guf_dtype to, guf_loop_numpy *out_cast,
                      guf::time::conversion *out_units);

// Returns the cast from a floating-point or complex type, or NULL for other types: all other casts
// of datetime types use the loops of int64.
// The cast rounds towards 0. NaN and values outside the range of int64 become NaT.
guf_loop_numpy find_cast_to_time(guf_dtype from);

// The representation in memory of the source or destination elements of a conversion.
struct ElementForm {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  bool swapped = false;
  bool unaligned = false;
};

// A conversion of elements. It is usable after choose() has returned true, and owns no memory.
class ElementConverter {
 public:
  // Selects the conversion. Returns false if no conversion exists: from a structured dtype to
  // a different dtype or byte order, or between two datetime units that have no conversion factor.
  bool choose(const ElementForm &from, const ElementForm &to);

  void row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t count) const;

  // Converts the elements of several dimensions. The longest dimension is processed as rows.
  static constexpr int kMaxDims = 1 + GUF_MAX_CORE_STRIDES;
  void convert_nd(char *to, const int64_t *to_step, const char *from, const int64_t *from_step,
                  const int64_t *size, int ndim) const;

 private:
  bool choose_cast(guf_dtype from, guf_dtype to);
  void row_by_blocks(char *to, int64_t to_step, const char *from, int64_t from_step,
                     int64_t count) const;

  guf_loop_numpy cast_;          // NULL: the elements are copied without a cast
  guf::time::conversion units_;  // the parameters of a cast between datetime units
  uint32_t from_bytes_, to_bytes_;
  uint32_t from_swap_, to_swap_;  // bytes that are reversed as one unit; 0: native byte order
  bool from_staged_, to_staged_;  // the cast loop cannot access the operand directly
};

}  // namespace gufunc::cpu

#endif  // GUFUNC_BACKENDS_CPU_LOOPS_ELEMENT_CONVERT_H
