// SPDX-License-Identifier: Apache-2.0
// Text of arrays as NumPy prints them, with 75 columns and 8 digits. Long arrays are shortened.
// datetime64 elements are written as ISO 8601 text, and timedelta64 elements as integers.
#ifndef GUFUNC_CORE_ARRAY_PRINT_H
#define GUFUNC_CORE_ARRAY_PRINT_H

#include <cstddef>
#include <string>
#include <vector>

#include "core/array/array.h"
#include "core/array/float_text.h"

namespace gufunc::array {

// Returns the text of an element in an array. The text is in quotes unless it is a number.
std::string format_datetime(guf_dtype time, int64_t value);
// Returns the text of a scalar, such as "1970-01-01" or "5 seconds".
std::string format_datetime_scalar(guf_dtype time, int64_t value);

// Returns whether all values can be printed. A datetime64 without a unit can only be printed if it
// is NaT. `values` must be in native byte order.
bool has_text(guf_dtype dtype, const std::byte *values, uint64_t count);

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

// Describes which elements are printed: all, or the first and last three of each long axis.
struct Summary {
  bool shortened;  // whether the array has more than 1000 elements
  int64_t shape[GUF_MAX_NDIM];
  uint64_t count;  // number of printed elements

  // Returns the array index of the i-th printed position of an axis.
  int64_t source(int32_t axis, int64_t i, int64_t extent) const {
    return i < 3 || shape[axis] == extent ? i : extent - shape[axis] + i;
  }
};
Summary summarize(const Layout &layout);

// Copies the printed elements from host memory into `out`, in C order and native byte order.
void gather_summary(const Layout &layout, bool swapped, const Summary &summary, std::byte *out);

// Returns the text without a final newline. `values` are the elements that gather_summary has
// written.
std::string format_values(const Layout &layout, const Summary &summary, const std::byte *values);

}  // namespace gufunc::array

#endif  // GUFUNC_CORE_ARRAY_PRINT_H
