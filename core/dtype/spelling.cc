// SPDX-License-Identifier: Apache-2.0
// Spellings of dtypes: names, characters and short forms, and the spellings in error messages.
#include <cstring>
#include <string_view>

#include "core/base/utf8.h"
#include "core/dtype/time_dtype.h"

namespace gufunc::dtype {
namespace {

struct Spelling {
  std::string_view text;
  guf_dtype dtype;
};

// NumPy's characters other than those that `letter` returns.
constexpr Spelling kOtherCharacters[] = {
    {"l", GUF_I64}, {"p", GUF_I64}, {"L", GUF_U64}, {"P", GUF_U64}};

// NumPy's names other than those with a size ("int32"), which name() returns.
constexpr Spelling kOther[] = {
    {"bool_", GUF_BOOL},   {"byte", GUF_I8},       {"ubyte", GUF_U8},    {"short", GUF_I16},
    {"ushort", GUF_U16},   {"intc", GUF_I32},      {"uintc", GUF_U32},   {"int", GUF_I64},
    {"int_", GUF_I64},     {"uint", GUF_U64},      {"long", GUF_I64},    {"ulong", GUF_U64},
    {"longlong", GUF_I64}, {"ulonglong", GUF_U64}, {"intp", GUF_I64},    {"uintp", GUF_U64},
    {"half", GUF_F16},     {"single", GUF_F32},    {"double", GUF_F64},  {"float", GUF_F64},
    {"csingle", GUF_C64},  {"cdouble", GUF_C128},  {"complex", GUF_C128}};

template <size_t kSize>
guf_dtype look_up(const Spelling (&table)[kSize], std::string_view text) {
  for (const Spelling &spelling : table) {
    if (spelling.text == text) return spelling.dtype;
  }
  return GUF_DTYPE_UNSPECIFIED;
}

// Reads a character or a short form without a byte-order mark.
guf_dtype read_short(std::string_view text) {
  for (int i = 0; i < kCount; ++i) {
    const guf_dtype dtype = at(i);
    if (text == short_name(dtype) || (text.size() == 1 && text[0] == letter(dtype))) return dtype;
  }
  return look_up(kOtherCharacters, text);
}

bool is_mark(char c) {
  return c == '<' || c == '|' || c == '=' || c == '>';
}

guf_dtype read(std::string_view text) {
  if (const guf_dtype dtype = read_short(text)) return dtype;
  if (!text.empty() && is_mark(text[0]) && text[0] != '>') return read_short(text.substr(1));
  for (int i = 0; i < kCount; ++i) {
    if (text == name(at(i))) return at(i);
  }
  if (const guf_dtype dtype = look_up(kOther, text)) return dtype;
  return find_structured(text);
}

// Appends "bool (?, b1), int8 (b, i1), ...", the names, characters and short forms of the numeric
// dtypes.
void list_spellings(base::Text *text) {
  for (int i = 0; i < kCount; ++i) {
    const guf_dtype dtype = at(i);
    const char *const other = dtype == GUF_I64 ? "l, " : dtype == GUF_U64 ? "L, " : "";
    text->add("%s (%c, %s%s), ", name(dtype), letter(dtype), other, short_name(dtype));
  }
}

}  // namespace

guf_status parse(const char *spelling, guf_dtype *out, guf_error *error) {
  constexpr size_t kLongest = 32;
  const size_t length = strnlen(spelling, kLongest + 1);
  const std::string_view text = length <= kLongest ? std::string_view(spelling, length) : "";
  const std::string_view unmarked = text.substr(!text.empty() && is_mark(text[0]) ? 1 : 0);
  const bool big_endian = !text.empty() && text[0] == '>';
  if (!big_endian && reads_as_time(unmarked)) return parse_time(unmarked, spelling, out, error);
  const guf_dtype dtype = read(text);
  if (dtype != GUF_DTYPE_UNSPECIFIED) {
    *out = dtype;
    return GUF_OK;
  }
  if (big_endian && (read_short(unmarked) != 0 || reads_as_time(unmarked))) {
    return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                      "data type '%s' is big-endian: byte order is a flag of the operand, name the "
                      "data type without '>'",
                      spelling);
  }
  base::Text numeric;
  list_spellings(&numeric);
  return base::fail(error, GUF_E_DTYPE, base::kNone, base::kNone,
                    "data type '%.*s' not understood; the data types are %sdatetime64[unit] "
                    "(M8[unit]), timedelta64[unit] (m8[unit])",
                    base::utf8_prefix(spelling, kLongest), spelling, numeric.c_str());
}

void spell(guf_dtype dtype, bool swapped, base::Text *text) {
  if (is_time(dtype)) {  // the short form, followed by the unit in brackets
    const char *const unit = std::strchr(name(dtype), '[');
    text->add("%c%c8%s", "<>"[swapped ? 1 : 0], "Mm"[dtype & 1U], unit == nullptr ? "" : unit);
    return;
  }
  if (!swapped || itemsize(dtype) == 1 || is_structured(dtype)) {
    text->add("%s", name(dtype));
    return;
  }
  text->add(">%s", short_name(dtype));
}

}  // namespace gufunc::dtype
