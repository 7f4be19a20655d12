// SPDX-License-Identifier: Apache-2.0
#include "typed_paths.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace gufunc::gufcc {

namespace fs = std::filesystem;

namespace {

bool is_in_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
         c == '-';
}

// Replaces a path only where it starts, not in the middle of a longer path.
void replace_paths(std::string *text, const std::string &from, const std::string &to) {
  for (size_t at = text->find(from); at != std::string::npos; at = text->find(from, at)) {
    if (at > 0 && is_in_path((*text)[at - 1])) {
      at += from.size();
      continue;
    }
    text->replace(at, from.size(), to);
    at += to.size();
  }
}

}  // namespace

std::string absolute_path(const std::string &typed) {
  std::error_code failure;
  const fs::path path = fs::absolute(typed, failure);
  return failure ? typed : path.string();
}

void TypedPaths::add(std::string absolute, std::string typed) {
  if (absolute == typed) return;
  const auto shorter = [&](const auto &known) { return known.first.size() < absolute.size(); };
  spellings_.emplace(std::find_if(spellings_.begin(), spellings_.end(), shorter),
                     std::move(absolute), std::move(typed));
}

void TypedPaths::add_source(const std::string &typed) {
  const std::string absolute = absolute_path(typed);
  const size_t name = typed.rfind('/') + 1;  // 0 without a folder
  add(absolute, typed);
  add(absolute.substr(0, absolute.rfind('/') + 1), typed.substr(0, name));
}

void TypedPaths::add_folder(const std::string &typed) {
  const std::string slash = typed.ends_with('/') ? "" : "/";
  add(absolute_path(typed) + slash, typed + slash);
}

std::string TypedPaths::as_typed(std::string text) const {
  for (const auto &[absolute, typed] : spellings_) replace_paths(&text, absolute, typed);
  return text;
}

std::string TypedPaths::with_typed_markers(const std::string &preprocessed) const {
  if (spellings_.empty()) return preprocessed;
  std::string result;
  for (size_t at = 0; at < preprocessed.size();) {
    const size_t end = std::min(preprocessed.find('\n', at), preprocessed.size() - 1) + 1;
    const std::string line = preprocessed.substr(at, end - at);
    result += line.starts_with("# ") ? as_typed(line) : line;
    at = end;
  }
  return result;
}

}  // namespace gufunc::gufcc
