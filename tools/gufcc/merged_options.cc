// SPDX-License-Identifier: Apache-2.0
// A function has one set of flags, one identity and one reduction tree. A flag of a single
// registration would change the results of the other loops, so all registrations must agree.
#include "merged_options.h"

namespace gufunc::gufcc {
namespace {

struct Flag {
  const char *option;
  bool Function::*value;
};
constexpr Flag kFlags[] = {{"inplace_safe", &Function::inplace_safe},
                           {"commutative", &Function::commutative},
                           {"associative", &Function::associative},
                           {"underflows", &Function::underflows},
                           {"divides", &Function::divides},
                           {"accepts_empty", &Function::accepts_empty},
                           {"fp=fast", &Function::fast}};

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

bool merge_options(Function *known, const Function &added, Diagnostics *diagnostics) {
  for (const auto &[option, value] : kFlags) {
    if (added.*value == known->*value) continue;
    const std::string with = fmt::format("'{}'", option), without = "no " + with;
    const bool given = added.*value;
    return refuse(added, given ? with : without, given ? without : with, known->place, diagnostics);
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
