// SPDX-License-Identifier: Apache-2.0
// A recursive-descent reader of "(m,n),(n,p)->(m,p)"; the library checks the same text again when
// it loads.
#include "core_signature.h"

#include <gufunc/limits.h>

#include <algorithm>
#include <cctype>

#include "diagnostic.h"

namespace gufunc::gufcc {
namespace {

class Reader {
 public:
  Reader(std::string_view text, CoreSignature *out, std::string *why)
      : text_(text), out_(out), why_(why) {}

  bool signature() {
    skip_spaces();
    if (!peek("->") && !operands(&out_->nin)) return false;
    if (take("->")) {
      out_->arrow = true;
      if (at_ == text_.size()) return fail("an operand in parentheses");
      if (!operands(&out_->nout)) return false;
    }
    if (at_ != text_.size()) return fail(out_->arrow ? "','" : "',' or '->'");
    if (out_->nin + out_->nout > GUF_MAX_OPERANDS) {
      *why_ = fmt::format("{} operands, at most {}", out_->nin + out_->nout, +GUF_MAX_OPERANDS);
      return false;
    }
    return true;
  }

 private:
  bool fail(const char *wanted) {
    *why_ = at_ < text_.size()
                ? fmt::format("found '{}' at character {}, wanted {}", text_[at_], at_ + 1, wanted)
                : fmt::format("ends where {} was wanted", wanted);
    return false;
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool peek(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    at_ += token.size();
    skip_spaces();
    return true;
  }

  bool operands(int *count) {
    do {
      if (!take("(")) return fail("'('");
      std::vector<int> dims;
      if (!take(")")) {
        do {
          if (!dimension(&dims)) return false;
        } while (take(","));
        if (!take(")")) return fail("',' or ')'");
      }
      out_->core_dims.push_back(std::move(dims));
      ++*count;
    } while (take(","));
    return true;
  }

  bool dimension(std::vector<int> *dims) {
    const size_t start = at_;
    auto in_name = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string name(text_.substr(start, at_ - start));
    if (name.empty()) return fail("a dimension's name or size");
    if (std::isdigit(static_cast<unsigned char>(name[0])) != 0 &&
        !std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      at_ = start;
      return fail("a dimension's name or size");
    }
    skip_spaces();
    (void)take("?");
    (void)take("|1");
    const auto found = std::find(out_->names.begin(), out_->names.end(), name);
    dims->push_back(static_cast<int>(found - out_->names.begin()));
    if (found == out_->names.end()) out_->names.push_back(name);
    return true;
  }

  std::string_view text_;
  CoreSignature *out_;
  std::string *why_;
  size_t at_ = 0;
};

}  // namespace

bool parse_core_signature(std::string_view text, CoreSignature *out, std::string *why) {
  *out = CoreSignature{};
  return Reader(text, out, why).signature();
}

}  // namespace gufunc::gufcc
