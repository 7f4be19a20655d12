// SPDX-License-Identifier: Apache-2.0
// The letters of type strings.
#include "registration.h"

namespace gufunc::gufcc {
namespace {

constexpr TypeLetter kLetters[] = {
    {'?', 'o', "guf::b8", "GUF_BOOL", "bool"},
    {'b', 'b', "guf::i8", "GUF_I8", "int8"},
    {'B', 'B', "guf::u8", "GUF_U8", "uint8"},
    {'h', 'h', "guf::i16", "GUF_I16", "int16"},
    {'H', 'H', "guf::u16", "GUF_U16", "uint16"},
    {'i', 'i', "guf::i32", "GUF_I32", "int32"},
    {'I', 'I', "guf::u32", "GUF_U32", "uint32"},
    {'q', 'q', "guf::i64", "GUF_I64", "int64"},
    {'Q', 'Q', "guf::u64", "GUF_U64", "uint64"},
    {'e', 'e', "guf::f16", "GUF_F16", "float16"},
    {'E', 'E', "guf::bf16", "GUF_BF16", "bfloat16"},
    {'f', 'f', "guf::f32", "GUF_F32", "float32"},
    {'d', 'd', "guf::f64", "GUF_F64", "float64"},
    {'F', 'F', "guf::c64", "GUF_C64", "complex64"},
    {'D', 'D', "guf::c128", "GUF_C128", "complex128"},
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
