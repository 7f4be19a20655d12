// SPDX-License-Identifier: Apache-2.0
// The macros of kernel.hpp expand to `__guf_register__(kind, function, "text", ...)`, and a refused
// header to `__guf_refused__(name)`. In all other text, the scanner counts braces and refuses some
// keywords, builtin functions and attributes.
//
// The tokenizer distinguishes literals, names and other text. It need not handle comments, because
// preprocessing has removed them.
#include "scanner.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostic.h"
#include "refused_names.h"

namespace gufunc::gufcc {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool in_name(char c) {
  return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct Token {
  enum class Kind { kEnd, kIdentifier, kString, kOther } kind = Kind::kEnd;
  std::string_view text;  // a string keeps its quotes and prefix
};

// Tokens of preprocessed C++, with their file and line from the preprocessor's line markers.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  Token next();
  // Location of the last token.
  Place place() const {
    return {frames_.empty() ? "" : frames_.back().file, frames_.empty() ? 0 : frames_.back().line};
  }
  bool in_system_header() const { return !frames_.empty() && frames_.back().system; }
  // Location of the #include directive that leads to the last token's file, in the innermost
  // including file that is not a system header.
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
bool unquote_raw(std::string_view literal, std::string *out) {
  const size_t open = literal.find('(');
  if (open == std::string_view::npos) return false;
  const std::string close = ")" + std::string(literal.substr(2, open - 2)) + "\"";
  const std::string_view text = literal.substr(open + 1);
  if (!text.ends_with(close)) return false;
  *out += text.substr(0, text.size() - close.size());
  return true;
}

// Decodes a string literal. Returns false for prefixes and escapes that option strings do not need.
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

class Scanner {
 public:
  Scanner(std::string_view text, int source, std::vector<RawRegistration> *out,
          Diagnostics *diagnostics)
      : tokens_(text), source_(source), out_(out), diagnostics_(diagnostics) {}

  bool run() {
    const size_t first = out_->size();
    const bool good = read();
    for (size_t i = first; i < out_->size(); ++i) {
      (*out_)[i].declares_shared = declares_shared_;
      (*out_)[i].declares_sync = declares_sync_;
    }
    return good;
  }

 private:
  bool read() {
    bool good = true;
    std::string_view previous;
    for (Token token = tokens_.next(); token.kind != Token::Kind::kEnd; token = tokens_.next()) {
      if (token.kind == Token::Kind::kOther) {
        if (token.text == "{") ++depth_;
        if (token.text == "}") --depth_;
        good &= check_number(token);
        if (previous == "[" && token.text == "[") good &= check_attributes("[", "]");
      } else if (token.kind == Token::Kind::kIdentifier && token.text == "__guf_register__") {
        good &= registration();
      } else if (token.kind == Token::Kind::kIdentifier && token.text == "__guf_refused__") {
        good &= refused();
      } else if (token.kind == Token::Kind::kIdentifier && token.text == "shared") {
        declares_shared_ = true;
      } else if (token.kind == Token::Kind::kIdentifier &&
                 (token.text == "sync" || token.text == "subgroup")) {
        declares_sync_ = true;
      } else if (token.kind == Token::Kind::kIdentifier) {
        good &= check_keyword(previous, token);
      }
      previous = token.text;
    }
    return good;
  }

  // Reads one argument. `*text` is the content of a string argument, or the joined tokens of any
  // other argument. Stores the terminating ',' or ')' in `*end`.
  bool argument(std::string *text, bool *is_string, char *end) {
    int open = 0;
    *is_string = false;
    text->clear();
    for (Token token = tokens_.next(); token.kind != Token::Kind::kEnd; token = tokens_.next()) {
      if (token.kind == Token::Kind::kString) {
        if ((!text->empty() && !*is_string) || !unquote(token.text, text)) return false;
        *is_string = true;
        continue;
      }
      if (open == 0 && (token.text == "," || token.text == ")")) {
        *end = token.text[0];
        return true;
      }
      if (*is_string) return false;
      if (token.text == "(" || token.text == "<" || token.text == "{") ++open;
      if (token.text == ")" || token.text == ">" || token.text == "}") --open;
      *text += token.text;
    }
    return false;
  }

  bool registration() {
    RawRegistration found;
    found.place = tokens_.place();
    found.depth = depth_;
    found.source = source_;
    bool is_string = false;
    char end = 0;
    if (tokens_.next().text != "(" || !argument(&found.kind, &is_string, &end) || is_string ||
        !argument(&found.function, &is_string, &end) || is_string || found.function.empty()) {
      return diagnostics_->error(found.place, "a registration begins with the function's name");
    }
    while (end == ',') {
      std::string text;
      if (!argument(&text, &is_string, &end)) {
        return diagnostics_->error(found.place, "registration of {}: cannot read its arguments",
                                   found.function);
      }
      if (!is_string && text.empty() && end == ')') break;  // GUF_UFUNC(f), which is reported later
      if (!is_string) {
        return diagnostics_->error(found.place,
                                   "registration of {}: expected a string literal, got '{}'",
                                   found.function, text);
      }
      found.arguments.push_back(std::move(text));
    }
    out_->push_back(std::move(found));
    return true;
  }

  bool refused() {
    const Place place = tokens_.included_from();
    std::string name;
    bool is_string = false;
    char end = 0;
    if (tokens_.next().text != "(" || !argument(&name, &is_string, &end)) name = "this header";
    return diagnostics_->error(place, "{}", why_refused(name));
  }

  // Refuses keywords and builtin functions whose use the check of object files would not find: the
  // compiler removes unused allocations, and long double is a different type on every device.
  // System headers may use these names.
  bool check_keyword(std::string_view previous, const Token &token) {
    const std::string_view text = token.text;
    if (tokens_.in_system_header()) return true;
    if (text == "GUF_UFUNC" || text == "GUF_GUFUNC" || text == "GUF_KERNEL") {
      return diagnostics_->error(tokens_.place(),
                                 "{} is not known here: #include <gufunc/kernel.hpp> first", text);
    }
    if (text == "__attribute__" || text == "__attribute") return check_attributes("(", ")");
    if (const std::string advice = why_builtin_refused(text); !advice.empty()) {
      return refuse(std::string(text).c_str(), advice.c_str());
    }
    if (text == "asm" || text == "__asm" || text == "__asm__") {
      return refuse("inline assembly", "it depends on the processor; write the operation in C++");
    }
    if ((previous == "long" && text == "double") || (previous == "double" && text == "long") ||
        text == "__float128" || text == "__float80" || text == "_Float128") {
      return refuse("long double or a wider float", "devices lack it; use double");
    }
    // new (place) T constructs an object in existing memory.
    if (text == "new" && (previous == "operator" || Tokens(tokens_).next().text != "(")) {
      return refuse("new", "a kernel has no private heap; g.shared<T>(n) is memory of its group");
    }
    return true;
  }
  // Checks the attributes of a list: `((target("avx2")))` after __attribute__, or `gnu::weak]]`
  // after `[[`. Arguments of attributes are nested deeper and are not checked.
  bool check_attributes(std::string_view open, std::string_view close) {
    if (tokens_.in_system_header()) return true;
    Tokens ahead = tokens_;
    const int of_names = open == "(" ? 2 : 0;
    int depth = 0;
    for (Token token = ahead.next(); token.kind != Token::Kind::kEnd; token = ahead.next()) {
      if (token.text == "(" || token.text == open) ++depth;
      if (token.text == ")" || token.text == close) --depth;
      if (depth < 0 || (depth == 0 && of_names > 0)) return true;
      if (token.kind != Token::Kind::kIdentifier || depth != of_names) continue;
      const std::string advice = why_attribute_refused(token.text);
      if (advice.empty()) continue;
      return diagnostics_->error(tokens_.place(), "a kernel cannot use the attribute {}: {}",
                                 token.text, advice);
    }
    return true;
  }
  bool check_number(const Token &token) {
    const bool hexadecimal = token.text.starts_with("0x") || token.text.starts_with("0X");
    const bool is_float = token.text.find_first_of(hexadecimal ? ".pP" : ".eE") != token.text.npos;
    const char last = token.text.back();
    if (!is_float || (last != 'l' && last != 'L') || tokens_.in_system_header()) return true;
    return refuse("long double or a wider float", "devices lack it; use double");
  }
  bool refuse(const char *what, const char *advice) {
    return diagnostics_->error(tokens_.place(), "a kernel cannot use {}: {}", what, advice);
  }

  Tokens tokens_;
  int source_;
  int depth_ = 0;
  bool declares_shared_ = false, declares_sync_ = false;
  std::vector<RawRegistration> *out_;
  Diagnostics *diagnostics_;
};

}  // namespace

bool scan_registrations(std::string_view preprocessed, int source,
                        std::vector<RawRegistration> *out, Diagnostics *diagnostics) {
  return Scanner(preprocessed, source, out, diagnostics).run();
}

}  // namespace gufunc::gufcc
