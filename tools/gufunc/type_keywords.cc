// SPDX-License-Identifier: Apache-2.0
#include "type_keywords.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "call_parts.h"
#include "outcome.h"

namespace gufunc::cli {
namespace {

constexpr std::string_view kArrow = "->";

// Throws the usage error for an invalid --signature.
[[noreturn]] void refuse_signature(const std::string &text, const std::string &found,
                                   const guf_ufunc_info &info) {
  usage(
      fmt::format("--signature {}: expected the types of the {} input{} and {} output{} of {}, "
                  "such as dd->d or f8,None,f8, got {}",
                  visible(text), info.nin, info.nin == 1 ? "" : "s", info.nout,
                  info.nout == 1 ? "" : "s", info.name, found));
}

guf_dtype type_of(const std::string &text, std::string_view name, const guf_ufunc_info &info) {
  guf_dtype dtype = GUF_DTYPE_UNSPECIFIED;
  if (name == "None") return dtype;
  Call call;
  if (guf_dtype_parse(std::string(name).c_str(), &dtype, call.error()) != GUF_OK)
    refuse_signature(text, fmt::format("'{}', which is not a dtype", name), info);
  return dtype;
}

// Parses one letter per operand.
std::vector<guf_dtype> letters_of(const std::string &text, size_t arrow,
                                  const guf_ufunc_info &info) {
  const std::string_view all = text;
  const std::string_view in = all.substr(0, arrow), out = all.substr(arrow + kArrow.size());
  if (in.size() != static_cast<size_t>(info.nin) || out.size() != static_cast<size_t>(info.nout)) {
    refuse_signature(text, fmt::format("{} letters before and {} after ->", in.size(), out.size()),
                     info);
  }
  std::vector<guf_dtype> types;
  for (const std::string_view letters : {in, out}) {
    for (size_t i = 0; i < letters.size(); ++i)
      types.push_back(type_of(text, letters.substr(i, 1), info));
  }
  return types;
}

// Reads "(0,1),(1,2)" entry by entry.
class AxesReader {
 public:
  explicit AxesReader(const std::string &text) : text_(text), rest_(text) {
    // Accept NumPy's list brackets.
    if (rest_.starts_with('[') && rest_.ends_with(']')) rest_ = rest_.substr(1, rest_.size() - 2);
    skip_space();
    if (rest_.empty()) refuse();
  }

  bool done() const { return rest_.empty(); }
  // Returns the axes of the next operand. A number without parentheses is one axis.
  std::vector<int64_t> next() {
    std::vector<int64_t> axes;
    if (!accept('(')) {
      axes.push_back(number());
    } else {
      while (!accept(')')) {
        axes.push_back(number());
        if (!accept(',') && !rest_.starts_with(')')) refuse();
      }
    }
    if (!rest_.empty() && (!accept(',') || rest_.empty())) refuse();
    return axes;
  }

 private:
  void skip_space() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool accept(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    skip_space();
    return true;
  }
  int64_t number() {
    int64_t value = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc()) refuse();
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    skip_space();
    return value;
  }
  [[noreturn]] void refuse() const {
    refuse_value("--axes", "the axes of each operand, such as (0,1),(1,2),(0,1)", text_);
  }

  const std::string &text_;
  std::string_view rest_;
};

}  // namespace

std::vector<std::string> core_dimensions(const std::string &signature) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::vector<std::string> names;
  for (size_t at = 0; at < signature.size(); ++at) {
    size_t end = at;
    while (end < signature.size() && is_word(signature[end])) ++end;
    const std::string name = signature.substr(at, end - at);
    const bool is_name = !name.empty() && (name[0] < '0' || name[0] > '9');
    if (is_name && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
    at = std::max(at, end);
  }
  return names;
}

std::vector<std::string> core_dimensions_of_inputs(const std::string &signature) {
  return core_dimensions(signature.substr(0, signature.find(kArrow)));
}

std::vector<guf_dtype> loop_types_of(const std::optional<std::string> &signature,
                                     const std::optional<std::string> &dtype,
                                     const guf_ufunc_info &info) {
  if (!signature) return {};
  const std::string &text = *signature;
  if (dtype) usage("--signature and --dtype: expected one of them");
  if (text.empty()) refuse_signature(text, "no type", info);
  if (const size_t arrow = text.find(kArrow); arrow != text.npos)
    return letters_of(text, arrow, info);
  std::string_view rest = text;
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  const std::vector<std::string_view> names = parts_of(rest);
  if (names.size() != static_cast<size_t>(info.nin + info.nout)) {
    refuse_signature(text, fmt::format("{} type{}", names.size(), names.size() == 1 ? "" : "s"),
                     info);
  }
  std::vector<guf_dtype> types;
  types.reserve(names.size());
  for (const std::string_view name : names) types.push_back(type_of(text, name, info));
  return types;
}

std::vector<std::vector<int64_t>> axes_by_operand(const std::string &text) {
  std::vector<std::vector<int64_t>> axes;
  for (AxesReader reader(text); !reader.done();) axes.push_back(reader.next());
  return axes;
}

}  // namespace gufunc::cli
