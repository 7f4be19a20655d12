// SPDX-License-Identifier: Apache-2.0
// Tokens of preprocessed C++, with the file and line that the preprocessor's line markers give
// them.
#ifndef GUFUNC_TOOLS_GUFCC_TOKENS_H
#define GUFUNC_TOOLS_GUFCC_TOKENS_H

#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"

namespace gufunc::gufcc {

struct Token {
  enum class Kind { kEnd, kIdentifier, kString, kOther } kind = Kind::kEnd;
  std::string_view text;  // of a string: with its quotes and prefix
};

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next();
  // Where the token read last stands.
  Place place() const {
    return {frames_.empty() ? "" : frames_.back().file, frames_.empty() ? 0 : frames_.back().line};
  }
  bool in_system_header() const { return !frames_.empty() && frames_.back().system; }
  // Where the file of that token was included, through headers of the system up to a file of the
  // user.
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

// The characters of a string literal, escapes resolved; false for a prefix or escape that option
// strings do not need.
bool unquote(std::string_view literal, std::string *out);

}  // namespace gufunc::gufcc

#endif  // GUFUNC_TOOLS_GUFCC_TOKENS_H
