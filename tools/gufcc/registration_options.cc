// SPDX-License-Identifier: Apache-2.0
// Parses option strings. The error for an unknown key or value lists the valid keys or values.
//
// A function has one set of flags, one identity and one reduction tree. A flag of a single
// registration would change the results of the other loops, so all registrations must agree.
#include "registration_options.h"

#include <array>
#include <sstream>

#include "core/op/nearest_name.h"

namespace gufunc::gufcc {
namespace {

constexpr char kValidKeys[] =
    "name= doc= rule= roles= identity= failure= fp= inplace_safe commutative associative group "
    "underflows divides accepts_empty overwrites keeps_precision batch= merge= finish=";
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
  if (key == "overwrites") return &options->overwrites;
  if (key == "keeps_precision") return &options->keeps_precision;
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
  } else if (key == "batch") {
    options->batch = value;
  } else if (key == "merge") {
    options->merge = value;
  } else if (key == "finish") {
    options->finish = value;
  } else if (key == "rule") {
    options->rules += (options->rules.empty() ? "" : "; ") + value;
  } else if (key == "roles") {
    return parse_roles(place, value, &options->roles, diagnostics);
  } else if (key == "fp") {
    return read_fp_mode(place, value, &options->fp, diagnostics);
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

struct Flag {
  const char *option;
  bool Function::*value;
};
constexpr Flag kFlags[] = {
    {"inplace_safe", &Function::inplace_safe}, {"commutative", &Function::commutative},
    {"associative", &Function::associative},   {"underflows", &Function::underflows},
    {"divides", &Function::divides},           {"accepts_empty", &Function::accepts_empty},
    {"overwrites", &Function::overwrites},     {"keeps_precision", &Function::keeps_precision}};

struct Text {
  const char *key;
  std::string Function::*value;
};
constexpr Text kTexts[] = {
    {"identity", &Function::identity}, {"merge", &Function::merge}, {"finish", &Function::finish}};

std::string spelled(const char *key, const std::string &value) {
  return value.empty() ? fmt::format("no {}=", key) : fmt::format("{}={}", key, value);
}

bool refuse(const Function &added, const std::string &found, const std::string &expected,
            const Place &other, Diagnostics *diagnostics) {
  return diagnostics->error(added.place,
                            "{}: expected {} as at {}:{}, got {}; registrations with the same name "
                            "must have the same value",
                            added.name, expected, other.file, other.line, found);
}

// Merges `doc` or `failure`, which a registration may leave out: all loops have the same `doc`, and
// `failure` is not needed for loops that cannot fail.
bool merge_text(const char *key, PlacedText Function::*value, Function *known,
                const Function &added, Diagnostics *diagnostics) {
  const PlacedText &found = added.*value;
  PlacedText *kept = &(known->*value);
  if (found.text.empty() || found.text == kept->text) return true;
  if (kept->text.empty()) {
    *kept = found;
    return true;
  }
  return refuse(added, spelled(key, found.text), spelled(key, kept->text), kept->place,
                diagnostics);
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

bool merge_options(Function *known, const Function &added, Diagnostics *diagnostics) {
  for (const auto &[option, value] : kFlags) {
    if (added.*value == known->*value) continue;
    const std::string with = fmt::format("'{}'", option), without = "no " + with;
    const bool given = added.*value;
    return refuse(added, given ? with : without, given ? without : with, known->place, diagnostics);
  }
  if (added.fp != known->fp) {
    return refuse(added, spelled("fp", name_of(added.fp)), spelled("fp", name_of(known->fp)),
                  known->place, diagnostics);
  }
  for (const auto &[key, value] : kTexts) {
    if (added.*value == known->*value) continue;
    return refuse(added, spelled(key, added.*value), spelled(key, known->*value), known->place,
                  diagnostics);
  }
  return merge_text("doc", &Function::doc, known, added, diagnostics) &&
         merge_text("failure", &Function::failure, known, added, diagnostics);
}

}  // namespace gufunc::gufcc
