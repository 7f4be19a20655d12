// SPDX-License-Identifier: Apache-2.0
// Tests that error messages are valid UTF-8 for any input and are never truncated within a
// character.
#include "core/base/utf8.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/base/log.h"

namespace gufunc::base {
namespace {

std::string copied(std::string_view text, size_t capacity = 100) {
  std::string to(capacity, '!');
  to.resize(copy_harmless(to.data(), capacity, text));
  return to;
}

TEST(Utf8, KeepsCharacters) {
  for (const char *text : {"", "plain", "\u00e9", "\u20ac \U0001F600", "\U0010FFFF"})
    EXPECT_EQ(copied(text), text);
}

TEST(Utf8, EscapesInvalidBytes) {
  EXPECT_EQ(copied("a\xff"
                   "b"),
            "a\\xffb");
  EXPECT_EQ(copied("\xc0\x80"), "\\xc0\\x80");           // overlong encoding
  EXPECT_EQ(copied("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(copied("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(copied("\xe2\x82"), "\\xe2\\x82");  // character that the input truncates
}

TEST(Utf8, EscapesControlCharactersOfMessages) {
  EXPECT_EQ(copied("a\x1b[31m\x7f"), "a\\x1b[31m\\x7f");
  EXPECT_EQ(copied("two\nlines,\ttab"), "two\nlines,\ttab");
  EXPECT_EQ(copied("\u009b2J\u202e"), "\\u009b2J\\u202e");
  EXPECT_EQ(copied("\u202e", 7), "\\u202e");
  EXPECT_EQ(copied("\u202e", 6), "");
  guf_error error = {};
  std::strcpy(error.message, "\x1b[2Jgone");
  make_harmless(&error);
  EXPECT_STREQ(error.message, "\\x1b[2Jgone");
}

TEST(Utf8, PrintsNoControlCharacters) {
  for (const char *text : {"", "plain \\ 'text'", "\u00e9\u00a0", "\u20ac \U0001F600"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\x1b[2J\x1f\x7f "), "\\x1b[2J\\x1f\\x7f ");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff");                           // not UTF-8
  EXPECT_EQ(printable("\u0080\u009b2J\u009f"), "\\u0080\\u009b2J\\u009f");  // C1 controls
  EXPECT_EQ(printable("\u061c\u200e\u200f"), "\\u061c\\u200e\\u200f");
  EXPECT_EQ(printable("\u2027\u2028\u202e\u202f"), "\u2027\\u2028\\u202e\u202f");
  EXPECT_EQ(printable("\u2065\u2066\u2069\u206a"), "\u2065\\u2066\\u2069\u206a");
  EXPECT_EQ(printable("a\n\tb\x1b\r", LineFeeds::kKeep), "a\n\tb\\x1b\\x0d");
}

TEST(Utf8, CutsBetweenCharactersAndEscapes) {
  EXPECT_EQ(copied("ab\u20ac", 6), "ab\u20ac");
  EXPECT_EQ(copied("ab\u20ac", 5), "ab");
  EXPECT_EQ(copied("ab\xff", 7), "ab\\xff");
  EXPECT_EQ(copied("ab\xff", 6), "ab");
  EXPECT_EQ(copied("x", 1), "");
  EXPECT_EQ(utf8_prefix("ab\u20ac", 4), 2);
  EXPECT_EQ(utf8_prefix("ab\u20ac", 5), 5);
  EXPECT_EQ(utf8_prefix("ab\u20acd", 5), 5);
  EXPECT_EQ(utf8_prefix("\x80\x80\x80\x80\x80", 4), 4);
  EXPECT_EQ(utf8_prefix("abc", 0), 0);
}

// Formats messages of every length, with a three-byte character across the end of the buffer.
TEST(Utf8, FailuresAreCutBetweenCharacters) {
  for (size_t length = 470; length < 500; ++length) {
    const std::string text = std::string(length, 'x') + "\u20ac\u20ac";
    guf_error error = {sizeof error, 0, 0, 0, 0, 0, {}};
    fail(&error, GUF_E_ARG, kNone, kNone, "%s", text.c_str());
    const std::string_view message = error.message;
    EXPECT_TRUE(text.starts_with(message));
    EXPECT_GE(message.size(), std::min(text.size(), sizeof error.message - 3));
    EXPECT_EQ(message.find("\\x"), std::string_view::npos);
  }
  for (size_t length = 380; length < 405; ++length) {
    Text text;
    text.add("%s", std::string(length, 'x').c_str()).add("\u20ac");
    EXPECT_EQ(std::string(text.c_str()).find("\\x"), std::string::npos);
  }
}

TEST(Utf8, RepairsMessagesOfOthers) {
  guf_error error = {sizeof error, GUF_E_ARG, 0, 0, 0, 0, {}};
  std::strcpy(error.message, "a loop wrote \xfe");
  make_harmless(&error);
  EXPECT_STREQ(error.message, "a loop wrote \\xfe");
  std::memset(error.message, '\xfe', sizeof error.message);  // no terminating NUL
  make_harmless(&error);
  EXPECT_LT(strnlen(error.message, sizeof error.message), sizeof error.message);
}

TEST(Utf8, LogLines) {
  char text[kLogWidth];
  LogLevel level = LogLevel::kError;
  while (log_take(text, sizeof text, &level)) {
  }
  log(LogLevel::kWarning, "path %s", "\xff/\u20ac");
  ASSERT_TRUE(log_take(text, sizeof text, &level));
  EXPECT_STREQ(text, "path \\xff/\u20ac");
  for (const size_t size : {5U, 6U, 7U, 8U}) {
    log_text(LogLevel::kWarning, "abcd\u20ac");
    char small[8];
    ASSERT_TRUE(log_take(small, size, &level));
    EXPECT_STREQ(small, size == 8 ? "abcd\u20ac" : "abcd");
  }
}

}  // namespace
}  // namespace gufunc::base
