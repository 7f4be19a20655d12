// SPDX-License-Identifier: Apache-2.0
// Copies text to char arrays of structs and to the caller's buffers.
#ifndef GUFUNC_ABI_TEXT_OUT_H
#define GUFUNC_ABI_TEXT_OUT_H

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/error.h"

namespace gufunc::capi {

// Fills a char array of a struct. A text that is too long is truncated at a character boundary.
template <size_t kSize>
void copy_text(std::string_view text, char (&to)[kSize]) {
  size_t length = text.size();
  if (length >= kSize) {
    length = kSize - 1;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  }
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, kSize - length);
}

// Copies text from an array that a plugin filled. The array may lack a terminating NUL.
template <size_t kFrom, size_t kSize>
void copy_text(const char (&from)[kFrom], char (&to)[kSize]) {
  copy_text(std::string_view(from, strnlen(from, kFrom)), to);
}

// Copies text to a buffer of the caller. A buffer that is too small stays unchanged.
// Errors  GUF_E_BUFFER_TOO_SMALL <= capacity is too small for the text and its NUL
inline guf_status hand_out(std::string_view text, char *to, uint64_t capacity, guf_error *error) {
  if (capacity < text.size() + 1) {
    return base::fail(error, GUF_E_BUFFER_TOO_SMALL, base::kNone, base::kNone,
                      "buffer: expected at least %zu bytes, got %llu", text.size() + 1,
                      static_cast<unsigned long long>(capacity));
  }
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return GUF_OK;
}

}  // namespace gufunc::capi

#endif  // GUFUNC_ABI_TEXT_OUT_H
