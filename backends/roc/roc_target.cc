// SPDX-License-Identifier: Apache-2.0
// A target is a processor followed by features. A feature begins with a colon and ends with + or -.
#include "backends/roc/roc_target.h"

#include <gufunc/module_table.h>

#include <algorithm>
#include <string_view>

namespace gufunc::roc {
namespace {

using std::string_view;

struct Generic {
  string_view name;
  string_view members;  // separated by spaces
};
constexpr Generic kGenerics[] = {
    {"gfx9-generic", " gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", " gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", " gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", " gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", " gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", " gfx1200 gfx1201 "},
};

// Removes the text before the next colon from `rest` and returns it.
string_view take_word(string_view *rest) {
  const size_t end = std::min(rest->find(':'), rest->size());
  const string_view word = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return word;
}

bool has_feature(string_view features, string_view requested) {
  while (!features.empty()) {
    if (take_word(&features) == requested) return true;
  }
  return false;
}

bool is_member(string_view generic, string_view processor) {
  for (const Generic &row : kGenerics) {
    if (row.name != generic) continue;
    const size_t place = row.members.find(processor);
    return place != string_view::npos && row.members[place - 1] == ' ' &&
           row.members[place + processor.size()] == ' ';
  }
  return false;
}

}  // namespace

int32_t score_code_object(const char *device_target, int32_t format, const char *image_target,
                          int runtime_version) {
  constexpr int32_t kExact = 100, kGeneric = 10;
  if (format != GUF_IMAGE_HSACO) return 0;
  string_view has = device_target, requested = image_target;
  const string_view processor = take_word(&has), target = take_word(&requested);
  if (processor.empty() || target.empty()) return 0;
  int32_t score = kExact;
  if (target != processor) {
    if (runtime_version < kGenericSince || !is_member(target, processor)) return 0;
    score = kGeneric;
  }
  // An image that requires a setting was compiled for this setting, so it is better than an image
  // for both settings.
  for (; !requested.empty(); ++score) {
    if (!has_feature(has, take_word(&requested))) return 0;
  }
  return score;
}

}  // namespace gufunc::roc
