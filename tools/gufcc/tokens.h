// SPDX-License-Identifier: Apache-2.0
// Tokens of preprocessed C++, with their file and line from the preprocessor's line markers.
#ifndef GUFUNC_TOOLS_GUFCC_TOKENS_H
#define GUFUNC_TOOLS_GUFCC_TOKENS_H

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"

namespace gufunc::gufcc {

struct Token {
  enum class Kind { kEnd, kIdentifier, kString, kOther } kind = Kind::kEnd;
  std::string_view text;  // a string keeps its quotes and prefix
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next();
  // Location of the last token.
  Place place() const {
    return {frames_.empty() ? "" : frames_.back().file, frames_.empty() ? 0 : frames_.back().line};
  }
  bool in_system_header() const { return !frames_.empty() && frames_.back().system; }
  // Location of the #include directive by which the last token's file is included. If a system
  // header contains the directive, the location is in the innermost including file that is not one.
  Place included_from() const;

 private:
  struct Frame {
    std::string file;
    int line = 0;
    bool system = false;
  };

  void skip_blanks();
  void line_marker();
  void quoted(char quote);
  void raw_string();
  bool starts_number() const;
  void number();
  void pass_newline();

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  std::vector<Frame> frames_;
};

// Decodes a string literal. Returns false for prefixes and escapes that option strings do not need.
bool unquote(std::string_view literal, std::string *out);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_TOKENS_H
