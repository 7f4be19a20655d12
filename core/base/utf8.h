// SPDX-License-Identifier: Apache-2.0
// Valid UTF-8 in messages, whatever bytes the names, paths and texts in them consist of.
#ifndef GUFUNC_CORE_BASE_UTF8_H
#define GUFUNC_CORE_BASE_UTF8_H

#include <cstddef>
#include <string_view>

namespace gufunc::base {

// Bytes of the character that begins at `bytes`, of which `left` may be read; 0 if none begins
// there.
size_t utf8_length(const char *bytes, size_t left);

// Copies a text and a NUL to `to`, which has `capacity` bytes, at least 1. Bytes that are no UTF-8
// are written as \xNN. What does not fit is left out, from the beginning of a character or of an
// escape on. Returns the length of the copy.
size_t copy_utf8(char *to, size_t capacity, std::string_view text);

// The bytes of a text before `most`, which an int holds, less those of a character that would be
// cut there. For messages that quote the beginning of a text ("%.*s").
int utf8_prefix(std::string_view text, size_t most);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_UTF8_H
