// SPDX-License-Identifier: Apache-2.0
// Formatting of array elements as aligned text.
#ifndef GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H
#define GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H

#include <cstddef>
#include <string>
#include <vector>

#include "core/array/array.h"
#include "core/array/float_text.h"

namespace gufunc::array {

// Formats the real or the imaginary parts of an array in one notation, with aligned decimal points.
class FloatColumn {
 public:
  FloatColumn() = default;
  // If `plus` is set, positive numbers are written with a sign.
  FloatColumn(std::vector<double> values, FloatFormat format, bool plus);
  std::string text_of(size_t i) const;

 private:
  void measure_scientific();
  void measure_positional();
  void widen_for_names();
  std::string signed_text(double value, const std::string &text) const;

  std::vector<double> values_;
  FloatFormat format_;
  bool plus_ = false;
  bool scientific_ = false;
  size_t left_ = 0;   // columns before the decimal point
  size_t right_ = 0;  // columns after the decimal point
  int precision_ = 0;
  size_t exponent_digits_ = 0;
};

class ElementFormat {
 public:
  // `values` must be contiguous and in native byte order.
  ElementFormat(guf_dtype dtype, const std::byte *values, size_t count);
  std::string text_of(size_t i) const;

 private:
  guf_dtype dtype_;
  FloatColumn real_;
  FloatColumn imaginary_;
  std::vector<std::string> integers_;
  size_t width_ = 0;
};

// Returns the text of an array without dimensions, which NumPy prints like a scalar.
std::string format_scalar(guf_dtype dtype, const std::byte *value);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_ELEMENT_FORMAT_H
