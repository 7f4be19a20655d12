// SPDX-License-Identifier: Apache-2.0
// Splits PTX into tokens: words, signs and strings. Comments are skipped.
#ifndef GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_SCANNER_H
#define GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_SCANNER_H

#include <cstddef>
#include <string_view>

namespace gufunc::gpu {

struct PtxToken {
  enum class Kind : unsigned char {
    kEnd,
    kWord,  // a name, a number or a part of an instruction
    kSign,  // a single character
    kString,
    kBroken  // an unterminated comment or string, or a string with an escape
  };

  bool is(char sign) const { return kind == Kind::kSign && text[0] == sign; }
  bool is_name() const { return kind == Kind::kWord && (text[0] < '0' || text[0] > '9'); }

  Kind kind = Kind::kEnd;
  std::string_view text;
};

class PtxScanner {
 public:
  // Scans `text`, which must outlive the scanner and its tokens.
  explicit PtxScanner(std::string_view text) : text_(text) {}

  // Returns the next token. Returns kEnd at the end of the text, also in further calls.
  PtxToken next();
  // Returns the position after the last token.
  size_t position() const { return at_; }

 private:
  bool skip();
  PtxToken string();
  PtxToken take(PtxToken::Kind kind, size_t length);

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace gufunc::gpu

#endif  // GUFUNC_BACKENDS_GPU_GEOMETRY_PTX_SCANNER_H
