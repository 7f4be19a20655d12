// SPDX-License-Identifier: Apache-2.0
// Provides arrays over memory that the test owns, and a reader for golden files.
#ifndef GUFUNC_TESTS_UNIT_ARRAY_ARRAY_SAMPLE_H
#define GUFUNC_TESTS_UNIT_ARRAY_ARRAY_SAMPLE_H

#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "core/array/array.h"

namespace gufunc::array {

// Splits a text at every separator: "a||b" has three parts.
inline std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Parses a list of integers such as "2,_,-3". "_" means INT64_MIN; "-" and "" mean an empty list.
inline std::vector<int64_t> numbers(const std::string &text) {
  std::vector<int64_t> values;
  if (text.empty() || text == "-") return values;
  for (const std::string &part : split(text, ',')) {
    int64_t value = std::numeric_limits<int64_t>::min();
    std::from_chars(part.data(), part.data() + part.size(), value);
    values.push_back(value);
  }
  return values;
}

// Returns the rows of a golden file without its comments.
inline std::vector<std::string> golden_rows(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') rows.push_back(line);
  }
  return rows;
}

// Makes an array that does not own its memory.
inline base::Ref<Array> borrow(guf_dtype dtype, const std::vector<int64_t> &shape,
                               const std::vector<int64_t> &strides, uint64_t address,
                               uint32_t flags = 0) {
  const Layout layout = {dtype, static_cast<int32_t>(shape.size()), shape.data(), strides.data(),
                         address};
  return base::Ref<Array>::adopt(new Array(layout, flags, nullptr, {}));
}

inline base::Ref<Array> borrow_contiguous(guf_dtype dtype, const std::vector<int64_t> &shape,
                                          uint64_t address) {
  std::vector<int64_t> strides(shape.size());
  contiguous_strides(dtype, static_cast<int32_t>(shape.size()), shape.data(), GUF_ORDER_C,
                     strides.data());
  return borrow(dtype, shape, strides, address);
}

}  // namespace gufunc::array

#endif  // GUFUNC_TESTS_UNIT_ARRAY_ARRAY_SAMPLE_H
