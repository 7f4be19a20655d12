// SPDX-License-Identifier: Apache-2.0
// Helpers that keep messages valid UTF-8, and harmless to a terminal, although names, paths and
// texts contain arbitrary bytes.
#ifndef GUFUNC_CORE_BASE_UTF8_H
#define GUFUNC_CORE_BASE_UTF8_H

#include <cstddef>
#include <string>
#include <string_view>

namespace gufunc::base {

// Returns the number of bytes of the character that begins at `bytes`, or 0 if no valid character
// begins there. Reads at most `left` bytes.
size_t utf8_length(const char *bytes, size_t left);

// Like utf8_length, but returns 0 for a character that a terminal may interpret instead of display.
// Line feeds and tabs are harmless.
size_t harmless_length(const char *bytes, size_t left);

// Copies `text` and a terminating NUL to `to`, which has room for `capacity` bytes (at least 1).
// Bytes that are not UTF-8 are written as \xNN, and characters that are not harmless as \xNN or
// \uNNNN. The copy is truncated before the first character or escape that does not fit. Returns the
// length of the copy.
size_t copy_harmless(char *to, size_t capacity, std::string_view text);

// Returns the length of the longest prefix of `text` that has at most `most`
// bytes and does not split a character. `most` must fit in an int. Used by messages that quote the
// beginning of a text ("%.*s").
int utf8_prefix(std::string_view text, size_t most);

// Whether printable() escapes the line feeds of a text, or keeps them because they separate its
// lines.
enum class LineFeeds { kEscape, kKeep };

// Returns a copy of `text` that a program may write to a terminal. Bytes that are not UTF-8 become
// \xNN. Control characters, which can move the cursor or reprogram the terminal, become \n, \t,
// \xNN or \uNNNN, and so do the characters that change the direction of text or separate lines.
// LineFeeds::kKeep keeps line feeds and tabs.
std::string printable(std::string_view text, LineFeeds line_feeds = LineFeeds::kEscape);

}  // namespace gufunc::base

#endif  // GUFUNC_CORE_BASE_UTF8_H
