// SPDX-License-Identifier: Apache-2.0
// The letters of type strings.
#include "registration.h"

namespace gufunc::gufcc {
namespace {

constexpr TypeLetter kLetters[] = {
#define GUF_DTYPE(NAME, name, letter, short_name, kind, element, code, bits) \
  {letter, (letter) == '?' ? 'o' : (letter), "guf::" #element, "GUF_" #NAME, name},
#include <gufunc/dtypes.def>
    {'M', 'M', "guf::datetime", "GUF_DATETIME64", "datetime64"},
    {'m', 'm', "guf::timedelta", "GUF_TIMEDELTA64", "timedelta64"},
};

}  // namespace

const TypeLetter *find_letter(char letter) {
  if (letter == 'l') letter = 'q';
  if (letter == 'L') letter = 'Q';
  for (const TypeLetter &row : kLetters) {
    if (row.letter == letter) return &row;
  }
  return nullptr;
}

std::string valid_letters() {
  std::string all;
  for (const TypeLetter &row : kLetters)
    all += fmt::format("{}{}", all.empty() ? "" : " ", row.letter);
  return all + " (l is q, L is Q)";
}

}  // namespace gufunc::gufcc
