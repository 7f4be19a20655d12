// SPDX-License-Identifier: Apache-2.0
// The macros of kernel.hpp expand to `__guf_register__(kind, function, "text", ...)`, and a refused
// header to `__guf_refused__(name)`. In all other text, the scanner counts braces and refuses a few
// keywords.
#include "scanner.h"

#include <fmt/format.h>

#include "refused_names.h"
#include "tokens.h"

namespace gufunc::gufcc {
namespace {

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

  // Refuses keywords whose use cannot be found in an object file: the compiler removes unused
  // allocations, and long double is a different type on every device. System headers may use these
  // keywords.
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
