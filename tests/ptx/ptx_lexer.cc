// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_lexer.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "tests/ptx/ptx_types.h"

namespace ptx {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '%';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

void fail_at(uint32_t line, const std::string_view &text) {
  throw Fault("line " + std::to_string(line) + ": " + std::string(text));
}

bool read_integer(std::string_view text, uint64_t *out) {
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    base = 2;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  const char *const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, *out, base);
  return error == std::errc() && last == end && !text.empty();
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      line_ += text_[at_] == '\n';
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.compare(at_, 2, "/*") == 0) {
      const size_t found = text_.find("*/", at_ + 2);
      const size_t end = found == text_.npos ? text_.size() : found + 2;
      line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                                text_.begin() + static_cast<ptrdiff_t>(end), '\n'));
      at_ = end;
    } else {
      return;
    }
  }
}

Token Lexer::read() {
  skip_space();
  if (at_ == text_.size()) return {Token::kEnd, {}, line_};
  const size_t first = at_;
  if (in_word(text_[at_])) {
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return {Token::kWord, text_.substr(first, at_ - first), line_};
  }
  if (text_[at_] == '"') {
    const size_t end = text_.find('"', at_ + 1);
    if (end == text_.npos) fail_at(line_, "a string has no end");
    at_ = end + 1;
    return {Token::kString, text_.substr(first + 1, end - first - 1), line_};
  }
  ++at_;
  return {Token::kMark, text_.substr(first, 1), line_};
}

const Token &Lexer::peek() {
  if (!has_next_) next_ = read();
  has_next_ = true;
  return next_;
}

Token Lexer::take() {
  peek();
  has_next_ = false;
  return next_;
}

bool Lexer::take_if(std::string_view text) {
  if (peek().text != text || peek().kind == Token::kEnd) return false;
  has_next_ = false;
  return true;
}

void Lexer::expect(std::string_view text) {
  const Token token = take();
  if (token.text == text) return;
  fail_at(token.line,
          "expected '" + std::string(text) + "', got '" + std::string(token.text) + "'");
}

Token Lexer::expect_word() {
  const Token token = take();
  if (token.kind != Token::kWord) {
    fail_at(token.line, "expected a name, got '" + std::string(token.text) + "'");
  }
  return token;
}

int64_t Lexer::expect_integer() {
  const bool negative = take_if("-");
  const Token token = expect_word();
  uint64_t value = 0;
  if (!read_integer(token.text, &value)) {
    fail_at(token.line, "expected an integer, got '" + std::string(token.text) + "'");
  }
  return static_cast<int64_t>(negative ? -value : value);
}

std::string_view Lexer::skip_block() {
  expect("{");
  const size_t first = at_;
  int depth = 1;
  while (depth > 0) {
    const Token token = take();
    if (token.kind == Token::kEnd) fail_at(token.line, "a block has no end");
    if (token.kind != Token::kMark) continue;
    depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
  }
  return text_.substr(first, at_ - first);
}

}  // namespace ptx
