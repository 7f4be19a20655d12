// SPDX-License-Identifier: Apache-2.0
#include "backends/gpu/geometry/ptx_scanner.h"

namespace gufunc::gpu {
namespace {

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

}  // namespace

// Skips white space and comments. Returns false if a comment is unterminated.
bool PtxScanner::skip() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
      continue;
    }
    const std::string_view two = text_.substr(at_, 2);
    if (two != "//" && two != "/*") return true;
    const bool is_line = two == "//";
    const size_t end = text_.find(is_line ? "\n" : "*/", at_ + 2);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      return is_line;
    }
    at_ = end + (is_line ? 1 : 2);
  }
  return true;
}

PtxToken PtxScanner::take(PtxToken::Kind kind, size_t length) {
  const PtxToken token = {kind, text_.substr(at_, length)};
  at_ += length;
  return token;
}

PtxToken PtxScanner::string() {
  const size_t end = text_.find_first_of("\"\\\n", at_ + 1);
  if (end == std::string_view::npos || text_[end] != '"') {
    return take(PtxToken::Kind::kBroken, text_.size() - at_);
  }
  return take(PtxToken::Kind::kString, end + 1 - at_);
}

PtxToken PtxScanner::next() {
  if (!skip()) return {PtxToken::Kind::kBroken, {}};
  if (at_ == text_.size()) return {};
  if (text_[at_] == '"') return string();
  size_t length = 0;
  while (at_ + length < text_.size() && is_in_word(text_[at_ + length])) ++length;
  if (length == 0) return take(PtxToken::Kind::kSign, 1);
  return take(PtxToken::Kind::kWord, length);
}

}  // namespace gufunc::gpu
