// SPDX-License-Identifier: Apache-2.0
// The tokenizer distinguishes literals, names and other text. It need not handle comments, because
// preprocessing has removed them.
#include "tokens.h"

#include <cctype>
#include <charconv>

namespace gufunc::gufcc {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool in_name(char c) {
  return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

void Tokens::pass_newline() {
  ++at_;
  line_start_ = true;
  if (!frames_.empty()) ++frames_.back().line;
}

// Reads a line marker such as `# 12 "file" 1 3`. Flag 1 means that the file is entered, 2 that the
// preprocessor returns to it, and 3 that it is a system header.
void Tokens::line_marker() {
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view line = text_.substr(at_, end - at_);
  if (line.starts_with("#pragma clang attribute")) {
    at_ += std::string_view("#pragma").size();  // the rest of the line is read as tokens
    return;
  }
  at_ = end < text_.size() ? end + 1 : end;
  size_t digit = line.find_first_not_of("# \t");
  if (digit == std::string_view::npos ||
      std::isdigit(static_cast<unsigned char>(line[digit])) == 0) {
    if (!frames_.empty()) ++frames_.back().line;  // a #pragma
    return;
  }
  Frame frame;
  std::from_chars(line.data() + digit, line.data() + line.size(), frame.line);
  const size_t open = line.find('"');
  const size_t close = line.rfind('"');
  if (open == std::string_view::npos || close <= open) return;
  frame.file = line.substr(open + 1, close - open - 1);
  const std::string_view flags = line.substr(close + 1);
  frame.system = flags.find('3') != std::string_view::npos;
  if (flags.find('1') != std::string_view::npos || frames_.empty()) {
    frames_.push_back(std::move(frame));
  } else {
    if (flags.find('2') != std::string_view::npos && frames_.size() > 1) frames_.pop_back();
    frames_.back() = std::move(frame);
  }
}

void Tokens::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      pass_newline();
    } else if (c == '#' && line_start_) {
      line_marker();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else {
      return;
    }
  }
}

void Tokens::quoted(char quote) {
  ++at_;
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
    at_ += text_[at_] == '\\' ? 2 : 1;
  }
  at_ = std::min(at_ + 1, text_.size());
}

void Tokens::raw_string() {
  const size_t open = text_.find('(', at_);
  if (open == std::string_view::npos) {
    at_ = text_.size();
    return;
  }
  const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
  const size_t end = std::min(text_.find(close, open), text_.size());
  while (at_ < end) {
    if (text_[at_] == '\n') {
      pass_newline();
    } else {
      ++at_;
    }
  }
  line_start_ = false;
  at_ = std::min(end + close.size(), text_.size());
}

bool Tokens::starts_number() const {
  const size_t digit = at_ + (text_[at_] == '.' ? 1 : 0);
  return digit < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digit])) != 0;
}

// Skips a number, which may contain letters, dots, digit separators and signs of exponents, as in
// 1'000.5e-3f.
void Tokens::number() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    const bool sign = (c == '+' || c == '-') &&
                      std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
    if (!in_name(c) && c != '.' && c != '\'' && !sign) return;
  }
}

Token Tokens::next() {
  skip_blanks();
  if (at_ >= text_.size()) return {};
  line_start_ = false;
  const size_t start = at_;
  Token::Kind kind = Token::Kind::kOther;
  const char c = text_[at_];
  if (starts_name(c)) {
    kind = Token::Kind::kIdentifier;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const char after = at_ < text_.size() ? text_[at_] : '\0';
    if (after == '"' && text_[at_ - 1] == 'R') {
      kind = Token::Kind::kString;
      raw_string();
    } else if ((after == '"' || after == '\'') && at_ - start <= 2) {
      kind = after == '"' ? Token::Kind::kString : Token::Kind::kOther;
      quoted(after);
    }
  } else if (c == '"' || c == '\'') {
    kind = c == '"' ? Token::Kind::kString : Token::Kind::kOther;
    quoted(c);
  } else if (starts_number()) {
    number();
  } else {
    ++at_;
  }
  return {kind, text_.substr(start, at_ - start)};
}

Place Tokens::included_from() const {
  if (frames_.size() < 2) return place();
  size_t at = frames_.size() - 2;
  while (at > 0 && frames_[at].system) --at;
  // While an included file is read, the frame of the including file has the line of the #include.
  return {frames_[at].file, std::max(frames_[at].line, 1)};
}

// Unquotes R"x(text)x".
static bool unquote_raw(std::string_view literal, std::string *out) {
  const size_t open = literal.find('(');
  if (open == std::string_view::npos) return false;
  const std::string close = ")" + std::string(literal.substr(2, open - 2)) + "\"";
  const std::string_view text = literal.substr(open + 1);
  if (!text.ends_with(close)) return false;
  *out += text.substr(0, text.size() - close.size());
  return true;
}

bool unquote(std::string_view literal, std::string *out) {
  if (literal.starts_with("R\"")) return unquote_raw(literal, out);
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') return false;
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    char c = literal[i];
    if (c == '\\') {
      c = literal[++i];
      if (c == 'n') {
        c = '\n';
      } else if (c != '\\' && c != '"' && c != '\'' && c != '?') {
        return false;
      }
    }
    *out += c;
  }
  return true;
}

}  // namespace gufunc::gufcc
