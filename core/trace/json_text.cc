// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "core/trace/event_text.h"

namespace gufunc::trace {
namespace {

// Bytes of the UTF-8 sequence that begins here; 0: none does.
size_t sequence_length(const unsigned char *bytes, size_t left) {
  const unsigned char lead = bytes[0];
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead < 0xE0                 ? 0
                        : lead < 0xF0                 ? 3
                        : lead < 0xF5                 ? 4
                                                      : 0;
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((bytes[i] & 0xC0U) != 0x80U) return 0;
  }
  // Overlong ones, surrogates, and beyond U+10FFFF.
  if (lead == 0xE0 && bytes[1] < 0xA0) return 0;
  if (lead == 0xED && bytes[1] >= 0xA0) return 0;
  if (lead == 0xF0 && bytes[1] < 0x90) return 0;
  if (lead == 0xF4 && bytes[1] >= 0x90) return 0;
  return length;
}

}  // namespace

void JsonText::put(const char *bytes, size_t count) {
  if (!whole_ || count > kRoom - length_) {
    whole_ = false;
    return;
  }
  std::memcpy(text_ + length_, bytes, count);
  length_ += count;
}

JsonText &JsonText::raw(const char *text) {
  put(text, std::strlen(text));
  return *this;
}

JsonText &JsonText::string(const char *text, size_t size) {
  const size_t length = strnlen(text, size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(text);
  put("\"", 1);
  for (size_t i = 0; i < length;) {
    const size_t sequence = sequence_length(bytes + i, length - i);
    if (sequence == 0) {
      raw("\\ufffd");
      ++i;
    } else if (bytes[i] == '"' || bytes[i] == '\\') {
      const char escaped[2] = {'\\', text[i++]};
      put(escaped, 2);
    } else if (bytes[i] < 0x20 || bytes[i] == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(bytes[i++]));
      raw(escaped);
    } else {
      put(text + i, sequence);
      i += sequence;
    }
  }
  put("\"", 1);
  return *this;
}

JsonText &JsonText::number(uint64_t value) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
  return raw(digits);
}

JsonText &JsonText::microseconds(uint64_t nanoseconds) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%llu.%03u",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned>(nanoseconds % 1000));
  return raw(digits);
}

JsonText &JsonText::member(const char *name) {
  return raw(",\"").raw(name).raw("\":");
}

}  // namespace gufunc::trace
