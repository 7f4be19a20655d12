// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "core/base/utf8.h"
#include "core/trace/event_text.h"

namespace gufunc::trace {

void JsonText::put(const char *bytes, size_t count) {
  if (!whole_ || count > kCapacity - length_) {
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
  put("\"", 1);
  for (size_t i = 0; i < length;) {
    const size_t sequence = base::utf8_length(text + i, length - i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (sequence == 0) {
      raw("\\ufffd");
      ++i;
    } else if (byte == '"' || byte == '\\') {
      const char escaped[2] = {'\\', text[i++]};
      put(escaped, 2);
    } else if (byte < 0x20 || byte == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      raw(escaped);
      ++i;
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
