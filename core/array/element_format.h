// SPDX-License-Identifier: Apache-2.0
// The elements of a printed array as words that line up.
#ifndef GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H
#define GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H

#include <cstddef>
#include <string>
#include <vector>

#include "core/array/array.h"
#include "core/array/float_text.h"

namespace gufunc::array {

// Numbers of one column (reals, or imaginary parts), laid out together: one notation, points
// aligned.
class FloatColumn {
 public:
  FloatColumn() = default;
  // `plus`: positive numbers show their sign.
  FloatColumn(std::vector<double> values, FloatFormat format, bool plus);
  std::string word(size_t i) const;

 private:
  void measure_scientific();
  void measure_positional();
  void make_room_for_names();
  std::string signed_text(double value, const std::string &text) const;

  std::vector<double> values_;
  FloatFormat format_ = FloatFormat::kF64;
  bool plus_ = false;
  bool scientific_ = false;
  size_t left_ = 0;   // columns before the point
  size_t right_ = 0;  // columns after it
  int precision_ = 0;
  size_t exponent_digits_ = 0;
};

class ElementFormat {
 public:
  // `values` in native byte order, one after the other.
  ElementFormat(guf_dtype dtype, const std::byte *values, size_t count);
  std::string word(size_t i) const;

 private:
  guf_dtype dtype_;
  FloatColumn real_;
  FloatColumn imaginary_;
  std::vector<std::string> integers_;
  size_t width_ = 0;
};

// An array without dimensions prints as its element does.
std::string format_scalar(guf_dtype dtype, const std::byte *value);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H
