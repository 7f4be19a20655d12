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
  Printer(const Layout &layout, const Corner &corner, const ElementFormat &words)
      : layout_(layout), corner_(corner), words_(words) {}

  // Lines after the first start with `indent` spaces. `width` is the number of
  // available columns, including the brackets.
  void print(int32_t axis, size_t indent, size_t width, std::string *out) {
    *out += '[';
    if (axis + 1 == layout_.ndim) {
      print_row(indent, width - 1, out);
    } else {
      for (int64_t i = 0; i < corner_.shape[axis]; ++i) {
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
  // Returns whether "..." precedes printed position i. On a shortened axis, it precedes position 3.
  bool is_gap(int32_t axis, int64_t i) const {
    return i == kEdge && corner_.shape[axis] != layout_.shape[axis];
  }

  void start_row(int32_t axis, size_t indent, std::string *out) const {
    out->append(static_cast<size_t>(layout_.ndim - axis - 1), '\n');
    out->append(indent, ' ');
  }

  void print_row(size_t indent, size_t width, std::string *out) {
    const int32_t axis = layout_.ndim - 1;
    size_t line = indent;  // number of columns used
    for (int64_t i = 0; i < corner_.shape[axis]; ++i) {
      if (i > 0) put(" ", &line, out);
      if (is_gap(axis, i)) {
        put_word("...", indent, width, &line, out);
        put(" ", &line, out);
      }
      put_word(words_.word(position_++), indent, width, &line, out);
    }
  }

  static void put(const std::string &text, size_t *line, std::string *out) {
    *out += text;
    *line += text.size();
  }

  // Appends a word. A word that does not fit starts the next line, unless the line is still empty.
  static void put_word(const std::string &word, size_t indent, size_t width, size_t *line,
                       std::string *out) {
    if (*line + word.size() > width && *line > indent) {
      out->erase(out->find_last_not_of(' ') + 1);
      *out += '\n';
      out->append(indent, ' ');
      *line = indent;
    }
    put(word, line, out);
  }

  const Layout &layout_;
  const Corner &corner_;
  const ElementFormat &words_;
  uint64_t position_ = 0;
};

}  // namespace

Corner corner_of(const Layout &layout) {
  Corner corner = {};
  uint64_t size = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    size *= static_cast<uint64_t>(layout.shape[axis]);
  }
  corner.shortened = size > kThreshold;
  corner.count = 1;
  for (int32_t axis = 0; axis < layout.ndim; ++axis) {
    const int64_t extent = layout.shape[axis];
    corner.shape[axis] = corner.shortened ? std::min(extent, 2 * kEdge) : extent;
    corner.count *= static_cast<uint64_t>(corner.shape[axis]);
  }
  return corner;
}

void gather_corner(const Layout &layout, bool swapped, const Corner &corner, std::byte *out) {
  const size_t itemsize = dtype::itemsize(layout.dtype);
  // The real and the imaginary part of a complex element are swapped separately.
  const size_t part = dtype::alignment(layout.dtype);
  int64_t index[GUF_MAX_NDIM] = {};
  for (uint64_t n = 0; n < corner.count; ++n, out += itemsize) {
    uint64_t address = layout.address;
    for (int32_t axis = 0; axis < layout.ndim; ++axis) {
      const int64_t at = corner.source(axis, index[axis], layout.shape[axis]);
      address += static_cast<uint64_t>(at) * static_cast<uint64_t>(layout.strides[axis]);
    }
    std::memcpy(out, reinterpret_cast<const void *>(address), itemsize);
    for (size_t i = 0; swapped && i < itemsize; i += part) std::reverse(out + i, out + i + part);
    for (int32_t axis = layout.ndim; axis-- > 0;) {
      if (++index[axis] < corner.shape[axis]) break;
      index[axis] = 0;
    }
  }
}

std::string format_values(const Layout &layout, const Corner &corner, const std::byte *values) {
  if (corner.count == 0) return "[]";
  if (layout.ndim == 0) return format_scalar(layout.dtype, values);
  const ElementFormat words(layout.dtype, values, corner.count);
  std::string text;
  Printer(layout, corner, words).print(0, 1, kLineWidth, &text);
  return text;
}

}  // namespace gufunc::array
