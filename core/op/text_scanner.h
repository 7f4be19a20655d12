// SPDX-License-Identifier: Apache-2.0
// The scanner of signatures and rules, which are untrusted. Errors contain the position.
#ifndef GUFUNC_CORE_OP_TEXT_SCANNER_H
#define GUFUNC_CORE_OP_TEXT_SCANNER_H

#include <cstdint>
#include <string_view>

#include "core/base/checked.h"
#include "core/base/error.h"

namespace gufunc::op {

// is_digit and is_word accept ASCII only, so that signatures do not depend on the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Converts a word of decimal digits. Returns false for other words and on overflow.
constexpr bool read_integer(std::string_view word, int64_t *out) {
  int64_t value = 0;
  for (const char c : word) {
    if (!is_digit(c) || !base::checked_mul<int64_t>(value, 10, &value) ||
        !base::checked_add<int64_t>(value, c - '0', &value)) {
      return false;
    }
  }
  *out = value;
  return !word.empty();
}

class Scanner {
 public:
  Scanner(std::string_view text, guf_error *error) : text_(text), error_(error) {}

  size_t position() const { return position_; }
  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool at_arrow() const { return text_.substr(position_, 2) == "->"; }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++position_;
  }
  void step_tight(size_t count) { position_ += count; }
  void step(size_t count) {
    position_ += count;
    skip_blanks();
  }
  // Consumes letters, digits and underscores, but no blanks after them. The result may be empty.
  std::string_view take_word() {
    const size_t start = position_;
    while (is_word(peek())) ++position_;
    return text_.substr(start, position_ - start);
  }

  guf_status fail(const char *what) const { return fail_at(position_, what); }
  guf_status fail_at(size_t position, const char *what) const {
    return base::fail(error_, GUF_E_SIGNATURE, base::kNone, base::kNone,
                      "%s at position %d in \"%.*s\"", what, static_cast<int>(position),
                      static_cast<int>(text_.size()), text_.data());
  }

 private:
  std::string_view text_;
  guf_error *error_;
  size_t position_ = 0;
};

}  // namespace gufunc::op

#endif  // GUFUNC_CORE_OP_TEXT_SCANNER_H
