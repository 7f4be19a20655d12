// SPDX-License-Identifier: Apache-2.0
// Writes the lines, brackets and dots of printed arrays. element_format.cc formats the elements.
#include "core/array/print.h"

#include <algorithm>
#include <cstring>

#include "core/array/element_format.h"

namespace gufunc::array {
namespace {

constexpr uint64_t kThreshold = 1000;
constexpr int64_t kEdge = 3;
constexpr size_t kLineWidth = 75;

// Prints the elements recursively. `position_` counts the printed elements in C order.
class Printer {
 public:
  Printer(const Layout &layout, const Summary &summary, const ElementFormat &texts)
      : layout_(layout), summary_(summary), texts_(texts) {}

  // Lines after the first start with `indent` spaces. `width` is the number of
  // available columns, including the brackets.
  void print(int32_t axis, size_t indent, size_t width, std::string *out) {
    *out += '[';
    if (axis + 1 == layout_.ndim) {
      print_row(indent, width - 1, out);
    } else {
      for (int64_t i = 0; i < summary_.shape[axis]; ++i) {
        if (i > 0) start_row(axis, indent, out);
        if (is_gap(axis, i)) {
          *out += "...";
          start_row(axis, indent, out);
        }
        print(axis + 1, indent + 1, width - 1, out);
      }
    }
    *out += ']';
  }

 private:
  // Returns whether "..." precedes printed position i, which is true for position 3 of a shortened
  // axis.
  bool is_gap(int32_t axis, int64_t i) const {
    return i == kEdge && summary_.shape[axis] != layout_.shape[axis];
  }

  void start_row(int32_t axis, size_t indent, std::string *out) const {
    out->append(static_cast<size_t>(layout_.ndim - axis - 1), '\n');
    out->append(indent, ' ');
  }

  void print_row(size_t indent, size_t width, std::string *out) {
    const int32_t axis = layout_.ndim - 1;
    size_t line = indent;  // number of columns used
    for (int64_t i = 0; i < summary_.shape[axis]; ++i) {
      if (i > 0) put(" ", &line, out);
      if (is_gap(axis, i)) {
        put_element("...", indent, width, &line, out);
        put(" ", &line, out);
      }
      put_element(texts_.text_of(position_++), indent, width, &line, out);
    }
  }

  static void put(const std::string &text, size_t *line, std::string *out) {
    *out += text;
    *line += text.size();
  }

  // Appends the text of an element. A text that does not fit starts the next line, unless the line
  // is still empty.
  static void put_element(const std::string &element, size_t indent, size_t width, size_t *line,
                          std::string *out) {
    if (*line + element.size() > width && *line > indent) {
      out->erase(out->find_last_not_of(' ') + 1);
      *out += '\n';
      out->append(indent, ' ');
      *line = indent;
    }
    put(element, line, out);
  }

  const Layout &layout_;
  const Summary &summary_;
  const ElementFormat &texts_;
  uint64_t position_ = 0;
};

}  // namespace

Summary summarize(const Layout &layout) {
  Summary summary = {};
  uint64_t size = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    size *= static_cast<uint64_t>(layout.shape[axis]);
  }
  summary.shortened = size > kThreshold;
  summary.count = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    summary.shape[axis] = summary.shortened ? std::min(extent, 2 * kEdge) : extent;
    summary.count *= static_cast<uint64_t>(summary.shape[axis]);
  }
  return summary;
}

void gather_summary(const Layout &layout, bool swapped, const Summary &summary, std::byte *out) {
  const size_t itemsize = dtype::itemsize(layout.dtype);
  // The real and the imaginary part of a complex element are swapped separately.
  const size_t part = dtype::alignment(layout.dtype);
  int64_t index[GUF_MAX_NDIM] = {};
  for (uint64_t n = 0; n < summary.count; ++n, out += itemsize) {
    uint64_t address = layout.address;
    for (int32_t axis = 0; axis < layout.ndim; ++axis) {
      const int64_t at = summary.source(axis, index[axis], layout.shape[axis]);
      address += static_cast<uint64_t>(at) * static_cast<uint64_t>(layout.strides[axis]);
    }
    std::memcpy(out, reinterpret_cast<const void *>(address), itemsize);
    for (size_t i = 0; swapped && i < itemsize; i += part) std::reverse(out + i, out + i + part);
    for (int32_t axis = layout.ndim; axis-- > 0;) {
      if (++index[axis] < summary.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::string format_values(const Layout &layout, const Summary &summary, const std::byte *values) {
  if (summary.count == 0) return "[]";
  if (layout.ndim == 0) return format_scalar(layout.dtype, values);
  const ElementFormat texts(layout.dtype, values, summary.count);
  std::string text;
  Printer(layout, summary, texts).print(0, 1, kLineWidth, &text);
  return text;
}

}  // namespace gufunc::array
