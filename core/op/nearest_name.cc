// SPDX-License-Identifier: Apache-2.0
// Edit distance over short names, letters compared without case.
#include "core/op/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace gufunc::op {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view without_module(std::string_view name) {
  const size_t colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string> &known) {
  constexpr size_t kLongest = 128;
  if (wanted.empty() || wanted.size() > kLongest) return {};
  const bool has_module = wanted.find(':') != std::string_view::npos;
  const std::string *best = nullptr;
  size_t fewest = std::max<size_t>(1, wanted.size() / 3) + 1;
  for (const std::string &name : known) {
    size_t away = distance(wanted, name);
    if (!has_module) away = std::min(away, distance(wanted, without_module(name)));
    if (away < fewest) {
      fewest = away;
      best = &name;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace gufunc::op
