// SPDX-License-Identifier: Apache-2.0
// Tokens of PTX: words, signs and strings; comments are passed over.
#ifndef GUFUNC_BACKENDS_GPU_PTX_SCANNER_H
#define GUFUNC_BACKENDS_GPU_PTX_SCANNER_H

#include <cstddef>
#include <string_view>

namespace gufunc::gpu {

struct PtxToken {
  enum class Kind : unsigned char {
    kEnd,
    kWord,  // a name, a number, a part of an instruction
    kSign,  // one character
    kString,
    kBroken  // a comment or a string without an end, or a string with an escape
  };

  bool is(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  bool is_name() const { return kind == Kind::kWord && (text[0] < '0' || text[0] > '9'); }

  Kind kind = Kind::kEnd;
  std::string_view text;
};

class PtxScanner {
 public:
  // The text must outlive the scanner and its tokens.
  explicit PtxScanner(std::string_view text) : text_(text) {}

  // The next token; at the end of the text kEnd, again and again.
  PtxToken next();
  // Where the last token ends.
  size_t position() const { return at_; }

 private:
  bool skip();
  PtxToken string();
  PtxToken take(PtxToken::Kind kind, size_t length);

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_PTX_SCANNER_H
