// SPDX-License-Identifier: Apache-2.0
// Parses option strings. The error for an unknown key or value lists the valid ones.
#include "registration_options.h"

#include <array>
#include <sstream>

#include "core/op/nearest_name.h"

namespace gufunc::gufcc {
namespace {

constexpr char kValidKeys[] =
    "name= doc= rule= roles= identity= failure= fp= inplace_safe commutative associative group "
    "underflows divides accepts_empty merge= finish=";
constexpr size_t kMaxText = 4096;  // length of a text in the table
constexpr std::array kIdentities = {"none", "reorderable", "zero", "one", "minus_one", "minus_inf"};

bool parse_roles(const Place &place, const std::string &value, std::vector<Role> *roles,
                 Diagnostics *diagnostics) {
  std::istringstream words(value);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "in") {
      roles->push_back(Role::kIn);
    } else if (word == "out") {
      roles->push_back(Role::kOut);
    } else if (word == "inout") {
      roles->push_back(Role::kInOut);
    } else {
      return diagnostics->error(place, "roles: expected in, out or inout, got '{}'", word);
    }
  }
  return true;
}

// Returns a suggestion such as " did you mean 'name'?".
std::string nearest_key(const std::string &key) {
  std::vector<std::string> known;
  std::istringstream words(kValidKeys);
  for (std::string word; words >> word;) known.push_back(word.substr(0, word.find('=')));
  const std::string nearest = op::nearest_name(key, known);
  return nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest);
}

// Finds the field for the key of an option without a value, such as "commutative". Returns NULL for
// other keys.
bool *find_flag(const std::string &key, RegistrationOptions *options) {
  if (key == "inplace_safe") return &options->inplace_safe;
  if (key == "commutative") return &options->commutative;
  if (key == "associative") return &options->associative;
  if (key == "underflows") return &options->underflows;
  if (key == "divides") return &options->divides;
  if (key == "accepts_empty") return &options->accepts_empty;
  if (key == "group") return &options->group;
  return nullptr;
}

bool parse_valued(const Place &place, const std::string &key, const std::string &value,
                  RegistrationOptions *options, Diagnostics *diagnostics) {
  if ((key == "doc" || key == "failure") && value.size() > kMaxText) {
    return diagnostics->error(place, "{}: expected at most {} characters, got {}", key, kMaxText,
                              value.size());
  }
  if (key == "name") {
    options->name = value;
  } else if (key == "doc") {
    options->doc = value;
  } else if (key == "failure") {
    options->failure = value;
  } else if (key == "merge") {
    options->merge = value;
  } else if (key == "finish") {
    options->finish = value;
  } else if (key == "rule") {
    options->rules += (options->rules.empty() ? "" : "; ") + value;
  } else if (key == "roles") {
    return parse_roles(place, value, &options->roles, diagnostics);
  } else if (key == "fp") {
    if (value != "fast" && value != "strict") {
      return diagnostics->error(place, "fp: expected fast or strict, got '{}'", value);
    }
    options->fast = value == "fast";
  } else if (key == "identity") {
    for (const char *valid : kIdentities) {
      if (value == valid) {
        options->identity = value;
        return true;
      }
    }
    return diagnostics->error(place, "identity: expected {}, got '{}'",
                              fmt::join(kIdentities, ", "), value);
  } else {
    return diagnostics->error(place, "'{}' is not an option;{} valid are {}", key, nearest_key(key),
                              kValidKeys);
  }
  return true;
}

}  // namespace

bool parse_options(const Place &place, const std::vector<std::string> &texts,
                   RegistrationOptions *options, Diagnostics *diagnostics) {
  for (const std::string &text : texts) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    bool *flag = find_flag(key, options);
    if (flag != nullptr && equals == std::string::npos) {
      *flag = true;
    } else if (flag != nullptr) {
      return diagnostics->error(place, "option '{}' does not accept a value", key);
    } else if (!parse_valued(place, key, equals == std::string::npos ? "" : text.substr(equals + 1),
                             options, diagnostics)) {
      return false;
    }
  }
  return true;
}

}  // namespace gufunc::gufcc
