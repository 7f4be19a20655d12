// SPDX-License-Identifier: Apache-2.0
// Suggestions for unknown names, by edit distance without regard to case.
#include "core/op/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

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

// The ufuncs of NumPy 2. The list may also contain ufuncs that this library provides, because it is
// only consulted for names that are not in the registry.
constexpr std::string_view kNumpyUfuncs[] = {
    "acos",    "acosh",     "arccos",  "arccosh",    "arcsin",      "arcsinh",      "arctan",
    "arctan2", "arctanh",   "asin",    "asinh",      "atan",        "atan2",        "atanh",
    "cbrt",    "ceil",      "conj",    "conjugate",  "copysign",    "cos",          "cosh",
    "deg2rad", "degrees",   "divmod",  "exp",        "exp2",        "expm1",        "fabs",
    "floor",   "fmod",      "frexp",   "gcd",        "heaviside",   "hypot",        "isfinite",
    "isinf",   "isnan",     "lcm",     "ldexp",      "log",         "log10",        "log1p",
    "log2",    "logaddexp", "matvec",  "modf",       "nextafter",   "positive",     "rad2deg",
    "radians", "rint",      "signbit", "sin",        "sinh",        "spacing",      "tan",
    "tanh",    "trunc",     "vecmat",  "logaddexp2", "float_power", "bitwise_count"};

// Functions of NumPy that equal a method of a ufunc, such as sum, which is add.reduce.
struct MethodName {
  std::string_view name, method, ufunc;
};
constexpr MethodName kMethodNames[] = {
    {"all", "reduce", "logical_and"},      {"amax", "reduce", "maximum"},
    {"amin", "reduce", "minimum"},         {"any", "reduce", "logical_or"},
    {"cumprod", "accumulate", "multiply"}, {"cumsum", "accumulate", "add"},
    {"max", "reduce", "maximum"},          {"min", "reduce", "minimum"},
    {"prod", "reduce", "multiply"},        {"sum", "reduce", "add"}};

}  // namespace

std::string name_advice(std::string_view requested, const std::vector<std::string> &known) {
  for (const MethodName &entry : kMethodNames) {
    if (entry.name == requested)
      return "; it is '" + std::string(entry.method) + "' of '" + std::string(entry.ufunc) + "'";
  }
  if (std::find(std::begin(kNumpyUfuncs), std::end(kNumpyUfuncs), requested) !=
      std::end(kNumpyUfuncs))
    return "; NumPy has it, but this version of the library does not";
  const std::string nearest = nearest_name(requested, known);
  return nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?";
}

std::string nearest_name(std::string_view requested, const std::vector<std::string> &known) {
  constexpr size_t kLongest = 128;
  if (requested.empty() || requested.size() > kLongest) return {};
  const bool has_module = requested.find(':') != std::string_view::npos;
  const std::string *best = nullptr;
  size_t fewest = std::max<size_t>(1, requested.size() / 3) + 1;
  for (const std::string &name : known) {
    size_t away = distance(requested, name);
    if (!has_module) away = std::min(away, distance(requested, without_module(name)));
    if (away < fewest) {
      fewest = away;
      best = &name;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace gufunc::op
