// SPDX-License-Identifier: Apache-2.0
// The macros of kernel.hpp leave `__guf_register__(kind, function, "text", ...)`; a refused header
// leaves `__guf_refused__(name)`. Everything else is skipped, counting braces.
#include "scanner.h"

#include <fmt/format.h>

#include "tokens.h"

namespace gufunc::gufcc {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, int source, std::vector<RawRegistration> *out,
          Diagnostics *diagnostics)
      : tokens_(text), source_(source), out_(out), diagnostics_(diagnostics) {}

  bool run() {
    bool good = true;
    for (Token token = tokens_.next(); token.kind != Token::Kind::kEnd; token = tokens_.next()) {
      if (token.kind == Token::Kind::kOther) {
        if (token.text == "{") ++depth_;
        if (token.text == "}") --depth_;
      } else if (token.kind == Token::Kind::kIdentifier && token.text == "__guf_register__") {
        good &= registration();
      } else if (token.kind == Token::Kind::kIdentifier && token.text == "__guf_refused__") {
        good &= refused();
      }
    }
    return good;
  }

 private:
  // Joins the tokens of one argument: of a string argument its characters, else the tokens
  // themselves. Leaves the terminating ',' or ')' in `*end`.
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
      if (!is_string && text.empty() && end == ')') break;  // GUF_UFUNC(f): no types, told later
      if (!is_string) {
        return diagnostics_->error(found.place,
                                   "registration of {}: found '{}', wanted a string literal",
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
    return diagnostics_->error(
        place,
        "{} is not for kernels: its functions do not vectorise and do not exist on devices; use "
        "guf::sqrt, guf::sin, guf::pow ... of <gufunc/kernel.hpp>",
        name);
  }

  Tokens tokens_;
  int source_;
  int depth_ = 0;
  std::vector<RawRegistration> *out_;
  Diagnostics *diagnostics_;
};

}  // namespace

bool scan_registrations(std::string_view preprocessed, int source,
                        std::vector<RawRegistration> *out, Diagnostics *diagnostics) {
  return Scanner(preprocessed, source, out, diagnostics).run();
}

}  // namespace gufunc::gufcc
