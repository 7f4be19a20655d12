// SPDX-License-Identifier: Apache-2.0
// Divides a PTX text into tokens.
#ifndef GUFUNC_TESTS_PTX_PTX_LEXER_H
#define GUFUNC_TESTS_PTX_PTX_LEXER_H

#include <cstdint>
#include <string_view>

namespace ptx {

struct Token {
  // A word is a name, an opcode with its modifiers, a directive or a number. A mark is one
  // punctuation character. The token at the end of the text is empty.
  enum Kind : uint8_t { kEnd, kWord, kString, kMark };

  Kind kind = kEnd;
  std::string_view text;
  uint32_t line = 0;

  bool is(std::string_view other) const { return text == other; }
};

class Lexer {
 public:
  // The text must outlive the lexer and its tokens. `line` is the number of the first line.
  explicit Lexer(std::string_view text, uint32_t line = 1) : text_(text), line_(line) {}

  // Returns the current token without consuming it.
  const Token &peek();
  // Consumes the current token.
  Token take();
  // Consumes the current token if it has this text.
  bool take_if(std::string_view text);
  // Consumes the current token. Throws Fault if the token has another text.
  void expect(std::string_view text);
  // Consumes and returns a word. Throws Fault if the current token is no word.
  Token expect_word();
  // Consumes a number with an optional sign.
  int64_t expect_integer();

  // Skips a block, and returns the text after its opening brace up to and including its closing
  // brace. The current token must be the opening brace.
  std::string_view skip_block();

  uint32_t line() const { return line_; }

 private:
  void skip_space();
  Token read();

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_;
  Token next_;
  bool has_next_ = false;
};

// Reads an integer in one of the forms 10, 0x1F, 017, 0b11, with an optional suffix U.
// Returns false if the text is no integer.
bool read_integer(std::string_view text, uint64_t *out);

[[noreturn]] void fail_at(uint32_t line, const std::string_view &text);

}  // namespace ptx

#endif  // GUFUNC_TESTS_PTX_PTX_LEXER_H
