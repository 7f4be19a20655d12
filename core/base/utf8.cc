// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gufunc::base {
namespace {

// Returns the code point of a valid character of `length` bytes.
unsigned code_point(const char *bytes, size_t length) {
  const auto at = [bytes](size_t k) { return static_cast<unsigned char>(bytes[k]); };
  if (length == 1) return at(0);
  unsigned code = at(0) & (0x7FU >> length);
  for (size_t k = 1; k < length; ++k) code = code << 6U | (at(k) & 0x3FU);
  return code;
}

// Returns whether a terminal may interpret the character instead of showing it.
bool is_control(unsigned code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0)  // C0, DEL, C1
         || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);  // directions of text, separators of lines
}

}  // namespace

size_t utf8_length(const char *bytes, size_t left) {
  if (left == 0) return 0;
  const auto at = [bytes](size_t k) { return static_cast<unsigned char>(bytes[k]); };
  const unsigned char lead = at(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead < 0xE0                 ? 0
                        : lead < 0xF0                 ? 3
                        : lead < 0xF5                 ? 4
                                                      : 0;
  if (length == 0 || length > left) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((at(k) & 0xC0U) != 0x80U) return 0;
  }
  // Reject overlong encodings, surrogates, and code points beyond U+10FFFF.
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) >= 0xA0) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) >= 0x90) return 0;
  return length;
}

size_t harmless_length(const char *bytes, size_t left) {
  const size_t length = utf8_length(bytes, left);
  if (length == 0 || *bytes == '\n' || *bytes == '\t') return length;
  return is_control(code_point(bytes, length)) ? 0 : length;
}

size_t copy_harmless(char *to, size_t capacity, std::string_view text) {
  size_t length = 0;
  for (size_t k = 0; k < text.size();) {
    const char *from = text.data() + k;
    size_t count = harmless_length(from, text.size() - k);
    size_t known = count;
    char escape[8];
    if (count == 0) {
      known = std::max<size_t>(utf8_length(from, text.size() - k), 1);
      const unsigned code = code_point(from, known);
      count = static_cast<size_t>(
          std::snprintf(escape, sizeof escape, known > 1 ? "\\u%04x" : "\\x%02x", code));
      from = escape;
    }
    if (count >= capacity - length) break;
    std::memcpy(to + length, from, count);
    length += count;
    k += known;
  }
  to[length] = '\0';
  return length;
}

std::string printable(std::string_view text, LineFeeds line_feeds) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t k = 0; k < text.size();) {
    const size_t known = utf8_length(text.data() + k, text.size() - k);
    const unsigned code =
        known == 0 ? static_cast<unsigned char>(text[k]) : code_point(text.data() + k, known);
    const bool is_layout = code == '\n' || code == '\t';
    char escape[8];
    if (known != 0 && (!is_control(code) || (is_layout && line_feeds == LineFeeds::kKeep))) {
      shown.append(text, k, known);
    } else if (is_layout) {
      shown += code == '\n' ? "\\n" : "\\t";
    } else {
      std::snprintf(escape, sizeof escape, known > 1 ? "\\u%04x" : "\\x%02x", code);
      shown += escape;
    }
    k += std::max<size_t>(known, 1);
  }
  return shown;
}

int utf8_prefix(std::string_view text, size_t most) {
  if (text.size() <= most) return static_cast<int>(text.size());
  for (size_t back = 1; back <= std::min<size_t>(most, 3); ++back) {
    const size_t start = most - back;
    const size_t known = utf8_length(text.data() + start, text.size() - start);
    if (known != 0) return static_cast<int>(start + known > most ? start : most);
  }
  return static_cast<int>(most);
}

}  // namespace gufunc::base
